// The replay of warps: translates a warp's events to codes, runs the policy's loop, counts.
//
// Contract: defines `kEntries<Code>` for the namespace RAYREPLAY_SIMT_KERNEL; see kernel.hpp. The codes of a warp are
// contiguous and a tenth of its columns' size, so the loop, which jumps between lanes, stays in the L1 cache for any
// assignment. Only the translation reads the trace, in one sweep per thread.
#pragma once

#include "sim/simt/kernel/bits.hpp"
#include "sim/simt/kernel/kernel.hpp"
#include "sim/simt/kernel/queues.hpp"
#include "sim/simt/kernel/steps.hpp"

namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL {

/// Counts the events of each call.
template <class Code>
class CountCalls {
 public:
  void start(const Job<Code>&, Worker<Code>& worker, std::uint64_t) {
    sums_ = worker.sums;
  }
  void event(unsigned code, std::uint64_t, unsigned count) {
    sums_[code].warp_events += 1;
    sums_[code].active_lanes += count;
  }
  void finish(const Job<Code>&, std::uint64_t) {}

 private:
  CallSum* sums_ = nullptr;
};

/// As CountCalls, and the events of the warp and of each of its threads.
template <class Code>
class CountAll {
 public:
  explicit CountAll(const std::uint32_t* cost) : cost_(cost) {}

  void start(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp) {
    calls_.start(job, worker, warp);
    warp_ = {};
    for (Tally& lane : lane_) {
      lane = {};
    }
  }
  void event(unsigned code, std::uint64_t lanes, unsigned count) {
    calls_.event(code, lanes, count);
    add(warp_, count, cost_[code]);
    for (; lanes != 0; lanes = without_lowest(lanes)) {
      add(lane_[lowest(lanes)], count, cost_[code]);
    }
  }
  void finish(const Job<Code>& job, std::uint64_t warp) {
    if (job.by_warp != nullptr) {
      job.by_warp[warp] = warp_;
    }
    for (unsigned lane = 0; job.by_thread != nullptr && lane < job.warp_size; ++lane) {
      const std::uint32_t thread = job.thread_at[warp * job.warp_size + lane];
      if (thread != scheduler::kNoThread) {
        job.by_thread[thread] = lane_[lane];
      }
    }
  }

 private:
  static void add(Tally& to, std::uint64_t count, std::uint64_t cycles) {
    to.warp_events += 1;
    to.active_lanes += count;
    to.weighted_events += cycles;
    to.weighted_lanes += cycles * count;
  }

  CountCalls<Code> calls_;
  const std::uint32_t* cost_;
  Tally warp_;
  Tally lane_[scheduler::kMaxWarpSize];
};

/// As CountCalls, and sums of weights over the events of the warp.
template <class Code>
class CountWeights {
 public:
  void start(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp) {
    calls_.start(job, worker, warp);
    weight_ = job.weight;
    for (std::uint64_t& sum : sum_) {
      sum = 0;
    }
  }
  void event(unsigned code, std::uint64_t lanes, unsigned count) {
    calls_.event(code, lanes, count);
    for (unsigned table = 0; table < kMaxWeights; ++table) {
      sum_[table] += weight_[code].of[table];
    }
  }
  void finish(const Job<Code>& job, std::uint64_t warp) {
    for (std::uint64_t table = 0; table < job.tables; ++table) {
      job.weights_of_warp[warp * job.tables + table] = sum_[table];
    }
  }

 private:
  CountCalls<Code> calls_;
  const WeightsOfCall* weight_ = nullptr;
  std::uint64_t sum_[kMaxWeights];
};

/// As CountWeights, and the detail of segment_replay.hpp.
template <class Code>
class CountDetail {
 public:
  void start(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp) {
    weights_.start(job, worker, warp);
    job_ = &job;
    detail_ = worker.detail;
    for (unsigned lane = 0; lane < job.warp_size; ++lane) {
      const std::uint32_t thread = job.thread_at[warp * job.warp_size + lane];
      rays_[lane] = thread != scheduler::kNoThread ? job.rays_before[thread] : 0;
    }
  }
  void event(unsigned code, std::uint64_t lanes, unsigned count) {
    weights_.event(code, lanes, count);
    detail_->active_lanes[count] += 1;
    const trace::EventKind kind = job_->kind_of[code];
    const unsigned begun = kind <= trace::EventKind::OcclusionBegin ? 1 : 0;
    std::uint64_t bounces = 0;
    for (; lanes != 0; lanes = without_lowest(lanes)) {
      std::uint32_t& rays = rays_[lowest(lanes)];
      rays += begun;
      bounces |= std::uint64_t{1} << (rays == 0 ? 0 : rays < kBounces ? rays - 1 : kBounces - 1);
    }
    const std::uint64_t cost = job_->cost[code];
    for (; bounces != 0; bounces = without_lowest(bounces)) {
      Tally& tally = detail_->by_bounce[lowest(bounces)][static_cast<unsigned>(kind)];
      tally.warp_events += 1;
      tally.active_lanes += count;
      tally.weighted_events += cost;
      tally.weighted_lanes += cost * count;
    }
  }
  void finish(const Job<Code>& job, std::uint64_t warp) {
    weights_.finish(job, warp);
  }

 private:
  CountWeights<Code> weights_;
  const Job<Code>* job_ = nullptr;
  Detail* detail_ = nullptr;
  std::uint32_t rays_[scheduler::kMaxWarpSize];  ///< begun by the thread of the lane
};

template <class Code>
class Record {
 public:
  void start(const Job<Code>&, Worker<Code>& worker, std::uint64_t) {
    worker_ = &worker;
  }
  void event(unsigned code, std::uint64_t lanes, unsigned) {
    append(*worker_, {code, lanes});
  }

 private:
  Worker<Code>* worker_ = nullptr;
};

/// Prefetches for warps to come, so that a shuffled assignment does not wait for each thread in turn: the offset of the
/// lane's thread after the next, and the first events of the next. Force-inlined: the compiler considers a function
/// that only prefetches as free of effects, and drops its calls.
template <class Code>
[[gnu::always_inline]] inline void prefetch(const Job<Code>& job, std::uint64_t place) {
  constexpr std::uint64_t kRows = 256;  // of a longer thread; the hardware prefetcher handles the rest
  constexpr std::uint64_t kLine = 64;   // bytes
  const std::uint64_t next = place + job.warp_size;
  const std::uint64_t after = next + job.warp_size;
  if (after < job.places && job.thread_at[after] < job.threads) {
    __builtin_prefetch(job.event_offset + job.thread_at[after]);
  }
  if (next < job.places && job.thread_at[next] < job.threads) {
    const std::uint64_t begin = job.event_offset[job.thread_at[next]];
    const std::uint64_t end = job.event_offset[job.thread_at[next] + 1];
    const std::uint64_t stop = end < begin + kRows ? end : begin + kRows;
    for (std::uint64_t row = begin; row < stop; row += kLine / sizeof(*job.kind)) {
      __builtin_prefetch(job.kind + row);
    }
    for (std::uint64_t row = begin; row < stop; row += kLine / sizeof(*job.shader)) {
      __builtin_prefetch(job.shader + row);
    }
    if (begin < stop) {
      __builtin_prefetch(job.kind + stop - 1);
      __builtin_prefetch(job.shader + stop - 1);
    }
  }
}

/// The thread's warp events as codes, then kNoCall; returns the start of the next queue.
template <class Code>
Code* translate(const Job<Code>& job, std::uint32_t thread, Code* out) {
  const trace::EventKind* kind = job.kind;
  const std::uint16_t* shader = job.shader;
  const Code* code_of = job.code_of;
  const std::uint64_t end = job.event_offset[thread + 1];
  for (std::uint64_t row = job.event_offset[thread]; row < end; ++row) {
    const unsigned index = static_cast<unsigned>(shader[row]) << kKindBits | static_cast<unsigned>(kind[row]);
    const Code code = code_of[index];
    // Always written, kept if it is a call: no branch to mispredict.
    *out = code;
    out += code != kNoCall<Code> ? 1 : 0;
  }
  *out = kNoCall<Code>;
  return out + 1;
}

/// Writes the queues of one warp into buffer `which` of the worker.
template <class Code>
Queues<Code> load_warp(const Job<Code>& job, Worker<Code>& worker, unsigned which, std::uint64_t warp) {
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
  WarpMemory<Code>& memory = worker.warps[which];
  if (needed > memory.capacity) {
    grow(worker, which, needed);
  }
  // The first code is the empty queue of lanes without a thread.
  const Code* const empty = memory.codes;
  Code* out = memory.codes;
  *out++ = kNoCall<Code>;
  Queues<Code> queues(memory, job.favoured);
  for (unsigned lane = 0; lane < scheduler::kMaxWarpSize; ++lane) {
    const Code* queue = empty;
    if (lane < job.warp_size && job.thread_at[base + lane] != scheduler::kNoThread) {
      queue = out;
      prefetch(job, base + lane);
      out = translate(job, job.thread_at[base + lane], out);
    }
    queues.start(lane, queue);
  }
  return queues;
}

template <class Code>
Code* slot_of(const ReadyQueues<Code>& ready, std::uint64_t thread) {
  return ready.slots + thread * ready.slot_codes;
}

template <class Code>
void encode(const Job<Code>& job, const ReadyQueues<Code>& ready, std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t kShort = 12;
  for (std::uint64_t thread = first; thread < last; ++thread) {
    Code* const slot = slot_of(ready, thread);
    Code& mark = slot[ready.slot_codes - 1];
    const std::uint64_t begin = job.event_offset[thread];
    const std::uint64_t rows = job.event_offset[thread + 1] - begin;
    if (rows < kShort && kShort <= ready.slot_codes && begin + kShort <= job.events) {
      // A fixed number of rows, also past the thread's end: a loop that ends with the thread would mispredict its exit.
      Code codes[kShort];
      std::uint64_t calls = 0;
      for (std::uint64_t i = 0; i < kShort; ++i) {
        const unsigned index =
            static_cast<unsigned>(job.shader[begin + i]) << kKindBits | static_cast<unsigned>(job.kind[begin + i]);
        const Code code = job.code_of[index];
        codes[calls] = code;
        calls += static_cast<std::uint64_t>(code != kNoCall<Code>) & static_cast<std::uint64_t>(i < rows);
      }
      codes[calls] = kNoCall<Code>;
      __builtin_memcpy(slot, codes, sizeof(codes));
      mark = kNoCall<Code>;
      continue;
    }
    const std::uint64_t at = begin + thread;
    Code* const queue = ready.long_queues + at;
    const auto codes = static_cast<std::uint64_t>(translate(job, static_cast<std::uint32_t>(thread), queue) - queue);
    if (codes <= ready.slot_codes) {
      __builtin_memcpy(slot, queue, codes * sizeof(Code));
      mark = kNoCall<Code>;
    } else {
      __builtin_memcpy(slot, &at, sizeof(at));
      mark = 0;
    }
  }
}

/// Start of the thread's queue; its slot should be prefetched.
template <class Code>
const Code* find_queue(const ReadyQueues<Code>& ready, std::uint64_t thread) {
  const Code* const slot = slot_of(ready, thread);
  if (slot[ready.slot_codes - 1] == kNoCall<Code>) {
    return slot;
  }
  std::uint64_t at = 0;
  __builtin_memcpy(&at, slot, sizeof(at));
  return ready.long_queues + at;
}

/// As `prefetch`, for translated queues: the slots of a warp some warps ahead, and the long queues of the next.
template <class Code>
[[gnu::always_inline]] inline void prefetch_queue(const Job<Code>& job, std::uint64_t place) {
  constexpr std::uint64_t kAhead = 8;
  const std::uint64_t next = place + job.warp_size;
  const std::uint64_t ahead = place + kAhead * job.warp_size;
  if (ahead < job.places && job.thread_at[ahead] < job.threads) {
    __builtin_prefetch(slot_of(job.ready, job.thread_at[ahead]));
  }
  if (next < job.places && job.thread_at[next] < job.threads) {
    __builtin_prefetch(find_queue(job.ready, job.thread_at[next]));
  }
}

/// The queues of one warp, from the translated ones.
template <class Code>
Queues<Code> find_warp(const Job<Code>& job, Worker<Code>& worker, unsigned which, std::uint64_t warp) {
  const std::uint64_t base = warp * job.warp_size;
  WarpMemory<Code>& memory = worker.warps[which];
  if (memory.capacity == 0) {
    grow(worker, which, 1);
  }
  const Code* const empty = memory.codes;
  memory.codes[0] = kNoCall<Code>;
  Queues<Code> queues(memory, job.favoured);
  for (unsigned lane = 0; lane < scheduler::kMaxWarpSize; ++lane) {
    const Code* queue = empty;
    if (lane < job.warp_size) {
      const std::uint32_t thread = job.thread_at[base + lane];
      prefetch_queue(job, base + lane);
      if (thread < job.threads) {
        queue = find_queue(job.ready, thread);
      } else if (thread != scheduler::kNoThread) {
        fail_unknown_thread(base + lane, thread, job.threads);
      }
    }
    queues.start(lane, queue);
  }
  return queues;
}

/// One of the two warps that a worker replays at a time.
template <Policy policy, class Code, class Observer>
class Seat {
 public:
  Seat(const Job<Code>& job, Worker<Code>& worker, unsigned which, Observer observer)
      : job_(job), worker_(worker), which_(which), queues_(worker.warps[which], job.favoured), observer_(observer) {}

  void start(std::uint64_t warp) {
    warp_ = warp;
    queues_ =
        job_.ready.slots != nullptr ? find_warp(job_, worker_, which_, warp) : load_warp(job_, worker_, which_, warp);
    steps_.start(queues_);
    observer_.start(job_, worker_, warp);
  }
  [[gnu::always_inline]] bool step() {
    return steps_.step(queues_, observer_);
  }
  void finish() {
    observer_.finish(job_, warp_);
  }

 private:
  const Job<Code>& job_;
  Worker<Code>& worker_;
  unsigned which_;
  std::uint64_t warp_ = 0;
  Queues<Code> queues_;
  Steps<policy> steps_;
  Observer observer_;
};

/// Two warps alternate steps: a step depends on the previous one of its own warp, so the processor overlaps it with the
/// other warp's. The next warp replaces a finished one.
template <Policy policy, class Code, class Observer>
void replay_warps(const Job<Code>& job, Worker<Code>& worker, std::uint64_t first, std::uint64_t last,
                  Observer observer) {
  Seat<policy, Code, Observer> a(job, worker, 0, observer);
  Seat<policy, Code, Observer> b(job, worker, 1, observer);
  std::uint64_t next = first;
  const auto take = [&](auto& seat) {
    if (next == last) {
      return false;
    }
    seat.start(next++);
    return true;
  };
  const auto advance = [&](auto& seat) {
    if (seat.step()) {
      return true;
    }
    seat.finish();
    return take(seat);
  };
  bool a_runs = take(a);
  bool b_runs = take(b);
  while (a_runs && b_runs) {
    a_runs = advance(a);
    b_runs = advance(b);
  }
  while (a_runs) {
    a_runs = advance(a);
  }
  while (b_runs) {
    b_runs = advance(b);
  }
}

template <Policy policy, class Code>
void count_warps(const Job<Code>& job, Worker<Code>& worker, std::uint64_t first, std::uint64_t last) {
  if (job.weight != nullptr && job.rays_before != nullptr) {
    replay_warps<policy>(job, worker, first, last, CountDetail<Code>());
  } else if (job.weight != nullptr) {
    replay_warps<policy>(job, worker, first, last, CountWeights<Code>());
  } else if (job.by_warp == nullptr && job.by_thread == nullptr) {
    replay_warps<policy>(job, worker, first, last, CountCalls<Code>());
  } else {
    replay_warps<policy>(job, worker, first, last, CountAll<Code>(job.cost));
  }
}

template <Policy policy, class Code>
void record_warp(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp) {
  Seat<policy, Code, Record<Code>> seat(job, worker, 0, Record<Code>());
  seat.start(warp);
  while (seat.step()) {
  }
}

template <class Code>
void count(const Job<Code>& job, Worker<Code>& worker, std::uint64_t first, std::uint64_t last) {
  switch (job.policy) {
    case Policy::StageMajority:
      return count_warps<Policy::StageMajority>(job, worker, first, last);
    case Policy::MinShader:
    case Policy::TraceBarrier:  // the lowest code too: only the order of codes differs
      return count_warps<Policy::MinShader>(job, worker, first, last);
    case Policy::OldestLane:
      return count_warps<Policy::OldestLane>(job, worker, first, last);
    case Policy::Independent:
      return count_warps<Policy::Independent>(job, worker, first, last);
  }
}

template <class Code>
void record(const Job<Code>& job, Worker<Code>& worker, std::uint64_t warp) {
  switch (job.policy) {
    case Policy::StageMajority:
      return record_warp<Policy::StageMajority>(job, worker, warp);
    case Policy::MinShader:
    case Policy::TraceBarrier:  // the lowest code too: only the order of codes differs
      return record_warp<Policy::MinShader>(job, worker, warp);
    case Policy::OldestLane:
      return record_warp<Policy::OldestLane>(job, worker, warp);
    case Policy::Independent:
      return record_warp<Policy::Independent>(job, worker, warp);
  }
}

template <class Code>
inline constexpr Entries<Code> kEntries{&count<Code>, &encode<Code>, &record<Code>};

}  // namespace rayreplay::simt::kernel::RAYREPLAY_SIMT_KERNEL
