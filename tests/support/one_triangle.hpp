// The scene of tests by hand: one triangle in the plane x = 1 with corners at (y, z) = (0, 0), (1, 0), (0, 1), in one
// instance.
#pragma once

#include "capture/trace/trace.hpp"

namespace rayreplay::test {

[[nodiscard]] inline trace::Scene one_triangle() {
  trace::Geometry geometry;
  geometry.vertices = {1, 0, 0, 1, 1, 0, 1, 0, 1};
  geometry.indices = {0, 1, 2};
  trace::Scene scene;
  scene.geometries.push_back(geometry);
  scene.blases.push_back({0, 1});
  scene.instances.resize(1);
  return scene;
}

}  // namespace rayreplay::test
