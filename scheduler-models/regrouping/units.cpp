#include "scheduler-models/regrouping/units.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace rayreplay::scheduler {
namespace {

constexpr std::uint32_t kNoWarp = 0xFFFF'FFFFU;

/// The warp's first thread with segments; kNoThread if there is none.
std::uint32_t first_thread(const PlanContext& context, std::uint32_t warp) {
  const auto begin = context.order.thread_at.begin() + std::ptrdiff_t{warp} * context.order.warp_size;
  const auto end = begin + context.order.warp_size;
  const auto found = std::find_if(begin, end, [&](std::uint32_t thread) {
    return thread != kNoThread && context.segments.first[thread] < context.segments.first[std::size_t{thread} + 1];
  });
  return found == end ? kNoThread : *found;
}

/// Warps with segments, in the order in which they start.
std::vector<std::uint32_t> warps_by_start(const PlanContext& context) {
  std::vector<std::uint32_t> warps(context.order.warps());
  constexpr std::size_t kWarpsPerTask = 4096;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, warps.size(), kWarpsPerTask), [&](const auto& range) {
    for (std::size_t warp = range.begin(); warp != range.end(); ++warp) {
      const auto number = static_cast<std::uint32_t>(warp);
      warps[context.order.start_rank[warp]] = first_thread(context, number) == kNoThread ? kNoWarp : number;
    }
  });
  std::erase(warps, kNoWarp);
  return warps;
}

/// The captured SM of each warp, by its first thread with segments; empty unless all are known, below `sms`, and
/// several.
std::vector<std::uint32_t> captured_sms(const PlanContext& context, std::span<const std::uint32_t> warps,
                                        std::uint32_t sms) {
  const trace::Launch& launch = context.launch;
  if (launch.thread_warp.empty() || launch.groups.size() == 0) {
    return {};
  }
  std::vector<std::uint32_t> of_captured;
  for (std::size_t group = 0; group < launch.groups.size(); ++group) {
    const std::uint32_t warp = launch.groups.warp[group];
    if (warp == trace::kNone) {
      continue;
    }
    if (warp >= of_captured.size()) {
      of_captured.resize(std::size_t{warp} + 1, kAnySm);
    }
    if (of_captured[warp] == kAnySm) {
      of_captured[warp] = launch.groups.sm[group];
    }
  }
  std::vector<std::uint32_t> result;
  result.reserve(warps.size());
  for (const std::uint32_t warp : warps) {
    const std::uint32_t captured = launch.thread_warp[first_thread(context, warp)];
    result.push_back(captured < of_captured.size() ? of_captured[captured] : kAnySm);
    if (result.back() >= sms) {
      return {};
    }
  }
  // CPUs that run Vulkan report one SM for all warps: it says nothing about the machine's SMs.
  const bool several = std::ranges::adjacent_find(result, std::not_equal_to<>()) != result.end();
  return several || sms == 1 ? result : std::vector<std::uint32_t>();
}

Units units_by_sm(const PlanContext& context) {
  const MachineFacts& machine = context.machine;
  const std::uint32_t sms = machine.sms > machine.withheld_sms ? machine.sms - machine.withheld_sms : 1;
  const std::vector<std::uint32_t> started = warps_by_start(context);
  const std::vector<std::uint32_t> captured = captured_sms(context, started, sms);
  const auto sm_of = [&](std::size_t turn) {
    return captured.empty() ? static_cast<std::uint32_t>(turn % sms) : captured[turn];
  };
  Units units;
  units.source = captured.empty() ? SmSource::StartRank : SmSource::Captured;
  units.begin.assign(std::size_t{sms} + 1, 0);
  for (std::size_t turn = 0; turn < started.size(); ++turn) {
    ++units.begin[sm_of(turn) + 1];
  }
  std::partial_sum(units.begin.begin(), units.begin.end(), units.begin.begin());
  std::vector<std::size_t> next(units.begin);
  units.warps.resize(started.size());
  for (std::size_t turn = 0; turn < started.size(); ++turn) {
    units.warps[next[sm_of(turn)]++] = started[turn];
  }
  units.sm.resize(sms);
  std::iota(units.sm.begin(), units.sm.end(), 0U);
  return units;
}

}  // namespace

Units make_units(const PlanContext& context, const Regrouping& regrouping) {
  if (regrouping.scope == Scope::Sm) {
    return units_by_sm(context);
  }
  Units units;
  units.warps = warps_by_start(context);
  const std::size_t warps = units.warps.size();
  std::size_t size = warps;
  if (regrouping.scope == Scope::Warp) {
    size = 1;
  } else if (regrouping.scope == Scope::Pool) {
    size = std::max(regrouping.pool_warps, 1U);
  }
  units.begin.push_back(0);
  while (units.begin.back() < warps) {
    units.begin.push_back(std::min(units.begin.back() + size, warps));
  }
  units.sm.assign(units.begin.size() - 1, kAnySm);
  return units;
}

}  // namespace rayreplay::scheduler
