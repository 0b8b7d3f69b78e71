#include "sim/experiment/stages/stage_metrics.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bvh/summary.hpp"
#include "sim/experiment/settings/metrics.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kHead = "rayreplay metrics 1\n";
constexpr std::string_view kDevice = "device ";
constexpr std::string_view kEnd = "end\n";

std::optional<std::uint16_t> index_of(std::string_view name) {
  static const auto known = [] {
    std::unordered_map<std::string_view, std::uint16_t> map;
    for (const Metric& metric : all_metrics()) {
      map.emplace(metric.name, static_cast<std::uint16_t>(map.size()));
    }
    return map;
  }();
  const auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

double as_double(std::uint64_t count) {
  return static_cast<double>(count);
}

/// The line in front, which is taken off; nothing where none ends.
std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

/// "l1", "l2"
void add_level(MetricSet& metrics, const std::string& level, const memory::CacheCounts& counts,
               const memory::CacheGeometry& geometry, const std::string& model) {
  if (geometry.bytes == 0) {
    return;
  }
  const double accesses = as_double(counts.accesses);
  const double hits = as_double(counts.hits) / memory::kOne;
  const bool exact = memory::CacheModels::create(model).model->exact();
  metrics.add(level + "_accesses", accesses);
  metrics.add(level + "_hit_rate", counts.accesses == 0 ? 0 : hits / accesses);
  metrics.add(level + "_misses", accesses - hits);
  if (exact) {  // models of probabilities do not know
    if (level == "l1") {
      metrics.add("l1_sector_miss_rate", counts.accesses == 0 ? 0 : as_double(counts.sector_misses) / accesses);
    }
    metrics.add(level + "_filled_bytes", as_double(counts.sectors_filled * geometry.sector()));
    metrics.add(level + "_written_bytes", as_double(counts.sectors_written * geometry.sector()));
  }
}

}  // namespace

void MetricSet::add(std::string_view name, double value) {
  const auto index = index_of(name);
  if (!index) {
    throw Error(ErrorKind::Internal, {"a stage gives a metric that is not declared", "", std::string(name), "", ""});
  }
  const auto place = std::ranges::lower_bound(values_, *index, {}, [](const auto& entry) { return entry.first; });
  values_.insert(place, {*index, value});
}

MetricSet simt_metrics(const simt::ReplayResult& replay, bool costs, const scheduler::Bound& bound) {
  const double efficiency = replay.total.efficiency(replay.warp_size);
  MetricSet metrics;
  metrics.add("simt_efficiency", efficiency);
  metrics.add("simt_weighted_efficiency", costs ? replay.total.weighted_efficiency(replay.warp_size) : efficiency);
  metrics.add("simt_warp_events", as_double(replay.total.warp_events));
  metrics.add("simt_active_lanes", as_double(replay.total.active_lanes));
  metrics.add("simt_bound_efficiency", bound.efficiency);
  return metrics;
}

MetricSet model_metrics(const CompareRow& row, const CompareResult& result) {
  MetricSet metrics;
  metrics.add("model_cycles", row.timing.cycles);
  metrics.add("model_milliseconds", row.timing.milliseconds);
  metrics.add("model_speed_up", row.speed_up);
  metrics.add("model_efficiency", row.efficiency);
  metrics.add("model_segments", as_double(row.segments));
  if (row.rounds > 0) {  // timed models and bounds have none
    metrics.add("model_rounds", as_double(row.rounds));
  }
  if (row.grouping != scheduler::Grouping::Bound) {  // a bound has no warps and waits for nothing
    const double all = row.timing.cycles * result.machine.sms;
    const auto share = [all](double part) { return all > 0 ? part / all : 0.0; };
    metrics.add("model_warps", as_double(row.warps));
    metrics.add("model_moved_threads", as_double(row.moved));
    metrics.add("model_busy_share", row.timing.busy_share);
    metrics.add("model_idle_share", share(row.timing.split.idle));
    metrics.add("model_reorder_share", share(row.timing.split.reorder));
    metrics.add("model_traffic_bytes", row.timing.traffic_bytes);
  }
  return metrics;
}

