// Where lanes idle: ranked warps, calls and pixels.
#include <algorithm>
#include <numeric>

#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/simt.hpp"
#include "viewer/content/answers.hpp"

namespace rayreplay::viewer {
namespace {

using nlohmann::ordered_json;

/// Rows of a list at most.
constexpr std::size_t kMost = 25;

std::uint64_t lost(const simt::Tally& tally, std::uint32_t warp_size) {
  return tally.warp_events * warp_size - tally.active_lanes;
}

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

/// The first rows of 0 to `count`, those with the largest value first; of equal ones the lower number.
template <class Value>
std::vector<std::size_t> largest(std::size_t count, const Value& value) {
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t kept = std::min(kMost, count);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end(),
                    [&](std::size_t a, std::size_t b) {
                      const auto of_a = value(a);
                      const auto of_b = value(b);
                      return of_a != of_b ? of_a > of_b : a < b;
                    });
  rows.resize(kept);
  return rows;
}

ordered_json tally_json(const simt::Tally& tally, std::uint32_t warp_size, std::uint64_t all_lost) {
  return {{"warp_events", tally.warp_events},
          {"efficiency", tally.efficiency(warp_size)},
          {"idle_lanes", lost(tally, warp_size)},
          {"share", share(lost(tally, warp_size), all_lost)}};
}

ordered_json pixels_json(const trace::Launch& launch) {
  const trace::ThreadData& data = launch.data;
  std::vector<std::uint64_t> calls(data.threads());
  std::uint64_t all = 0;
  for (std::size_t thread = 0; thread < calls.size(); ++thread) {
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      calls[thread] += trace::is_warp_event(data.events.kind[row]) ? 1U : 0U;
    }
    all += calls[thread];
  }
  ordered_json rows = ordered_json::array();
  for (const std::size_t thread : largest(calls.size(), [&](std::size_t one) { return calls[one]; })) {
    rows.push_back({{"thread", thread}, {"calls", calls[thread]}, {"share", share(calls[thread], all)}});
  }
  return rows;
}

}  // namespace

ordered_json ranking_facts(experiment::Workbench& bench, const experiment::Experiment& experiment,
                           const experiment::Resolved& resolved, const trace::Trace& trace) {
  simt::ReplayOptions options;
  options.per_warp = true;
  const simt::ReplayResult result = experiment::replay(bench, experiment, options);
  const auto packed = experiment::assignment(bench, experiment);
  const std::uint32_t size = result.warp_size;
  const std::uint64_t all = lost(result.total, size);
  ordered_json warps = ordered_json::array();
  for (const std::size_t warp :
       largest(result.by_warp.size(), [&](std::size_t one) { return lost(result.by_warp[one], size); })) {
    ordered_json row = tally_json(result.by_warp[warp], size, all);
    row["warp"] = warp;
    for (std::uint32_t lane = 0; lane < size && !row.contains("thread"); ++lane) {
      if (const std::uint32_t thread = packed->thread_at[warp * size + lane]; thread != scheduler::kNoThread) {
        row["thread"] = thread;
      }
    }
    warps.push_back(std::move(row));
  }
  ordered_json calls = ordered_json::array();
  for (const std::size_t call :
       largest(result.by_call.size(), [&](std::size_t one) { return lost(result.by_call[one].tally, size); })) {
    ordered_json row = tally_json(result.by_call[call].tally, size, all);
    row["kind"] = static_cast<int>(result.by_call[call].kind);
    row["shader"] = result.by_call[call].shader;
    calls.push_back(std::move(row));
  }
  return {{"idle_lanes", all},
          {"efficiency", result.total.efficiency(size)},
          {"warps", std::move(warps)},
          {"calls", std::move(calls)},
          {"pixels", pixels_json(trace.launches[resolved.launch])}};
}

}  // namespace rayreplay::viewer
