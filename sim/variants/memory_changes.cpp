#include "sim/variants/memory_changes.hpp"

#include <algorithm>
#include <cmath>

#include "sim/engine/stages/traffic.hpp"
#include "sim/machine/time_shares.hpp"

namespace rayreplay::experiment {
namespace {

/// 0: a kind without accesses has no metric.
double value_of(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

double misses_of(const Metrics& metrics, memory::DataKind kind) {
  return value_of(metrics, traffic_metric(kind, TrafficPart::L2)) +
         value_of(metrics, traffic_metric(kind, TrafficPart::Dram));
}

}  // namespace

const std::vector<std::string>& part_metrics() {
  static const std::vector<std::string> names = {
      "time_reorder_share", "time_issue_share", "time_traversal_share", "time_load_unit_share", "time_l1_share",
      "time_merged_share",  "time_l2_share",    "time_dram_share",      "time_barrier_share",   "time_idle_share"};
  return names;
}

const std::vector<std::string>& stage_metrics() {
  static const std::vector<std::string> names = {"time_stage_ray_generation_share", "time_stage_traversal_share",
                                                 "time_stage_intersection_share",   "time_stage_any_hit_share",
                                                 "time_stage_closest_hit_share",    "time_stage_miss_share",
                                                 "time_stage_callable_share",       "time_stage_exchange_share"};
  return names;
}

std::vector<PartChange> part_changes(const Metrics& baseline, const Metrics& variant) {
  const double before = value_of(baseline, "time_cycles");
  const double ratio = before > 0 ? value_of(variant, "time_cycles") / before : 0;
  std::vector<PartChange> changes;
  for (std::size_t part = 0; part < machine::kTimeParts; ++part) {
    const std::string& name = part_metrics()[part];
    changes.push_back({part, value_of(variant, name) * ratio - value_of(baseline, name)});
  }
  std::ranges::stable_sort(changes, std::ranges::greater{}, [](const PartChange& one) { return std::abs(one.share); });
  return changes;
}

std::vector<KindChange> kind_changes(const Metrics& baseline, const Metrics& variant) {
  std::vector<KindChange> changes;
  for (const memory::DataKind kind : traffic_kinds()) {
    if (const double loads = misses_of(variant, kind) - misses_of(baseline, kind); loads != 0) {
      changes.push_back({kind, loads});
    }
  }
  std::ranges::stable_sort(changes, std::ranges::greater{}, [](const KindChange& one) { return std::abs(one.loads); });
  return changes;
}

}  // namespace rayreplay::experiment
