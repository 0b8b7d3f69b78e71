#include "capture/trace/scene_writer.hpp"

#include <algorithm>
#include <deque>
#include <string>

#include "capture/trace/hdf5_write.hpp"

namespace rayreplay::trace {
namespace {

using hdf5::Handle;

/// A group of columns that are written at once.
class Table {
 public:
  Table(hid_t parent, const char* name, std::string path, ChunkPipeline& pipeline, std::uint64_t chunk_rows)
      : path_(std::move(path)),
        group_(hdf5::create_group(parent, name, path_)),
        pipeline_(pipeline),
        chunk_rows_(chunk_rows) {}

  [[nodiscard]] hid_t group() const {
    return group_.get();
  }
  [[nodiscard]] const std::string& path() const {
    return path_;
  }
  /// Column of one value per item.
  template <class T, class Items, class Value>
  void column(const char* name, const Items& items, Value&& value) {
    std::vector<T> values;
    values.reserve(items.size());
    for (const auto& item : items) {
      values.push_back(static_cast<T>(value(item)));
    }
    add(writer(column_spec<T>(name, Elision::Forbidden)), values.data(), values.size());
  }
  /// Column of all items' arrays end to end, and where each starts, counted in rows.
  template <class T, class Items, class Array>
  void arrays(const char* name, const char* offset_name, std::uint32_t width, const Items& items, Array&& array) {
    ColumnWriter& rows = writer(column_spec<T>(name, Elision::Forbidden, width));
    std::vector<std::uint64_t> offsets{0};
    for (const auto& item : items) {
      const auto& values = array(item);
      add(rows, values.data(), values.size() / width);
      offsets.push_back(rows.rows());
    }
    add(writer(column_spec<std::uint64_t>(offset_name, Elision::Forbidden)), offsets.data(), offsets.size());
  }
  /// Column of `width` values per row, `count` rows of them.
  template <class T>
  void rows(const char* name, std::uint32_t width, const void* data, std::uint64_t count) {
    add(writer(column_spec<T>(name, Elision::Forbidden, width)), data, count);
  }
  void finish() {
    std::vector<ColumnWriter*> columns;
    for (ColumnWriter& column : columns_) {
      columns.push_back(&column);
    }
    pipeline_.finish(columns);
  }

 private:
  ColumnWriter& writer(const ColumnSpec& spec) {
    return columns_.emplace_back(group_.get(), path_ + "/" + spec.name, spec, chunk_rows_);
  }
  void add(ColumnWriter& column, const void* data, std::uint64_t rows) {
    pipeline_.add(column, data, rows, [](std::uint64_t) { return std::uint64_t{0}; });
    pipeline_.flush();
  }

  std::string path_;
  Handle group_;
  ChunkPipeline& pipeline_;
  std::uint64_t chunk_rows_;
  std::deque<ColumnWriter> columns_;
};

template <class Items, class Text>
std::vector<std::string> texts(const Items& items, Text&& text) {
  std::vector<std::string> result;
  for (const auto& item : items) {
    result.push_back(text(item));
  }
  return result;
}

}  // namespace

IdBounds id_bounds(const std::vector<Shader>& shaders, const Scene& scene) {
  IdBounds bounds;
  const auto last = [](std::uint64_t count) { return count == 0 ? 0 : count - 1; };
  bounds.shader = last(shaders.size());
  if (scene.instances.empty()) {
    bounds.instance = bounds.primitive = kNone;
    bounds.geometry = 0xFFFF;
    return bounds;
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
}

}  // namespace rayreplay::trace
