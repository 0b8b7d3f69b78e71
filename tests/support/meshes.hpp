// Scenes of triangles for tests and benchmarks, generated: the same on every machine.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "capture/trace/trace.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

namespace detail {

/// Height of the ground at a grid point: values of a hash at the corners of ever finer cells, blended linearly. Sums
/// and products alone, so that every machine computes the same.
class BumpyGround {
 public:
  explicit BumpyGround(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] float height(double x, double y) const {
    double sum = 0;
    double weight = 0.25;
    for (std::uint64_t octave = 0; octave < 6; ++octave) {
      const double cells = static_cast<double>(std::uint64_t{4} << octave);
      sum += weight * blend(x * cells, y * cells, octave);
      weight /= 2;
    }
    return static_cast<float>(sum);
  }

 private:
  [[nodiscard]] double corner(std::int64_t column, std::int64_t row, std::uint64_t octave) const {
    const auto place = static_cast<std::uint64_t>(column) * 0x1'0000'0001U + static_cast<std::uint64_t>(row);
    Random random(seed_ * 31 + octave * 0x51'7CC1'B727U + place * 0x9E37'79B9U);
    return static_cast<double>(random.unit());
  }
  [[nodiscard]] double blend(double x, double y, std::uint64_t octave) const {
    const auto column = static_cast<std::int64_t>(x);
    const auto row = static_cast<std::int64_t>(y);
    const double u = x - static_cast<double>(column);
    const double v = y - static_cast<double>(row);
    const double near = corner(column, row, octave) * (1 - u) + corner(column + 1, row, octave) * u;
    const double far = corner(column, row + 1, octave) * (1 - u) + corner(column + 1, row + 1, octave) * u;
    return near * (1 - v) + far * v;
  }

  std::uint64_t seed_;
};

}  // namespace detail

/// About `triangles` triangles: bumpy ground over the unit square (y up) that takes half of them, and stones, spheres
/// of 512 triangles, strewn over and above it. Shared vertices. Nothing is degenerate.
[[nodiscard]] inline trace::Geometry bumpy_terrain(std::size_t triangles, std::uint64_t seed) {
  trace::Geometry mesh;
  mesh.name = "terrain";
  const detail::BumpyGround ground(seed);
  const auto side = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(triangles) / 4)) + 1;
  for (std::uint32_t row = 0; row <= side; ++row) {
    for (std::uint32_t column = 0; column <= side; ++column) {
      const double x = static_cast<double>(column) / static_cast<double>(side);
      const double y = static_cast<double>(row) / static_cast<double>(side);
      mesh.vertices.insert(mesh.vertices.end(), {static_cast<float>(x), ground.height(x, y), static_cast<float>(y)});
    }
  }
  const std::uint32_t stride = side + 1;
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      const std::uint32_t at = row * stride + column;
      mesh.indices.insert(mesh.indices.end(), {at, at + stride, at + 1, at + 1, at + stride, at + stride + 1});
    }
  }
  // A stone is an octahedron whose faces are divided into 64 triangles each and pushed onto a sphere.
  constexpr std::uint32_t kSteps = 8;
  Random random(seed + 1);
  const double half_cell = 0.5 / static_cast<double>(side);
  while (mesh.indices.size() / 3 + 512 <= triangles) {
    const double x = 0.5 + 0.5 * static_cast<double>(random.unit());
    const double z = 0.5 + 0.5 * static_cast<double>(random.unit());
    const double lift = 0.1 * static_cast<double>(random.unit()) + 0.1;
    const double radius = half_cell * (2 + 6 * (1 + static_cast<double>(random.unit())));
    const double y = static_cast<double>(ground.height(x, z)) + lift * lift;
    for (int face = 0; face < 8; ++face) {
      const std::array<double, 3> sign{(face & 1) != 0 ? -1.0 : 1.0, (face & 2) != 0 ? -1.0 : 1.0,
                                       (face & 4) != 0 ? -1.0 : 1.0};
      const auto first = static_cast<std::uint32_t>(mesh.vertices.size() / 3);
      for (std::uint32_t i = 0; i <= kSteps; ++i) {
        for (std::uint32_t j = 0; j + i <= kSteps; ++j) {
          const auto a = static_cast<double>(i);
          const auto b = static_cast<double>(j);
          const auto c = static_cast<double>(kSteps - i - j);
          const double scale = radius / std::sqrt(a * a + b * b + c * c);
          mesh.vertices.insert(mesh.vertices.end(), {static_cast<float>(x + sign[0] * a * scale),
                                                     static_cast<float>(y + sign[1] * b * scale),
                                                     static_cast<float>(z + sign[2] * c * scale)});
        }
      }
      const auto at = [&](std::uint32_t i, std::uint32_t j) { return first + i * (kSteps + 1) - i * (i - 1) / 2 + j; };
      for (std::uint32_t i = 0; i < kSteps; ++i) {
        for (std::uint32_t j = 0; j + i < kSteps; ++j) {
          mesh.indices.insert(mesh.indices.end(), {at(i, j), at(i + 1, j), at(i, j + 1)});
          if (i + j + 1 < kSteps) {
            mesh.indices.insert(mesh.indices.end(), {at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
          }
        }
      }
    }
  }
  return mesh;
}

/// One structure of one geometry, one instance of it in its place.
[[nodiscard]] inline trace::Scene one_mesh(trace::Geometry geometry) {
  trace::Scene scene;
  scene.geometries.push_back(std::move(geometry));
  scene.blases = {{0, 1}};
  scene.instances = {trace::Instance{}};
  return scene;
}

}  // namespace rayreplay::test
