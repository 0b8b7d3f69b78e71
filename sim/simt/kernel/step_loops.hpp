// The four policies as loops over one warp (replayer.hpp defines them; policies/ describes them for people).
//
// Contract: `Loop<policy>::run` makes all warp events of a warp, in order, and tells each to the observer with its mask
// and number of lanes. The policies are a closed set of templates, not virtual functions: a step takes some tens of
// cycles, of which a call through a pointer and the registers it spills would be a good part.
#pragma once

#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/kernel/lanes.hpp"

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

/// The queues of one warp. Each ends with kNoCall, and lanes without a thread hold nothing else.
template <class Code, unsigned kLanes>
struct Queues {
  alignas(64) Code head[kLanes];
  const Code* cursor[kLanes];

  [[nodiscard]] Heads<Code, kLanes> heads() const {
    return Heads<Code, kLanes>(head);
  }
  void pop(std::uint64_t mask) {
    do {
      const unsigned lane = lowest_lane(mask);
      head[lane] = *++cursor[lane];
      mask &= mask - 1;
    } while (mask != 0);
  }
};

template <Policy>
struct Loop;

template <>
struct Loop<Policy::StageMajority> {
  template <class Code, unsigned kLanes, class Observer>
  static void run(Queues<Code, kLanes>& queues, Code traversal, Observer& observer) {
    for (;;) {
      const auto heads = queues.heads();
      std::uint64_t open = heads.below(traversal);
      if (open == 0) {
        open = heads.below(kNoCall<Code>);
        if (open == 0) {
          return;
        }
      }
      Code call = 0;
      std::uint64_t mask = 0;
      unsigned lanes = 0;
      // Codes rise with shader, then kind, so that a tie goes to the lower code. When fewer lanes are left to look at
      // than the best call has, none of them can win.
      do {
        const Code other = queues.head[lowest_lane(open)];
        const std::uint64_t other_mask = heads.equal(other);
        const unsigned other_lanes = count_lanes(other_mask);
        const bool better = other_lanes > lanes || (other_lanes == lanes && other < call);
        call = better ? other : call;
        mask = better ? other_mask : mask;
        lanes = better ? other_lanes : lanes;
        open &= ~other_mask;
      } while (count_lanes(open) >= lanes);
      observer.event(call, mask, lanes);
      queues.pop(mask);
    }
  }
};

template <>
struct Loop<Policy::MinShader> {
  template <class Code, unsigned kLanes, class Observer>
  static void run(Queues<Code, kLanes>& queues, Code, Observer& observer) {
    for (;;) {
      const auto heads = queues.heads();
      const Code call = heads.lowest();
      if (call == kNoCall<Code>) {
        return;
      }
      const std::uint64_t mask = heads.equal(call);
      observer.event(call, mask, count_lanes(mask));
      queues.pop(mask);
    }
  }
};

template <>
struct Loop<Policy::OldestLane> {
  template <class Code, unsigned kLanes, class Observer>
  static void run(Queues<Code, kLanes>& queues, Code, Observer& observer) {
    // Lanes with events left, as sets that popped together last, the longest ago first.
    std::uint64_t waiting[kLanes + 1];
    waiting[0] = queues.heads().below(kNoCall<Code>);
    unsigned sets = waiting[0] != 0 ? 1U : 0U;
    while (sets != 0) {
      const Code call = queues.head[lowest_lane(waiting[0])];
      const std::uint64_t mask = queues.heads().equal(call);
      observer.event(call, mask, count_lanes(mask));
      queues.pop(mask);
      unsigned kept = 0;
      for (unsigned i = 0; i < sets; ++i) {
        waiting[kept] = waiting[i] & ~mask;
        kept += waiting[kept] != 0 ? 1U : 0U;
      }
      waiting[kept] = mask & queues.heads().below(kNoCall<Code>);
      sets = kept + (waiting[kept] != 0 ? 1 : 0);
    }
  }
};

template <>
struct Loop<Policy::Independent> {
  template <class Code, unsigned kLanes, class Observer>
  static void run(Queues<Code, kLanes>& queues, Code trace_calls, Observer& observer) {
    std::uint64_t group[kLanes];  // by its lowest lane
    std::uint64_t leaders = 0;    // the lowest lanes of the groups that may run
    std::uint64_t waiting = 0;    // lanes that wait in ray generation
    const auto add = [&](std::uint64_t lanes) {
      if (lanes != 0) {
        group[lowest_lane(lanes)] = lanes;
        leaders |= lanes & (~lanes + 1);
      }
    };
    const auto settle = [&](std::uint64_t lanes) {
      const auto heads = queues.heads();
      const std::uint64_t stop = lanes & heads.below(trace_calls);
      waiting |= stop;
      add(lanes & heads.below(kNoCall<Code>) & ~stop);
    };
    settle(~std::uint64_t{0});
    for (;;) {
      if (leaders == 0) {
        if (waiting == 0) {
          return;
        }
        add(waiting);
        waiting = 0;
      }
      const unsigned leader = lowest_lane(leaders);
      leaders &= leaders - 1;
      const Code call = queues.head[leader];
      const std::uint64_t mask = queues.heads().equal(call) & group[leader];
      add(group[leader] & ~mask);
      observer.event(call, mask, count_lanes(mask));
      queues.pop(mask);
      settle(mask);
    }
  }
};

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
