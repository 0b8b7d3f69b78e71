// Causes of the difference between a variant's memory time and the baseline's: parts of the SM-cycles, and kinds of
// accesses.
//
// Contract: metrics are by name, as the stages `time` and `traffic` give them. A part's change is a share of the
// baseline's SM-cycles: over all parts these shares sum to cycles / baseline's cycles − 1. A kind's change is a number
// of loads that the L1 did not serve. Both lists are by falling size; ties in the order of parts and kinds. O(n log n)
// in parts and kinds.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sim/memory/data_kind.hpp"

namespace rayreplay::experiment {

using Metrics = std::map<std::string, double, std::less<>>;

/// The metrics of the parts, by machine::kTimePartNames.
[[nodiscard]] const std::vector<std::string>& part_metrics();
/// The metrics of the stages' shares of all warp-cycles, by memory::kWorkStageNames.
[[nodiscard]] const std::vector<std::string>& stage_metrics();

struct PartChange {
  std::size_t part = 0;  ///< of machine::kTimePartNames
  double share = 0;
};
[[nodiscard]] std::vector<PartChange> part_changes(const Metrics& baseline, const Metrics& variant);

struct KindChange {
  memory::DataKind kind = memory::DataKind::Node;
  double loads = 0;  ///< served by the L2 or DRAM
};
/// Kinds whose loads differ.
[[nodiscard]] std::vector<KindChange> kind_changes(const Metrics& baseline, const Metrics& variant);

}  // namespace rayreplay::experiment
