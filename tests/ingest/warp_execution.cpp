#include "tests/ingest/warp_execution.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "capture/instrument/probes/record.h"

namespace rayreplay::test {
namespace {

using trace::kNone;

/// Two threads that have started change places.
void swap_lanes(std::vector<std::vector<std::uint32_t>>& warps, const std::vector<Thread>& threads,
                std::uint32_t warp_size, Random& random) {
  std::uint32_t& a = warps[random.below(warps.size())][random.below(warp_size)];
  std::uint32_t& b = warps[random.below(warps.size())][random.below(warp_size)];
  const auto may_move = [&](std::uint32_t thread) {
    return thread != kNone && threads[thread].done > 0 && threads[thread].done < threads[thread].steps.size();
  };
  if (may_move(a) && may_move(b)) {
    std::swap(a, b);
  }
}

void append_chunk(std::vector<std::uint32_t>& words, const CaptureOptions& options, const std::vector<Thread>& threads,
                  const std::vector<std::uint32_t>& warp, const Step& like, std::uint64_t mask, std::uint64_t recorded,
                  std::uint32_t clock) {
  const bool wide = options.warp_size > 32;
  const bool partial = recorded != mask;
  const auto n = static_cast<std::uint32_t>(std::popcount(recorded));
  words.push_back(like.kind | (wide ? RR_WIDE : 0U) | (partial ? RR_PARTIAL : 0U) | std::uint32_t{like.shader} << 8U |
                  like.site << 24U);
  words.push_back(static_cast<std::uint32_t>(mask));
  words.push_back(77U | 3U << 12U | n << 20U | like.site >> 8U << RR_SITE_SHIFT);
  words.push_back(options.clock ? clock : 0);
  if (wide) {
    words.push_back(static_cast<std::uint32_t>(mask >> 32U));
  }
  if (partial) {
    words.push_back(static_cast<std::uint32_t>(recorded));
    if (wide) {
      words.push_back(static_cast<std::uint32_t>(recorded >> 32U));
    }
  }
  for (std::size_t field = 0; field <= like.fields.size(); ++field) {
    for (std::uint32_t lane = 0; lane < warp.size(); ++lane) {
      if ((recorded >> lane & 1U) != 0) {
        const Thread& thread = threads[warp[lane]];
        words.push_back(field == 0 ? warp[lane] : thread.steps[thread.done].fields[field - 1]);
      }
    }
  }
}

}  // namespace

// Lanes hold thread ids, kNone where a warp is not full.
void execute(std::vector<Thread>& threads, const CaptureOptions& options, Random& random,
             std::vector<std::uint32_t>& words, trace::Launch& expected) {
  const std::uint32_t lanes = options.warp_size;
  const auto count = static_cast<std::uint32_t>(threads.size());
  std::vector<std::vector<std::uint32_t>> warps;
  for (std::uint32_t first = 0; first < count; first += lanes) {
    std::vector<std::uint32_t> warp(lanes, kNone);
    for (std::uint32_t lane = 0; lane < std::min(lanes, count - first); ++lane) {
      warp[lanes - 1 - lane] = first + lane;
    }
    warps.push_back(warp);
  }
  for (std::size_t i = warps.size(); i > 1; --i) {
    std::swap(warps[i - 1], warps[random.below(i)]);
  }
  expected.thread_warp.assign(count, kNone);
  expected.thread_lane.assign(count, 0);
  std::uint32_t clock = 0xFFFF'FF00U;  // about to wrap around
  std::uint64_t elapsed = 0;
  std::vector<std::uint32_t> alive;
  for (std::uint32_t w = 0; w < warps.size(); ++w) {
    alive.push_back(w);
  }
  std::uint32_t started = 0, access_groups = 0;
  std::vector<bool> moved(count);
  while (!alive.empty()) {
    const std::uint32_t place = random.below(alive.size());
    std::vector<std::uint32_t>& warp = warps[alive[place]];
    const Step* wanted = nullptr;
    std::uint64_t mask = 0;
    std::uint64_t recorded = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (warp[lane] == kNone) {
        continue;
      }
      const Thread& thread = threads[warp[lane]];
      if (thread.done == thread.steps.size()) {
        continue;
      }
      const Step& step = thread.steps[thread.done];
      // A warp starts as a whole; later it may diverge.
      if (wanted != nullptr && (step.kind != wanted->kind || step.shader != wanted->shader ||
                                step.site != wanted->site || (step.kind != RR_RAY_GENERATION && random.one_in(5)))) {
        continue;
      }
      wanted = wanted == nullptr ? &step : wanted;
      mask |= std::uint64_t{1} << lane;
      recorded |= std::uint64_t{thread.recorded ? 1U : 0U} << lane;
    }
    if (wanted == nullptr) {
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(place));
      continue;
    }
    const Step like = *wanted;
    elapsed += random.below(1000);
    const bool makes_group = like.kind != RR_RAY_GENERATION && like.kind != RR_EXECUTE &&
                             like.kind != RR_REPORT_REJECTED && like.kind != RR_PATH && like.kind != RR_PATH_BYTES &&
                             like.kind != RR_HINT && like.access == SIZE_MAX;
    if (recorded != 0) {
      append_chunk(words, options, threads, warp, like, mask, recorded, clock + static_cast<std::uint32_t>(elapsed));
      if (like.kind == RR_RAY_GENERATION) {
        for (std::uint32_t lane = 0; lane < lanes; ++lane) {
          if ((recorded >> lane & 1U) != 0) {
            expected.thread_warp[warp[lane]] = started;
            expected.thread_lane[warp[lane]] = static_cast<std::uint8_t>(lane);
          }
        }
        ++started;
      }
    }
    if (recorded != 0 && makes_group) {
      std::optional<std::uint32_t> of;
      bool one_warp = true;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if ((recorded >> lane & 1U) != 0) {
          const std::uint32_t thread = warp[lane];
          one_warp &= expected.thread_lane[thread] == lane &&
                      of.value_or(expected.thread_warp[thread]) == expected.thread_warp[thread];
          of = expected.thread_warp[thread];
        }
      }
      expected.groups.warp.push_back(one_warp ? *of : kNone);
      expected.groups.sm.push_back(77);
      expected.groups.lane_mask.push_back(mask);
      expected.groups.clock.push_back(options.clock ? elapsed : 0);
    }
    bool has_access = false;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if ((mask >> lane & 1U) != 0) {
        Thread& thread = threads[warp[lane]];
        const Step& step = thread.steps[thread.done++];
        if (step.access != SIZE_MAX) {
          thread.accesses[step.access].group = access_groups;
          has_access |= thread.recorded && thread.accesses[step.access].is_row;
        }
        if (step.event != SIZE_MAX && recorded != 0) {
          thread.events[step.event].group = static_cast<std::uint32_t>(expected.groups.size() - 1);
        }
      }
    }
    access_groups += has_access ? 1 : 0;
    if (options.repack && random.one_in(4)) {
      swap_lanes(warps, threads, options.warp_size, random);
    }
  }
  if (!expected.groups.clock.empty() && options.clock) {
    const std::uint64_t earliest = expected.groups.clock.front();
    for (std::uint64_t& value : expected.groups.clock) {
      value -= earliest;
    }
  }
  std::uint32_t next = 0;
  for (std::uint32_t thread = 0; thread < count; ++thread) {
    if (expected.thread_warp[thread] == kNone) {
      expected.thread_warp[thread] = started + next / lanes;
      expected.thread_lane[thread] = static_cast<std::uint8_t>(next++ % lanes);
    }
  }
}

}  // namespace rayreplay::test
