// From columns to sums: translates a warp's events into codes, runs the policy's loop, counts.
//
// Contract: defines `kEntries<Code>` for the namespace RAYREPLAY_SIMT_KERNEL; see kernel.hpp. The codes of a warp are
// a tenth of its columns' size and lie together, so that the loop, which jumps between lanes, stays in the nearest
// cache whatever the assignment; only the translation reads the trace, thread by thread in one sweep.
#pragma once

#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/kernel/lanes.hpp"
#include "sim/simt/kernel/step_loops.hpp"

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

struct CountCalls {
  CallSum* sums;

  void event(unsigned code, std::uint64_t, unsigned lanes) {
    sums[code].warp_events += 1;
    sums[code].active_lanes += lanes;
  }
};

/// As CountCalls, and for the warp and each of its lanes as well.
template <unsigned kLanes>
struct CountAll {
  CallSum* sums;
  const std::uint32_t* cost;
  Tally warp{};
  Tally lane[kLanes]{};

  static void add(Tally& to, std::uint64_t lanes, std::uint64_t cycles) {
    to.warp_events += 1;
    to.active_lanes += lanes;
    to.weighted_events += cycles;
    to.weighted_lanes += cycles * lanes;
  }
  void event(unsigned code, std::uint64_t mask, unsigned lanes) {
    CountCalls{sums}.event(code, mask, lanes);
    add(warp, lanes, cost[code]);
    do {
      add(lane[lowest_lane(mask)], lanes, cost[code]);
      mask &= mask - 1;
    } while (mask != 0);
  }
};

template <class Code>
struct Record {
  Worker<Code>* worker;

  void event(unsigned code, std::uint64_t mask, unsigned) {
    append(*worker, {code, mask});
  }
};

/// Asks for the memory of the warps to come, so that a shuffled assignment does not wait for each thread's in turn.
template <class Code>
void prefetch(const Job<Code>& job, std::uint64_t place) {
  const std::uint64_t next = place + job.warp_size;
  const std::uint64_t after = next + job.warp_size;
  if (after < job.places && job.thread_at[after] < job.threads) {
    __builtin_prefetch(job.event_offset + job.thread_at[after]);
  }
  if (next < job.places && job.thread_at[next] < job.threads) {
    const std::uint64_t row = job.event_offset[job.thread_at[next]];
    __builtin_prefetch(job.kind + row);
    __builtin_prefetch(job.shader + row);
    __builtin_prefetch(job.shader + row + 32);
  }
}

/// The thread's warp events as codes and the closing kNoCall; returns where the next queue begins.
template <class Code>
Code* translate(const Job<Code>& job, std::uint32_t thread, Code* out) {
  const trace::EventKind* kind = job.kind;
  const std::uint16_t* shader = job.shader;
  const Code* code_of = job.code_of;
  const std::uint64_t end = job.event_offset[thread + 1];
  for (std::uint64_t row = job.event_offset[thread]; row < end; ++row) {
    const unsigned index = static_cast<unsigned>(shader[row]) << kKindBits | static_cast<unsigned>(kind[row]);
    const Code code = code_of[index];
    // Written always, kept if it is a call: no branch to mispredict.
    *out = code;
    out += code != kNoCall<Code> ? 1 : 0;
  }
  *out = kNoCall<Code>;
  return out + 1;
}

template <class Code, unsigned kLanes>
void load_warp(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp, Queues<Code, kLanes>& queues) {
  const std::uint64_t base = warp * job.warp_size;
  std::uint64_t needed = 1;
  for (unsigned lane = 0; lane < job.warp_size; ++lane) {
    const std::uint32_t thread = job.thread_at[base + lane];
    if (thread < job.threads) {
      needed += job.event_offset[thread + 1] - job.event_offset[thread] + 1;
    } else if (thread != scheduler::kNoThread) {
      fail_unknown_thread(base + lane, thread, job.threads);
    }
  }
  if (needed > worker.capacity) {
    grow(worker, needed);
  }
  // The first code of all is the empty queue of lanes without a thread.
  const Code* const empty = worker.codes;
  Code* out = worker.codes;
  *out++ = kNoCall<Code>;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    queues.cursor[lane] = empty;
    if (lane < job.warp_size && job.thread_at[base + lane] != scheduler::kNoThread) {
      queues.cursor[lane] = out;
      prefetch(job, base + lane);
      out = translate(job, job.thread_at[base + lane], out);
    }
    queues.head[lane] = *queues.cursor[lane];
  }
}

template <Policy policy, unsigned kLanes, class Code>
void count_warps(const Job<Code>& job, Worker<Code>& worker, std::uint64_t first, std::uint64_t last) {
  Queues<Code, kLanes> queues;
  for (std::uint64_t warp = first; warp < last; ++warp) {
    load_warp(job, worker, warp, queues);
    if (job.by_warp == nullptr && job.by_thread == nullptr) {
      CountCalls observer{worker.sums};
      Loop<policy>::run(queues, job.favoured, observer);
      continue;
    }
    CountAll<kLanes> observer{worker.sums, job.cost};
    Loop<policy>::run(queues, job.favoured, observer);
    if (job.by_warp != nullptr) {
      job.by_warp[warp] = observer.warp;
    }
    for (unsigned lane = 0; job.by_thread != nullptr && lane < job.warp_size; ++lane) {
      const std::uint32_t thread = job.thread_at[warp * job.warp_size + lane];
      if (thread != scheduler::kNoThread) {
        job.by_thread[thread] = observer.lane[lane];
      }
    }
  }
}

template <Policy policy, unsigned kLanes, class Code>
void record_warp(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp) {
  Queues<Code, kLanes> queues;
  load_warp(job, worker, warp, queues);
  Record<Code> observer{&worker};
  Loop<policy>::run(queues, job.favoured, observer);
}

/// Calls `visit` with policy and lanes as constants.
template <class Code, class Visitor>
void with_constants(const Job<Code>& job, Visitor visit) {
  const auto with_lanes = [&]<Policy policy>() {
    if (job.warp_size <= 32) {
      visit.template operator()<policy, 32>();
    } else {
      visit.template operator()<policy, 64>();
    }
  };
  switch (job.policy) {
    case Policy::StageMajority:
      return with_lanes.template operator()<Policy::StageMajority>();
    case Policy::MinShader:
      return with_lanes.template operator()<Policy::MinShader>();
    case Policy::OldestLane:
      return with_lanes.template operator()<Policy::OldestLane>();
    case Policy::Independent:
      return with_lanes.template operator()<Policy::Independent>();
  }
}

template <class Code>
void count(const Job<Code>& job, Worker<Code>& worker, std::uint64_t first, std::uint64_t last) {
  with_constants(job, [&]<Policy policy, unsigned kLanes>() { count_warps<policy, kLanes>(job, worker, first, last); });
}

template <class Code>
void record(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp) {
  with_constants(job, [&]<Policy policy, unsigned kLanes>() { record_warp<policy, kLanes>(job, worker, warp); });
}

template <class Code>
inline constexpr Entries<Code> kEntries{&count<Code>, &record<Code>};

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
