// Rules of the scene: every index into vertices, geometries and structures stays inside.
#include <algorithm>

#include <fmt/format.h>

#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

void check_geometry(const Geometry& geometry, std::size_t row, FaultList& faults) {
  const std::string table = "/scene/geometries/";
  check_text(geometry.name, fmt::format("{}name[{}]", table, row), faults);
  if (static_cast<std::size_t>(geometry.type) > 1) {
    faults.add_row(table + "type", row, "there is no such geometry type",
                   std::to_string(static_cast<std::size_t>(geometry.type)), "0 (triangles) or 1 (boxes)");
    return;
  }
  const bool triangles = geometry.type == GeometryType::Triangles;
  if (geometry.vertices.size() % 3 != 0 || geometry.indices.size() % 3 != 0 || geometry.boxes.size() % 6 != 0) {
    faults.add_row(
        table + "type", row, "the geometry's arrays are not whole vertices, triangles and boxes",
        fmt::format("{}, {} and {} numbers", geometry.vertices.size(), geometry.indices.size(), geometry.boxes.size()),
        "multiples of 3, 3 and 6");
  }
  if (triangles ? !geometry.boxes.empty() : !geometry.vertices.empty() || !geometry.indices.empty()) {
    faults.add_row(table + "type", row, "the geometry has arrays of the other type",
                   triangles ? "triangles with boxes" : "boxes with vertices or indices",
                   "arrays of its own type only");
  }
  if (geometry.primitives() >= kNone) {
    faults.add_row(table + "type", row, "the geometry has more primitives than primitive ids",
                   std::to_string(geometry.primitives()), fmt::format("less than {}", kNone));
  }
  const std::uint64_t vertices = geometry.vertices.size() / 3;
  const auto outside = std::find_if(geometry.indices.begin(), geometry.indices.end(),
                                    [&](std::uint32_t index) { return index >= vertices; });
  if (outside != geometry.indices.end()) {
    // Counted within the geometry: the dataset holds the indices of all geometries end to end.
    faults.add_row(table + "type", row,
                   fmt::format("triangle {} of the geometry names a vertex that it does not have",
                               (outside - geometry.indices.begin()) / 3),
                   std::to_string(*outside), fmt::format("less than {}, its number of vertices", vertices));
  }
}

/// Top-level structures divide the instances among them, in order and without gaps.
void check_tlases(const Scene& scene, FaultList& faults) {
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < scene.tlases.size() && !faults.full(); ++i) {
    const Tlas& tlas = scene.tlases[i];
    if (tlas.first_instance != next) {
      faults.add_row("/scene/tlas/first_instance", i, "the structure does not start where the one before ends",
                     std::to_string(tlas.first_instance), std::to_string(next));
      return;
    }
    next += tlas.instance_count;
  }
  if (!scene.tlases.empty() && next != scene.instances.size()) {
    faults.add_row("/scene/tlas/instance_count", scene.tlases.size() - 1, "the structures do not hold all instances",
                   std::to_string(next), fmt::format("{}, the number of instances", scene.instances.size()));
  }
}

}  // namespace

void check_scene(const Scene& scene, FaultList& faults) {
  for (std::size_t i = 0; i < scene.geometries.size() && !faults.full(); ++i) {
    check_geometry(scene.geometries[i], i, faults);
  }
  for (std::size_t i = 0; i < scene.blases.size() && !faults.full(); ++i) {
    const Blas& blas = scene.blases[i];
    if (blas.first_geometry > scene.geometries.size() ||
        blas.geometry_count > scene.geometries.size() - blas.first_geometry) {
      faults.add_row("/scene/blas/geometry_count", i, "the structure's geometries are out of range",
                     fmt::format("{} from {}", blas.geometry_count, blas.first_geometry),
                     fmt::format("to end within {}, the number of geometries", scene.geometries.size()));
    }
  }
  for (std::size_t i = 0; i < scene.instances.size() && !faults.full(); ++i) {
    if (scene.instances[i].blas >= scene.blases.size()) {
      faults.add_row("/scene/instances/blas", i, "the instance's structure is out of range",
                     std::to_string(scene.instances[i].blas),
                     fmt::format("less than {}, the number of structures", scene.blases.size()));
    }
  }
  check_tlases(scene, faults);
}

}  // namespace rayreplay::trace
