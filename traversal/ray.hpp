// Rays and what traversals report of them.
//
// Contract: a ray is as given by the trace call. Rays with a NaN, an infinity in origin or direction, a direction of
// length zero or t_min > t_max hit nothing: they are not traversed and count as ignored (`is_traversable`).
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "capture/trace/trace.hpp"

namespace rayreplay::traversal {

struct Ray {
  std::array<float, 3> origin{};
  float t_min = 0;
  std::array<float, 3> direction{};
  float t_max = std::numeric_limits<float>::infinity();
  std::uint16_t flags = 0;  ///< trace::RayFlags
  std::uint8_t cull_mask = 0xFF;

  [[nodiscard]] bool ends_on_first_hit() const {
    return (flags & trace::kRayFlagTerminateOnFirstHit) != 0;
  }
};

[[nodiscard]] bool is_traversable(const Ray& ray);

/// The number of rays that are not traversable. O(rays), parallel.
[[nodiscard]] std::uint64_t count_ignored(const trace::Rays& rays);

/// Ray `row` of a launch.
[[nodiscard]] Ray ray_of(const trace::Rays& rays, std::size_t row);

/// Of hits with equal t the one with the lowest (instance, geometry, primitive) is the closest, for any order of the
/// traversal.
struct Hit {
  float t = std::numeric_limits<float>::infinity();
  std::uint32_t instance = trace::kNone;  ///< kNone: no hit
  std::uint32_t geometry = trace::kNone;  ///< in its blas
  std::uint32_t primitive = trace::kNone;
  float u = 0;  ///< triangles: barycentric weight of the second vertex
  float v = 0;  ///< triangles: of the third
  std::uint8_t hit_kind = 0;

  [[nodiscard]] bool found() const {
    return instance != trace::kNone;
  }
  bool operator==(const Hit&) const = default;
};

/// Counters of one ray's traversal.
struct RayCounters {
  std::uint32_t nodes = 0;        ///< records read that are nodes, both levels
  std::uint32_t boxes = 0;        ///< child boxes tested
  std::uint32_t leaves = 0;       ///< leaves entered, both levels
  std::uint32_t triangles = 0;    ///< triangle tests
  std::uint32_t procedurals = 0;  ///< box primitives whose own box the ray met: intersection shader calls
  std::uint32_t any_hits = 0;     ///< any-hit shader calls
  std::uint32_t instances = 0;    ///< instances entered
  std::uint32_t stack_depth = 0;  ///< most entries at once (queue length for ordered)
  std::uint32_t restarts = 0;     ///< from the root (short stack)

  bool operator==(const RayCounters&) const = default;
};

}  // namespace rayreplay::traversal
