#include "capture/trace/writing/scene_writer.hpp"

#include <algorithm>
#include <string>

#include "capture/trace/file/hdf5_write.hpp"
#include "capture/trace/writing/table_writer.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;

template <class Items, class Text>
std::vector<std::string> texts(const Items& items, Text&& text) {
  std::vector<std::string> result;
  for (const auto& item : items) {
    result.push_back(text(item));
  }
  return result;
}

}  // namespace

IdBounds unknown_scene(IdBounds bounds) {
  bounds.instance = bounds.primitive = kNone;
  bounds.geometry = 0xFFFF;
  return bounds;
}

IdBounds id_bounds(const std::vector<Shader>& shaders, const Scene& scene) {
  IdBounds bounds;
  const auto last = [](std::uint64_t count) { return count == 0 ? 0 : count - 1; };
  bounds.shader = last(shaders.size());
  if (scene.instances.empty()) {
    return unknown_scene(bounds);
  }
  bounds.instance = last(scene.instances.size());
  for (const Geometry& geometry : scene.geometries) {
    bounds.primitive = std::max(bounds.primitive, last(geometry.primitives()));
  }
  for (const Blas& blas : scene.blases) {
    bounds.geometry = std::max(bounds.geometry, last(blas.geometry_count));
  }
  return bounds;
}

void write_header(hid_t root, const Header& header) {
  hdf5::write_attribute(root, "format_version", kFormatVersion, "/");
  hdf5::write_attribute(root, "tool", header.tool, "/");
  hdf5::write_attribute(root, "tool_version", header.tool_version, "/");
  hdf5::write_attribute(root, "application", header.application, "/");
  hdf5::write_attribute(root, "device", header.device, "/");
  hdf5::write_attribute(root, "driver", header.driver, "/");
  hdf5::write_attribute(root, "configuration", header.configuration, "/");
  hdf5::write_attribute(root, "warp_size", header.warp_size, "/");
  hdf5::write_attribute(root, "not_captured", header.not_captured, "/");
}

void write_shaders(hid_t root, const std::vector<Shader>& shaders, ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  Table table(root, "shaders", "/shaders", pipeline, chunk_rows);
  hdf5::write_texts(table.group(), "entry", texts(shaders, [](const Shader& s) { return s.entry; }), "/shaders/entry");
  hdf5::write_texts(table.group(), "name", texts(shaders, [](const Shader& s) { return s.name; }), "/shaders/name");
  table.column<std::uint8_t>("stage", shaders, [](const Shader& s) { return s.stage; });
  table.arrays<std::uint32_t>(
      "spirv", "spirv_offset", 1, shaders, [](const Shader& s) -> const auto& { return s.spirv; });
  table.finish();
}

void write_scene(hid_t root, const Scene& scene, ChunkPipeline& pipeline, std::uint64_t chunk_rows) {
  const Handle group = hdf5::create_group(root, "scene", "/scene");
  Table geometries(group.get(), "geometries", "/scene/geometries", pipeline, chunk_rows);
  hdf5::write_texts(geometries.group(), "name", texts(scene.geometries, [](const Geometry& g) { return g.name; }),
                    "/scene/geometries/name");
  geometries.column<std::uint8_t>("type", scene.geometries, [](const Geometry& g) { return g.type; });
  geometries.column<std::uint8_t>("opaque", scene.geometries, [](const Geometry& g) { return g.opaque ? 1 : 0; });
  geometries.arrays<float>(
      "vertices", "vertex_offset", 3, scene.geometries, [](const Geometry& g) -> const auto& { return g.vertices; });
  geometries.arrays<std::uint32_t>(
      "indices", "index_offset", 3, scene.geometries, [](const Geometry& g) -> const auto& { return g.indices; });
  geometries.arrays<float>(
      "boxes", "box_offset", 6, scene.geometries, [](const Geometry& g) -> const auto& { return g.boxes; });
  geometries.finish();

  Table blas(group.get(), "blas", "/scene/blas", pipeline, chunk_rows);
  blas.column<std::uint32_t>("first_geometry", scene.blases, [](const Blas& b) { return b.first_geometry; });
  blas.column<std::uint32_t>("geometry_count", scene.blases, [](const Blas& b) { return b.geometry_count; });
  blas.finish();

  Table instances(group.get(), "instances", "/scene/instances", pipeline, chunk_rows);
  instances.column<std::uint32_t>("blas", scene.instances, [](const Instance& i) { return i.blas; });
  instances.column<std::uint32_t>("custom_index", scene.instances, [](const Instance& i) { return i.custom_index; });
  instances.column<std::uint32_t>("hit_group_offset", scene.instances,
                                  [](const Instance& i) { return i.hit_group_offset; });
  instances.column<std::uint8_t>("mask", scene.instances, [](const Instance& i) { return i.mask; });
  instances.column<std::uint8_t>("flags", scene.instances, [](const Instance& i) { return i.flags; });
  std::vector<std::array<float, 12>> rows;
  rows.reserve(scene.instances.size());
  for (const Instance& instance : scene.instances) {
    rows.push_back(instance.transform);
  }
  instances.rows<float>("transform", 12, rows.data(), rows.size());
  instances.finish();

  if (!scene.tlases.empty()) {
    Table tlas(group.get(), "tlas", "/scene/tlas", pipeline, chunk_rows);
    tlas.column<std::uint32_t>("first_instance", scene.tlases, [](const Tlas& t) { return t.first_instance; });
    tlas.column<std::uint32_t>("instance_count", scene.tlases, [](const Tlas& t) { return t.instance_count; });
    tlas.finish();
  }
}

}  // namespace rayreplay::trace
