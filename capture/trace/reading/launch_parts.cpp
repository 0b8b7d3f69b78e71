// The launches of a trace file (trace_parts.hpp).
#include <fmt/format.h>

#include "capture/trace/reading/trace_parts.hpp"
#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;

// A launch has more than 20 datasets, and the header of a dataset alone (signature, dataspace, type, layout) has more
// than 50 bytes. Bounds what is allocated for launches before the first of them is looked at.
constexpr std::uint64_t kMinLaunchBytes = 1024;

/// The table of images; returns its rows.
std::uint64_t plan_images(ColumnLoader& loader, hid_t group, const std::string& path, Images& images) {
  const SourceFile& file = loader.file();
  const std::string table = path + "/images";
  if (!file.has(group, "images", table)) {
    return 0;
  }
  const Handle of = file.group(group, "images", table);
  std::optional<std::uint64_t> rows;
  visit_images(images, [&]<class T>(const char* name, Column<T>& column) {
    rows = loader.column(of.get(), table, column_spec<T>(name, Elision::Forbidden), column, rows);
  });
  return *rows;
}

/// Attributes and the shader table; all of them optional.
void plan_extras(ColumnLoader& loader, hid_t group, const std::string& path, Launch& launch,
                 ShaderTableNumbers& numbers) {
  const SourceFile& file = loader.file();
  const auto narrow = [&](const char* name, std::uint32_t otherwise = 0) {
    const std::uint64_t value = file.number_attribute_or(group, name, path, otherwise);
    if (value > kNone) {
      file.fail(path, fmt::format("the attribute '{}' is out of range", name), std::to_string(value),
                fmt::format("at most {}", kNone));
    }
    return static_cast<std::uint32_t>(value);
  };
  launch.tlas = narrow("tlas");
  launch.frame = narrow("frame");
  launch.duration_ns = file.number_attribute_or(group, "duration_ns", path, 0);
  launch.dropped_events = file.number_attribute_or(group, "dropped_events", path, 0);
  launch.pipeline = narrow("pipeline", kNone);
  const std::string table = path + "/shader_table";
  if (!file.has(group, "shader_table", table)) {
    return;
  }
  const Handle of = file.group(group, "shader_table", table);
  const auto add = [&]<class T>(const char* name, Column<T>& column, std::optional<std::uint64_t> rows = std::nullopt) {
    return loader.column(of.get(), table, column_spec<T>(name, Elision::Forbidden), column, rows);
  };
  const std::uint64_t records = add("region", numbers.region);
  add("index", numbers.index, records);
  add("general", numbers.general, records);
  add("closest_hit", numbers.closest_hit, records);
  add("any_hit", numbers.any_hit, records);
  add("intersection", numbers.intersection, records);
  add("data", numbers.data);
  add("data_offset", numbers.data_offset, records + 1);
}

}  // namespace

std::uint64_t count_launches(const SourceFile& file) {
  const std::uint64_t launches = file.children(file.group(file.root(), "launch", "/launch").get(), "/launch");
  const std::uint64_t greatest = file.bytes().size() / kMinLaunchBytes;
  if (launches > greatest) {
    file.fail("/launch", "the group claims more launches than the file holds", std::to_string(launches),
              fmt::format("at most {}", greatest));
  }
  return launches;
}

