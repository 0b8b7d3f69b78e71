#include "sim/memory/reuse/sample_error.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

constexpr double kUnknown = -1;

/// Not cut at 1 as the curve is: if half of the parts are above 1, the cut would hide their scatter.
double ratio(const ReuseHistogram& part, double weight, std::uint64_t lines) {
  const auto accesses = static_cast<double>(part.accesses() + part.not_sampled());
  return static_cast<double>(part.misses(lines)) * weight / accesses;
}

}  // namespace

std::span<const ReuseHistogram> ReuseStack::parts() const {
  return {};
}

void merge_parts(std::vector<ReuseHistogram>& sum, std::span<const ReuseHistogram> more) {
  if (sum.empty()) {
    sum.assign(more.begin(), more.end());
    return;
  }
  if (sum.size() != more.size()) {
    throw Error(ErrorKind::Internal, {"samples in different numbers of parts", "", "", "", ""});
  }
  for (std::size_t part = 0; part < more.size(); ++part) {
    sum[part].merge(more[part]);
  }
}

double standard_error(std::span<const ReuseHistogram> parts, double weight, std::uint64_t lines) {
  if (parts.size() < 2 || parts[0].accesses() + parts[0].not_sampled() == 0) {
    return kUnknown;
  }
  const auto count = static_cast<double>(parts.size());
  double sum = 0;
  std::vector<double> ratios;
  for (const ReuseHistogram& part : parts) {
    ratios.push_back(ratio(part, weight * count, lines));
    sum += ratios.back();
  }
  double squares = 0;
  for (const double value : ratios) {
    squares += (value - sum / count) * (value - sum / count);
  }
  return std::sqrt(squares / (count - 1) / count * std::max(0.0, 1 - 1 / weight));
}

std::vector<SampledPoint> sampled_miss_ratio_curve(const ReuseHistogram& sample, std::span<const ReuseHistogram> parts,
                                                   double weight, std::size_t points) {
  std::vector<SampledPoint> result;
  for (const CurvePoint& point : miss_ratio_curve(adjusted(sample, weight), points)) {
    result.push_back({point.lines, point.miss_ratio, standard_error(parts, weight, point.lines)});
  }
  return result;
}

}  // namespace rayreplay::memory
