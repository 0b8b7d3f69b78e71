// The hit of a ray on a test's primitive, as reported by the trace's shaders (MODELS.md §8).
//
// Contract: a report counts if it was accepted, is of a triangle's any-hit, or lies in [t_min, t_max] of the trace
// call; the nearest of several is taken. `RayReports` joins all calls of intersection shaders for (ray, candidate), so
// that the answer does not depend on the ray's limit at a simulated test. A candidate without a report that counts is
// not hit. assign: O(n log n) in the ray's tests; of: O(log n).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "traversal/observed.hpp"

namespace rayreplay::traversal {

struct ReportedHit {
  bool hit = false;
  float t = 0;

  bool operator==(const ReportedHit&) const = default;
};

/// The nearest report of one test.
[[nodiscard]] ReportedHit nearest_report(const Observed& observed, const ObservedTest& test, const Ray& ray);

class RayReports {
 public:
  /// `ray`: of `observed`.
  void assign(const Observed& observed, std::uint64_t ray);
  [[nodiscard]] ReportedHit of(const Candidate& candidate) const;

 private:
  std::vector<std::pair<Candidate, float>> hits_;  ///< ascending, so that the nearest of a candidate comes first
};

}  // namespace rayreplay::traversal