LaunchShape plan_launch(ColumnLoader& loader, std::uint64_t index, Launch& launch, ShaderTableNumbers& table) {
  const SourceFile& file = loader.file();
  const std::string path = fmt::format("/launch/{}", index);
  const Handle parent = file.group(file.root(), "launch", "/launch");
  const Handle group = file.group(parent.get(), std::to_string(index).c_str(), path);
  LaunchShape shape;
  shape.size = {file.number_attribute(group.get(), "width", path), file.number_attribute(group.get(), "height", path),
                file.number_attribute(group.get(), "depth", path)};
  launch.size = shape.size;
  if (const std::string fault = launch_size_fault(shape.size); !fault.empty()) {
    file.fail(path, fault, "", "1 to 2^32 - 1 threads");
  }

  // The columns that vouch for their rows come first: event offsets for the threads, kinds for events and rays.
  const std::uint64_t threads = shape.size.threads();
  const Handle thread_group = file.group(group.get(), "threads", path + "/threads");
  const auto add = [&]<class T>(const Handle& of, const char* folder, const char* name, Column<T>& column,
                                std::uint64_t rows) {
    loader.column(of.get(), path + folder, column_spec<T>(name), column, rows);
  };
  loader.column(thread_group.get(), path + "/threads", column_spec<std::uint64_t>("event_offset", Elision::Forbidden),
                launch.data.event_offset, threads + 1);
  add(thread_group, "/threads", "ray_offset", launch.data.ray_offset, threads + 1);
  shape.has_warps = file.has(thread_group.get(), "warp", path + "/threads/warp");
  if (shape.has_warps) {
    add(thread_group, "/threads", "warp", launch.thread_warp, threads);
    add(thread_group, "/threads", "lane", launch.thread_lane, threads);
  }
  if (file.has(thread_group.get(), "path", path + "/threads/path")) {
    add(thread_group, "/threads", "path", launch.thread_path, threads);
  }

  const Handle event_group = file.group(group.get(), "events", path + "/events");
  visit_events(launch.data.events, [&]<class T>(const char* name, Column<T>& column, bool optional) {
    const bool is_kind = std::is_same_v<T, EventKind>;
    if (is_kind) {
      shape.events =
          loader.column(event_group.get(), path + "/events", column_spec<T>(name, Elision::Forbidden), column);
    } else if (!optional || file.has(event_group.get(), name, path + "/events/" + name)) {
      add(event_group, "/events", name, column, shape.events);
    }
  });

  const Handle ray_group = file.group(group.get(), "rays", path + "/rays");
  std::optional<std::uint64_t> rays;
  visit_rays(launch.data.rays, [&]<class T>(const char* name, Column<T>& column, bool optional) {
    if (optional && !file.has(ray_group.get(), name, path + "/rays/" + name)) {
      return;
    }
    rays = loader.column(ray_group.get(), path + "/rays", column_spec<T>(name), column, rays);
  });
  shape.rays = *rays;
  if (shape.rays > shape.events) {
    file.fail(path + "/rays", "there are more rays than events", std::to_string(shape.rays),
              fmt::format("at most {}", shape.events));
  }

  if (file.has(thread_group.get(), "access_offset", path + "/threads/access_offset")) {
    Accesses& accesses = launch.data.accesses;
    add(thread_group, "/threads", "access_offset", accesses.offset, threads + 1);
    const Handle of = file.group(group.get(), "accesses", path + "/accesses");
    // The sites vouch for the rows.
    shape.accesses = loader.column(of.get(), path + "/accesses", column_spec<std::uint32_t>("site", Elision::Forbidden),
                                   accesses.site);
    visit_accesses(accesses, [&]<class T>(const char* name, Column<T>& column) {
      if (std::string_view(name) != "site") {
        add(of, "/accesses", name, column, shape.accesses);
      }
    });
  }

  if (file.has(group.get(), "groups", path + "/groups")) {
    const Handle of = file.group(group.get(), "groups", path + "/groups");
    Groups& groups = launch.groups;
    shape.groups =
        loader.column(of.get(), path + "/groups", column_spec<std::uint32_t>("warp", Elision::Forbidden), groups.warp);
    add(of, "/groups", "sm", groups.sm, shape.groups);
    add(of, "/groups", "lane_mask", groups.lane_mask, shape.groups);
    add(of, "/groups", "clock", groups.clock, shape.groups);
  }
  plan_extras(loader, group.get(), path, launch, table);
  shape.images = plan_images(loader, group.get(), path, launch.images);
  return shape;
}

std::vector<ShaderRecord> assemble_shader_table(const SourceFile& file, std::uint64_t launch,
                                                const ShaderTableNumbers& numbers) {
  std::vector<ShaderRecord> records(numbers.region.size());
  const std::string path = fmt::format("/launch/{}/shader_table", launch);
  if (!records.empty()) {
    require_offsets(file, path + "/data_offset", numbers.data_offset, numbers.data.size());
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (numbers.region[i] > static_cast<std::uint8_t>(TableRegion::Callable)) {
      file.fail(fmt::format("{}/region[{}]", path, i), "there is no such region", std::to_string(numbers.region[i]),
                "at most 3");
    }
    const auto at = [&](std::uint64_t byte) { return numbers.data.begin() + static_cast<std::ptrdiff_t>(byte); };
    records[i] = {static_cast<TableRegion>(numbers.region[i]),
                  numbers.index[i],
                  numbers.general[i],
                  numbers.closest_hit[i],
                  numbers.any_hit[i],
                  numbers.intersection[i],
                  {at(numbers.data_offset[i]), at(numbers.data_offset[i + 1])}};
  }
  return records;
}

}  // namespace rayreplay::trace
