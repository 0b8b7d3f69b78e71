#include "bvh/reports/memory_map.hpp"

#include <cstddef>
#include <utility>

namespace rayreplay::bvh {
namespace {

class Arrays {
 public:
  std::uint64_t add(std::uint64_t bytes) {
    constexpr std::uint64_t kBoundary = 256;
    const std::uint64_t place = end_;
    end_ = (end_ + bytes + kBoundary - 1) / kBoundary * kBoundary;
    return place;
  }
  [[nodiscard]] std::uint64_t end() const {
    return end_;
  }

 private:
  std::uint64_t end_ = 0;
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
    memory.boxes = arrays.add(geometry.primitives() * kBoxBytes);
    return;
  }
  memory.indices = arrays.add(geometry.primitives() * kIndexBytes);
  memory.vertices = arrays.add(geometry.vertices.size() / 3 * kVertexBytes);
  std::vector<std::uint32_t> places = order.order(geometry);
  if (!as_given(places)) {
    memory.vertex_place = std::move(places);
  }
}

}  // namespace

MemoryMap map_memory(const PreparedScene& scene, const Level& top, const std::vector<Level>& bottoms,
                     const VertexOrder& order) {
  MemoryMap map;
  Arrays arrays;
  map.bottom_nodes.resize(bottoms.size());
  map.geometries.resize(scene.scene->geometries.size());
  std::vector<bool> placed(map.geometries.size());
  map.top_nodes = arrays.add(top.nodes.size());
  map.instances = arrays.add(scene.instances.size() * kInstanceBytes);
  for (std::size_t blas = 0; blas < bottoms.size(); ++blas) {
    if (bottoms[blas].empty()) {
      continue;
    }
    map.bottom_nodes[blas] = arrays.add(bottoms[blas].nodes.size());
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
  return map;
}

}  // namespace rayreplay::bvh
