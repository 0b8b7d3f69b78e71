#include "traversal/classification/reported.hpp"

#include <algorithm>
#include <cmath>

namespace rayreplay::traversal {

ReportedHit nearest_report(const Observed& observed, const ObservedTest& test, const Ray& ray) {
  ReportedHit nearest;
  for (const ObservedReport& report : observed.reports_of(test)) {
    const bool counts = report.accepted || !test.test.procedural || (report.t >= ray.t_min && report.t <= ray.t_max);
    if (counts && !std::isnan(report.t) && (!nearest.hit || report.t < nearest.t)) {
      nearest = {true, report.t};
    }
  }
  return nearest;
}

void RayReports::assign(const Observed& observed, std::uint64_t ray) {
  hits_.clear();
  for (const ObservedTest& test : observed.tests.of(ray)) {
    if (test.test.procedural) {
      const ReportedHit reported = nearest_report(observed, test, observed.rays[ray]);
      if (reported.hit) {
        hits_.emplace_back(test.test.candidate, reported.t);
      }
    }
  }
  std::sort(hits_.begin(), hits_.end());
}

ReportedHit RayReports::of(const Candidate& candidate) const {
  const auto found = std::lower_bound(hits_.begin(), hits_.end(), candidate,
                                      [](const auto& hit, const Candidate& wanted) { return hit.first < wanted; });
  return found != hits_.end() && found->first == candidate ? ReportedHit{true, found->second} : ReportedHit{};
}

}  // namespace rayreplay::traversal
