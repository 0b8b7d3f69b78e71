// Where a ray hits the primitive of a test, as the trace's shaders reported it (MODELS.md §8).
//
// Contract: a report counts if it was accepted, is of a triangle's any-hit, or lies in [t_min, t_max] of the trace
// call; of several the nearest. `RayReports` takes together all calls of intersection shaders that the trace has for
// (ray, candidate): what it answers does not depend on how far the ray reached when a simulated test was made. A
// candidate without a call, or whose calls reported nothing that counts, is not hit. assign: O(n log n) in the ray's
// tests; of: O(log n).
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

/// Of one test.
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
