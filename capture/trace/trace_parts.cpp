#include "capture/trace/trace_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "capture/trace/rules.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;

// A launch has more than 20 datasets, and the header of a dataset alone (signature, dataspace, type, layout) has more
// than 50 bytes. Bounds what is allocated for launches before the first of them is looked at.
constexpr std::uint64_t kLeastLaunchBytes = 1024;

/// Checks offsets that cut an array of `rows` rows into pieces.
void require_offsets(const SourceFile& file, const std::string& dataset, const Column<std::uint64_t>& offsets,
                     std::uint64_t rows) {
  if (offsets.front() != 0 || offsets.back() != rows || !std::is_sorted(offsets.begin(), offsets.end())) {
    file.fail(dataset, "the offsets do not cut the array into pieces",
              fmt::format("{} to {}", offsets.front(), offsets.back()), fmt::format("rising from 0 to {}", rows));
  }
}

template <class To, class From>
void cut(const From& all, const Column<std::uint64_t>& offsets, std::size_t item, std::uint64_t width, To& piece) {
  const auto at = [&](std::uint64_t row) { return all.begin() + static_cast<std::ptrdiff_t>(row * width); };
  piece.assign(at(offsets[item]), at(offsets[item + 1]));
}

}  // namespace

Header read_header(const SourceFile& file) {
  const Handle root(H5Gopen2(file.root(), "/", H5P_DEFAULT));
  if (!root) {
    file.fail("/", "the root group is damaged", hdf5::last_message());
  }
  const std::uint32_t version = file.number_attribute(root.get(), "format_version", "/");
  if (version != kFormatVersion) {
    file.fail("/", "the attribute 'format_version' is not that of the file's start", std::to_string(version),
              std::to_string(kFormatVersion));
  }
  Header header;
  header.tool = file.text_attribute(root.get(), "tool", "/");
  header.tool_version = file.text_attribute(root.get(), "tool_version", "/");
  header.application = file.text_attribute(root.get(), "application", "/");
  header.device = file.text_attribute(root.get(), "device", "/");
  header.driver = file.text_attribute(root.get(), "driver", "/");
  header.configuration = file.text_attribute(root.get(), "configuration", "/");
  header.warp_size = file.number_attribute(root.get(), "warp_size", "/");
  header.not_captured = file.texts_attribute(root.get(), "not_captured", "/");
  return header;
}

void plan_shaders(ColumnLoader& loader, ShaderNumbers& numbers) {
  const std::string path = "/shaders";
  const SourceFile& file = loader.file();
  const Handle group = file.group(file.root(), "shaders", path);
  const auto forbidden = Elision::Forbidden;
  const std::uint64_t shaders =
      loader.column(group.get(), path, column_spec<std::uint8_t>("stage", forbidden), numbers.stage);
  loader.column(group.get(), path, column_spec<std::uint32_t>("spirv", forbidden), numbers.spirv);
  loader.column(group.get(), path, column_spec<std::uint64_t>("spirv_offset", forbidden), numbers.spirv_offset,
                shaders + 1);
  numbers.entry = file.texts(group.get(), "entry", path + "/entry", shaders);
  numbers.name = file.texts(group.get(), "name", path + "/name", shaders);
}

std::vector<Shader> assemble_shaders(const SourceFile& file, const ShaderNumbers& numbers) {
  require_offsets(file, "/shaders/spirv_offset", numbers.spirv_offset, numbers.spirv.size());
  std::vector<Shader> shaders(numbers.stage.size());
  for (std::size_t i = 0; i < shaders.size(); ++i) {
    if (numbers.stage[i] >= kShaderStages) {
      file.fail(fmt::format("/shaders/stage[{}]", i), "there is no such shader stage", std::to_string(numbers.stage[i]),
                fmt::format("less than {}", kShaderStages));
    }
    shaders[i].stage = static_cast<ShaderStage>(numbers.stage[i]);
    shaders[i].entry = numbers.entry[i];
    shaders[i].name = numbers.name[i];
    cut(numbers.spirv, numbers.spirv_offset, i, 1, shaders[i].spirv);
  }
  return shaders;
}

