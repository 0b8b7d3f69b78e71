// What it means that our answers and Embree's agree, and the tally of a comparison.
//
// The answers *agree* if both miss, or if both hit the same primitive and t differs by at most 2 ulp-scaled:
// 2 · 2^-23 · (|t| + |origin| / |direction|), the rounding of t and of the coordinates that it comes from. Where they
// do not, the arbiter (tests/support/precise_scene.hpp) looks at the primitives in long double.
// - Ours must then be sound to double precision, without exception: we compute in doubles. Else it is *wrong*.
// - Embree's must be sound to single precision. If both hit at the same t within 2 ulp-scaled, the answers are *tied*
//   (coplanar, stacked, sharing an edge). Else the ray passes an edge, a plane or an end of its interval within
//   Embree's rounding: it is *excused*; tests limit how often. `general`: the ray was not aimed at such a place.
// - What not even that explains is an error, unless the direction is so short or long that Embree's products leave the
//   range of floats (*out of range*).
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "tests/support/precise_scene.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::test {

/// 2 ulp-scaled.
[[nodiscard]] inline double tolerance(const traversal::Ray& ray, float t) {
  double origin = 0;
  double direction = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    origin = std::max(origin, std::abs(static_cast<double>(ray.origin[axis])));
    direction = std::max(direction, std::abs(static_cast<double>(ray.direction[axis])));
  }
  return 2 * 0x1p-23 * (std::abs(static_cast<double>(t)) + origin / direction);
}

/// Whether Embree's products of coordinates, edges and direction are floats far from the ends of their range.
[[nodiscard]] inline bool in_float_range(const traversal::Ray& ray) {
  double length = 0;
  for (const float x : ray.direction) {
    length = std::max(length, std::abs(static_cast<double>(x)));
  }
  return length > 1e-12 && length < 1e16;
}

/// Embree refuses larger numbers (its debug checks end the program): there the arbiter alone judges ours.
[[nodiscard]] inline bool embree_takes(const traversal::Ray& ray) {
  const auto small = [](float x) { return std::abs(x) < 1.8e18F; };
  return std::ranges::all_of(ray.origin, small) && std::ranges::all_of(ray.direction, small);
}

[[nodiscard]] inline bool same_distance(const traversal::Ray& ray, const traversal::Hit& a, const traversal::Hit& b) {
  return std::abs(static_cast<double>(a.t) - static_cast<double>(b.t)) <= tolerance(ray, a.t);
}

/// Of closest hits: both miss, or both hit the same primitive at the same distance.
[[nodiscard]] inline bool same_answer(const traversal::Ray& ray, const traversal::Hit& a, const traversal::Hit& b) {
  return a.instance == b.instance && a.geometry == b.geometry && a.primitive == b.primitive &&
         (!a.found() || same_distance(ray, a, b));
}

struct EmbreeTally {
  std::atomic<std::uint64_t> agree = 0;
  std::atomic<std::uint64_t> tied = 0;
  std::atomic<std::uint64_t> excused = 0;
  std::atomic<std::uint64_t> excused_in_general_position = 0;
  std::atomic<std::uint64_t> out_of_range = 0;
  std::atomic<std::uint64_t> alone = 0;
  std::atomic<std::uint64_t> embrees_own = 0;
  std::atomic<std::uint64_t> wrong = 0;
  std::atomic<std::size_t> a_wrong_ray = 0;
  std::atomic<std::size_t> an_own_ray = 0;

  /// Of answers that do not agree.
  void judge(const PreciseScene& arbiter, std::size_t row, const traversal::Ray& ray, const traversal::Hit& ours,
             const traversal::Hit& theirs, bool any, bool general) {
    if (!judge_alone(arbiter, row, ray, ours, any)) {
      return;
    }
    if (arbiter.judge(row, ray, theirs, any, 0x1p-24L) == PreciseScene::Verdict::Sound) {
      if (!any && ours.found() && theirs.found() && same_distance(ray, ours, theirs)) {
        ++tied;
        return;
      }
      ++excused;
      excused_in_general_position += general ? 1U : 0U;
    } else if (in_float_range(ray)) {
      ++embrees_own;
      an_own_ray = row;
    } else {
      ++out_of_range;
    }
  }
  bool judge_alone(const PreciseScene& arbiter, std::size_t row, const traversal::Ray& ray, const traversal::Hit& ours,
                   bool any) {
    const bool sound = arbiter.judge(row, ray, ours, any, 0x1p-53L) == PreciseScene::Verdict::Sound;
    if (!sound) {
      ++wrong;
      a_wrong_ray = row;
    }
    return sound;
  }
};

[[nodiscard]] inline std::string describe(const traversal::Ray& ray, std::size_t row, const traversal::Hit& ours,
                                          const traversal::Hit& theirs) {
  std::ostringstream text;
  text << std::hexfloat << "ray " << row << ": origin " << ray.origin[0] << " " << ray.origin[1] << " " << ray.origin[2]
       << " direction " << ray.direction[0] << " " << ray.direction[1] << " " << ray.direction[2] << " t " << ray.t_min
       << " to " << ray.t_max << std::defaultfloat << "; ours " << ours.t << " at " << ours.instance << "/"
       << ours.geometry << "/" << ours.primitive << ", Embree's " << theirs.t << " at " << theirs.instance << "/"
       << theirs.geometry << "/" << theirs.primitive;
  return text.str();
}

}  // namespace rayreplay::test