MetricSet traversal_metrics(const TraverseRow& rays, const TraverseRow& warps, std::uint32_t warp_size) {
  MetricSet metrics;
  metrics.add("traversal_rays", as_double(rays.rays));
  if (rays.rays > 0) {
    const auto per_ray = [&rays](std::uint64_t sum) { return as_double(sum) / as_double(rays.rays); };
    metrics.add("traversal_nodes_per_ray", per_ray(rays.nodes));
    metrics.add("traversal_boxes_per_ray", per_ray(rays.boxes));
    metrics.add("traversal_triangles_per_ray", per_ray(rays.triangles));
    metrics.add("traversal_bytes_per_ray",
                per_ray(std::accumulate(rays.bytes.begin(), rays.bytes.end(), std::uint64_t{0})));
  }
  metrics.add("traversal_hits", as_double(rays.hits));
  metrics.add("traversal_unobserved", as_double(rays.unobserved));
  traversal::StepTally all;
  for (const traversal::StepTally& steps : warps.steps) {
    all.steps += steps.steps;
    all.lanes += steps.lanes;
  }
  if (all.steps > 0) {
    metrics.add("traversal_warp_efficiency", all.efficiency(warp_size));
  }
  return metrics;
}

MetricSet structure_metrics(const bvh::Bvh& structure, const std::vector<bvh::Tree>& trees) {
  const bvh::BvhSummary summary = bvh::summarise(structure, trees);
  MetricSet metrics;
  metrics.add("structure_bytes", as_double(structure.memory.end));
  metrics.add("structure_nodes", as_double(summary.all.quality.nodes));
  metrics.add("structure_leaves", as_double(summary.all.quality.leaves));
  metrics.add("structure_references", as_double(summary.all.quality.references));
  metrics.add("structure_depth", as_double(summary.all.depth));
  metrics.add("structure_sah_cost", summary.all.quality.sah);
  metrics.add("structure_layout_sah_cost", summary.all.layout_sah);
  return metrics;
}

MetricSet cache_metrics(const HierarchyCounts& counts, const Hierarchy& hierarchy, const RecordedStream& stream) {
  MetricSet metrics;
  metrics.add("stream_transactions", as_double(stream.transactions.size()));
  if (stream.instructions > 0) {  // memory traces were not interleaved here
    metrics.add("stream_instructions", as_double(stream.instructions));
    metrics.add("stream_cycles", as_double(stream.cycles));
  }
  add_level(metrics, "l1", counts.l1, hierarchy.l1, hierarchy.l1_model);
  add_level(metrics, "l2", counts.l2, hierarchy.l2, hierarchy.l2_model);
  metrics.add("dram_read_bytes", as_double(counts.dram_read_bytes));
  metrics.add("dram_written_bytes", as_double(counts.dram_written_bytes));
  metrics.add("dram_bytes", as_double(counts.dram_read_bytes + counts.dram_written_bytes));
  return metrics;
}

std::string write_metrics(const MetricSet& metrics) {
  std::string text(kHead);
  text += fmt::format("{}{}\n", kDevice, metrics.device);
  for (const auto& [index, value] : metrics.values()) {
    text += fmt::format("{} {:016x} {}\n", all_metrics()[index].name, std::bit_cast<std::uint64_t>(value), value);
  }
  return text + std::string(kEnd);
}

std::optional<MetricSet> read_metrics(std::string_view bytes) {
  if (!bytes.starts_with(kHead)) {
    return std::nullopt;
  }
  bytes.remove_prefix(kHead.size());
  const auto device = take_line(bytes);
  if (!device || !device->starts_with(kDevice)) {
    return std::nullopt;
  }
  MetricSet metrics;
  metrics.device = device->substr(kDevice.size());
  while (bytes != kEnd) {
    const auto line = take_line(bytes);
    const auto blank = line ? line->find(' ') : std::string_view::npos;
    constexpr std::size_t kDigits = 16;
    if (blank == std::string_view::npos || line->size() < blank + 1 + kDigits) {
      return std::nullopt;
    }
    const std::string_view name = line->substr(0, blank);
    const std::string_view digits = line->substr(blank + 1, kDigits);
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    const auto index = index_of(name);
    if (error != std::errc() || end != digits.data() + digits.size() || !index ||
        (!metrics.values().empty() && metrics.values().back().first >= *index)) {
      return std::nullopt;
    }
    metrics.add(name, std::bit_cast<double>(bits));
  }
  return metrics;
}

}  // namespace rayreplay::experiment
