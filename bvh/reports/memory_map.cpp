#include "bvh/reports/memory_map.hpp"

#include <cstddef>
#include <utility>

namespace rayreplay::bvh {
namespace {

class Arrays {
 public:
  explicit Arrays(bool holds_primitives) : holds_primitives_(holds_primitives) {}

  std::uint64_t add_nodes(std::uint64_t bytes) {
    const std::uint64_t place = end_;
    add(bytes, true);
    return place;
  }
  /// Instances, or parts of a geometry.
  std::uint64_t add_given(std::uint64_t bytes) {
    const std::uint64_t place = end_;
    add(bytes, !holds_primitives_);
    return place;
  }
  [[nodiscard]] std::uint64_t end() const {
    return end_;
  }
  [[nodiscard]] std::uint64_t read() const {
    return read_;
  }

 private:
  void add(std::uint64_t bytes, bool read) {
    constexpr std::uint64_t kBoundary = 256;
    const std::uint64_t rounded = (bytes + kBoundary - 1) / kBoundary * kBoundary;
    end_ += rounded;
    read_ += read ? rounded : 0;
  }

  bool holds_primitives_;
  std::uint64_t end_ = 0;
  std::uint64_t read_ = 0;
};

bool as_given(const std::vector<std::uint32_t>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != i) {
      return false;
    }
  }
  return true;
}

void place_geometry(const trace::Geometry& geometry, const VertexOrder& order, Arrays& arrays, GeometryMemory& memory) {
  if (geometry.type == trace::GeometryType::Boxes) {
    memory.boxes = arrays.add_given(geometry.primitives() * kBoxBytes);
    return;
  }
  memory.indices = arrays.add_given(geometry.primitives() * kIndexBytes);
  memory.vertices = arrays.add_given(geometry.vertices.size() / 3 * kVertexBytes);
  std::vector<std::uint32_t> places = order.order(geometry);
  if (!as_given(places)) {
    memory.vertex_place = std::move(places);
  }
}

}  // namespace

MemoryMap map_memory(const PreparedScene& scene, const Level& top, const std::vector<Level>& bottoms,
                     const VertexOrder& order, bool holds_primitives) {
  MemoryMap map;
  Arrays arrays(holds_primitives);
  map.bottom_nodes.resize(bottoms.size());
  map.geometries.resize(scene.scene->geometries.size());
  std::vector<bool> placed(map.geometries.size());
  map.top_nodes = arrays.add_nodes(top.nodes.size());
  map.instances = arrays.add_given(scene.instances.size() * kInstanceBytes);
  for (std::size_t blas = 0; blas < bottoms.size(); ++blas) {
    if (bottoms[blas].empty()) {
      continue;
    }
    map.bottom_nodes[blas] = arrays.add_nodes(bottoms[blas].nodes.size());
    for (std::uint32_t g = 0; g < scene.blases[blas].geometry_count; ++g) {
      const std::size_t row = scene.blases[blas].first_geometry + std::size_t{g};
      // Structures may share a geometry, which is in memory once.
      if (!placed[row]) {
        placed[row] = true;
        place_geometry(scene.scene->geometries[row], order, arrays, map.geometries[row]);
      }
    }
  }
  map.end = arrays.end();
  map.read = arrays.read();
  return map;
}

}  // namespace rayreplay::bvh