void plan_scene(ColumnLoader& loader, SceneNumbers& numbers) {
  const SourceFile& file = loader.file();
  const Handle scene = file.group(file.root(), "scene", "/scene");
  const auto forbidden = Elision::Forbidden;
  {
    const std::string path = "/scene/geometries";
    const Handle group = file.group(scene.get(), "geometries", path);
    const auto add = [&]<class T>(const char* name, std::uint32_t width, Column<T>& column,
                                  std::optional<std::uint64_t> rows = std::nullopt) {
      return loader.column(group.get(), path, column_spec<T>(name, forbidden, width), column, rows);
    };
    numbers.geometries = add("type", 1, numbers.type);
    add("opaque", 1, numbers.opaque, numbers.geometries);
    const std::uint64_t vertices = add("vertices", 3, numbers.vertices);
    add("vertex_offset", 1, numbers.vertex_offset, numbers.geometries + 1);
    numbers.triangles = add("indices", 3, numbers.indices);
    add("index_offset", 1, numbers.index_offset, numbers.geometries + 1);
    numbers.box_rows = add("boxes", 6, numbers.boxes);
    add("box_offset", 1, numbers.box_offset, numbers.geometries + 1);
    numbers.name = file.texts(group.get(), "name", path + "/name", numbers.geometries);
    numbers.copied_bytes = 12 * vertices + 12 * numbers.triangles + 24 * numbers.box_rows;
  }
  {
    const std::string path = "/scene/blas";
    const Handle group = file.group(scene.get(), "blas", path);
    numbers.blases = loader.column(group.get(), path, column_spec<std::uint32_t>("first_geometry", forbidden),
                                   numbers.first_geometry);
    loader.column(group.get(), path, column_spec<std::uint32_t>("geometry_count", forbidden), numbers.geometry_count,
                  numbers.blases);
  }
  const std::string path = "/scene/instances";
  const Handle group = file.group(scene.get(), "instances", path);
  numbers.instances = loader.column(group.get(), path, column_spec<std::uint32_t>("blas", forbidden), numbers.blas);
  const auto add = [&]<class T>(const char* name, std::uint32_t width, Column<T>& column) {
    loader.column(group.get(), path, column_spec<T>(name, forbidden, width), column, numbers.instances);
  };
  add("custom_index", 1, numbers.custom_index);
  add("hit_group_offset", 1, numbers.hit_group_offset);
  add("mask", 1, numbers.mask);
  add("flags", 1, numbers.flags);
  add("transform", 12, numbers.transform);
  numbers.copied_bytes += sizeof(Instance) * numbers.instances + sizeof(Geometry) * numbers.geometries;
}

Scene assemble_scene(const SourceFile& file, const SceneNumbers& numbers) {
  require_offsets(file, "/scene/geometries/vertex_offset", numbers.vertex_offset, numbers.vertices.size() / 3);
  require_offsets(file, "/scene/geometries/index_offset", numbers.index_offset, numbers.indices.size() / 3);
  require_offsets(file, "/scene/geometries/box_offset", numbers.box_offset, numbers.boxes.size() / 6);
  Scene scene;
  scene.geometries.resize(numbers.geometries);
  for (std::size_t i = 0; i < scene.geometries.size(); ++i) {
    Geometry& geometry = scene.geometries[i];
    if (numbers.type[i] > 1 || numbers.opaque[i] > 1) {
      file.fail(fmt::format("/scene/geometries/{}[{}]", numbers.type[i] > 1 ? "type" : "opaque", i),
                "there is no such value", std::to_string(std::max(numbers.type[i], numbers.opaque[i])), "0 or 1");
    }
    geometry.type = static_cast<GeometryType>(numbers.type[i]);
    geometry.opaque = numbers.opaque[i] != 0;
    geometry.name = numbers.name[i];
    cut(numbers.vertices, numbers.vertex_offset, i, 3, geometry.vertices);
    cut(numbers.indices, numbers.index_offset, i, 3, geometry.indices);
    cut(numbers.boxes, numbers.box_offset, i, 6, geometry.boxes);
  }
  scene.blases.resize(numbers.blases);
  for (std::size_t i = 0; i < scene.blases.size(); ++i) {
    scene.blases[i] = {numbers.first_geometry[i], numbers.geometry_count[i]};
  }
  scene.instances.resize(numbers.instances);
  for (std::size_t i = 0; i < scene.instances.size(); ++i) {
    Instance& instance = scene.instances[i];
    std::copy_n(numbers.transform.begin() + static_cast<std::ptrdiff_t>(12 * i), 12, instance.transform.begin());
    instance.blas = numbers.blas[i];
    instance.custom_index = numbers.custom_index[i];
    instance.hit_group_offset = numbers.hit_group_offset[i];
    instance.mask = numbers.mask[i];
    instance.flags = numbers.flags[i];
  }
  return scene;
}

std::uint64_t count_launches(const SourceFile& file) {
  const std::uint64_t launches = file.children(file.group(file.root(), "launch", "/launch").get(), "/launch");
  const std::uint64_t greatest = file.bytes().size() / kLeastLaunchBytes;
  if (launches > greatest) {
    file.fail("/launch", "the group claims more launches than the file holds", std::to_string(launches),
              fmt::format("at most {}", greatest));
  }
  return launches;
}

LaunchShape plan_launch(ColumnLoader& loader, std::uint64_t index, Launch& launch) {
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
  visit_rays(launch.data.rays, [&]<class T>(const char* name, Column<T>& column) {
    rays = loader.column(ray_group.get(), path + "/rays", column_spec<T>(name), column, rays);
  });
  shape.rays = *rays;
  if (shape.rays > shape.events) {
    file.fail(path + "/rays", "there are more rays than events", std::to_string(shape.rays),
              fmt::format("at most {}", shape.events));
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
  return shape;
}

}  // namespace rayreplay::trace
