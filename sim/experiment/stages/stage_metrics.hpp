// The numbers of one stage's result: made from what the stage gives, kept and stored as a small text.
//
// Contract: names are those of metrics.hpp; what a result does not have is left out. `write_metrics` and `read_metrics`
// are the form in the store: versioned, every number as its bits; `read_metrics` gives nothing for bytes that are not
// whole, of another version, or that name what is not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bvh/bvh.hpp"
#include "scheduler-models/bound.hpp"
#include "sim/experiment/compare.hpp"
#include "sim/experiment/streams/cache_grid.hpp"
#include "sim/experiment/traverse.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

class MetricSet {
 public:
  /// Internal where there is no such metric.
  void add(std::string_view name, double value);
  /// By index in all_metrics(), ascending.
  [[nodiscard]] const std::vector<std::pair<std::uint16_t, double>>& values() const {
    return values_;
  }
  std::string device = "CPU";  ///< that made it
  [[nodiscard]] std::uint64_t bytes() const {
    return sizeof(MetricSet) + values_.capacity() * sizeof(values_[0]);
  }

 private:
  std::vector<std::pair<std::uint16_t, double>> values_;
};

[[nodiscard]] MetricSet simt_metrics(const simt::ReplayResult& replay, bool costs, const scheduler::Bound& bound);
[[nodiscard]] MetricSet model_metrics(const CompareRow& row, const CompareResult& result);
[[nodiscard]] MetricSet traversal_metrics(const TraverseRow& rays, const TraverseRow& warps, std::uint32_t warp_size);
[[nodiscard]] MetricSet structure_metrics(const bvh::Bvh& structure, const std::vector<bvh::Tree>& trees);
[[nodiscard]] MetricSet cache_metrics(const HierarchyCounts& counts, const Hierarchy& hierarchy,
                                      const RecordedStream& stream);

[[nodiscard]] std::string write_metrics(const MetricSet& metrics);
[[nodiscard]] std::optional<MetricSet> read_metrics(std::string_view bytes);

}  // namespace rayreplay::experiment
