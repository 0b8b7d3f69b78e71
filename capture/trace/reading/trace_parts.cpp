#include "capture/trace/reading/trace_parts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rayreplay::trace {
namespace {

using hdf5::Handle;

template <class To, class From>
void cut(const From& all, const Column<std::uint64_t>& offsets, std::size_t item, std::uint64_t width, To& piece) {
  const auto at = [&](std::uint64_t row) { return all.begin() + static_cast<std::ptrdiff_t>(row * width); };
  piece.assign(at(offsets[item]), at(offsets[item + 1]));
}

}  // namespace

void require_offsets(const SourceFile& file, const std::string& dataset, const Column<std::uint64_t>& offsets,
                     std::uint64_t rows) {
  if (offsets.front() != 0 || offsets.back() != rows || !std::is_sorted(offsets.begin(), offsets.end())) {
    file.fail(dataset, "the offsets do not cut the array into pieces",
              fmt::format("{} to {}", offsets.front(), offsets.back()), fmt::format("rising from 0 to {}", rows));
  }
}

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

namespace {

/// Plans the columns of the group /profile/`kind`, if it is there: `add` gets what adds a column, and what tells
/// whether there is one. Returns the rows.
template <class Add>
std::uint64_t plan_profile(ColumnLoader& loader, const char* kind, const Add& add) {
  const SourceFile& file = loader.file();
  if (!file.has(file.root(), "profile", "/profile")) {
    return 0;
  }
  const Handle profile = file.group(file.root(), "profile", "/profile");
  const std::string path = fmt::format("/profile/{}", kind);
  if (!file.has(profile.get(), kind, path)) {
    return 0;
  }
  const Handle group = file.group(profile.get(), kind, path);
  std::optional<std::uint64_t> rows;
  const auto add_column = [&]<class T>(const char* name, Column<T>& column) {
    rows = loader.column(group.get(), path, column_spec<T>(name, Elision::Forbidden), column, rows);
  };
  const auto has = [&](const char* name) { return file.has(group.get(), name, path + "/" + name); };
  add(add_column, has);
  return *rows;
}

}  // namespace

std::uint64_t plan_block_counts(ColumnLoader& loader, BlockCounts& counts) {
  return plan_profile(loader, "blocks", [&](const auto& add, const auto& has) {
    add("pipeline", counts.pipeline);
    add("shader", counts.shader);
    add("function", counts.function);
    add("block", counts.block);
    add("lanes", counts.lanes);
    if (has("groups")) {
      add("groups", counts.groups);
    }
  });
}

std::uint64_t plan_instruction_counts(ColumnLoader& loader, const char* kind, bool addresses,
                                      InstructionCounts& counts) {
  return plan_profile(loader, kind, [&](const auto& add, const auto&) {
    add("pipeline", counts.pipeline);
    add("shader", counts.shader);
    add("function", counts.function);
    add("block", counts.block);
    add("instruction", counts.instruction);
    add("lanes", counts.lanes);
    add("groups", counts.groups);
    add("uniform", counts.uniform);
    if (addresses) {
      add("uniform_address", counts.uniform_address);
    }
  });
}

std::uint64_t plan_value_counts(ColumnLoader& loader, ValueCounts& counts) {
  plan_profile(loader, "value_tables", [&](const auto& add, const auto&) {
    add("place", counts.place);
    add("value", counts.value);
    add("lanes", counts.value_lanes);
    add("uniform_groups", counts.uniform_groups);
    add("most_lanes", counts.most_lanes);
  });
  return plan_profile(loader, "values", [&](const auto& add, const auto&) {
    add("pipeline", counts.pipeline);
    add("shader", counts.shader);
    add("function", counts.function);
    add("block", counts.block);
    add("instruction", counts.instruction);
    add("component", counts.component);
    add("lanes", counts.lanes);
    add("groups", counts.groups);
  });
}

std::uint64_t plan_paths(ColumnLoader& loader, Paths& paths) {
  const SourceFile& file = loader.file();
  plan_profile(loader, "path_blocks", [&](const auto& add, const auto&) {
    add("shader", paths.block_shader);
    add("function", paths.function);
    add("block", paths.block);
  });
  return plan_profile(loader, "paths", [&](const auto& add, const auto&) {
    add("shader", paths.shader);
    add("calls", paths.calls);
    // A table of its own length: check_path_table knows it.
    const Handle group = file.group(file.root(), "profile/paths", "/profile/paths");
    loader.column(group.get(), "/profile/paths", column_spec<std::uint32_t>("counts", Elision::Forbidden),
                  paths.counts);
  });
}

std::uint64_t plan_access_sites(ColumnLoader& loader, AccessSites& sites) {
  return plan_profile(loader, "access_sites", [&](const auto& add, const auto& has) {
    add("shader", sites.shader);
    add("function", sites.function);
    add("block", sites.block);
    add("instruction", sites.instruction);
    add("kind", sites.kind);
    add("space", sites.space);
    add("set", sites.set);
    add("binding", sites.binding);
    add("element", sites.element);
    add("bytes", sites.bytes);
    if (has("lanes")) {
      add("lanes", sites.lanes);
      add("groups", sites.groups);
      add("sectors", sites.sectors);
      add("lines", sites.lines);
      add("group_sectors", sites.group_sectors);
      add("group_lines", sites.group_lines);
    }
  });
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
  if (file.has(scene.get(), "tlas", "/scene/tlas")) {
    const std::string tlas_path = "/scene/tlas";
    const Handle tlas = file.group(scene.get(), "tlas", tlas_path);
    const std::uint64_t tlases = loader.column(
        tlas.get(), tlas_path, column_spec<std::uint32_t>("first_instance", forbidden), numbers.first_instance);
    loader.column(tlas.get(), tlas_path, column_spec<std::uint32_t>("instance_count", forbidden),
                  numbers.instance_count, tlases);
  }
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
  for (std::size_t i = 0; i < numbers.first_instance.size(); ++i) {
    scene.tlases.push_back({numbers.first_instance[i], numbers.instance_count[i]});
  }
  return scene;
}

}  // namespace rayreplay::trace
