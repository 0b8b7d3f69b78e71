// A replay's job and its workers' memory, shared by replays of threads and of segments.
//
// Contract: `Pieces` are runs of consecutive event rows, each one queue, and their places in warps: the threads of a
// launch and an assignment, or segments. `prepare` makes the kernel's job, with sums by call only. `run` replays all
// warps in parallel and returns those sums.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/progress_sink.hpp"
#include "sim/simt/call_dictionary.hpp"
#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt {

struct Pieces {
  const trace::Events& events;
  std::span<const std::uint64_t> event_offset;  ///< pieces + 1
  std::span<const std::uint32_t> piece_at;      ///< by place, kNoThread: empty; whole warps
  std::uint32_t warp_size = 0;

  [[nodiscard]] std::size_t count() const {
    return event_offset.empty() ? 0 : event_offset.size() - 1;
  }
  [[nodiscard]] std::size_t warps() const {
    return piece_at.size() / warp_size;
  }
};

/// Storage of a Worker. Aligned, so that two workers never write to one cache line.
template <class Code>
struct WorkerMemory {
  template <class T>
  using Aligned = std::vector<T, oneapi::tbb::cache_aligned_allocator<T>>;

  explicit WorkerMemory(std::size_t calls) : sums(calls) {
    for (auto& slots : slot_of) {
      slots.resize(std::is_same_v<Code, std::uint16_t> ? calls : 0);
    }
  }

  Aligned<kernel::CallSum> sums;
  std::array<Aligned<Code>, 2> codes;
  std::array<Aligned<std::uint8_t>, 2> slot_of;
  Aligned<kernel::Detail> detail;  ///< one if the job wants it
  std::vector<kernel::CodedEvent> recorded;

  kernel::Worker<Code> worker(bool with_detail) {
    if (with_detail && detail.empty()) {
      detail.resize(1);
    }
    return {
        sums.data(),
        detail.data(),
        {{codes[0].data(), codes[0].size(), slot_of[0].data()}, {codes[1].data(), codes[1].size(), slot_of[1].data()}},
        this};
  }
};

/// A job with its tables.
template <class Code>
struct PreparedJob {
  kernel::Job<Code> job;
  std::vector<Code> code_of;
  std::vector<std::uint32_t> cost;
};

/// `shader_cost`: as in ReplayOptions.
template <class Code>
PreparedJob<Code> prepare(const CallDictionary& dictionary, std::size_t shaders, const Pieces& pieces, Policy policy,
                          const std::vector<std::uint32_t>& shader_cost) {
  PreparedJob<Code> prepared;
  prepared.code_of.assign(shaders << kernel::kKindBits, kernel::kNoCall<Code>);
  for (std::size_t code = 0; code < dictionary.calls.size(); ++code) {
    const Call call = dictionary.calls[code];
    prepared.code_of[static_cast<std::size_t>(call.shader) << kernel::kKindBits | static_cast<std::size_t>(call.kind)] =
        static_cast<Code>(code);
    prepared.cost.push_back(shader_cost.empty() ? 1 : shader_cost[call.shader]);
  }
  kernel::Job<Code>& job = prepared.job;
  job.kind = pieces.events.kind.data();
  job.shader = pieces.events.shader.data();
  job.events = pieces.events.size();
  job.event_offset = pieces.event_offset.data();
  job.threads = pieces.count();
  job.thread_at = pieces.piece_at.data();
  job.places = pieces.piece_at.size();
  job.warp_size = pieces.warp_size;
  job.policy = policy;
  job.code_of = prepared.code_of.data();
  job.favoured = static_cast<Code>(dictionary.favoured);
  job.cost = prepared.cost.data();
  return prepared;
}

template <class Code>
using Workers = oneapi::tbb::enumerable_thread_specific<WorkerMemory<Code>>;

/// Owns what the workers counted.
template <class Code>
std::unique_ptr<Workers<Code>> run(const kernel::Entries<Code>& entries, const kernel::Job<Code>& job,
                                   std::size_t calls, Progress* progress) {
  auto workers = std::make_unique<Workers<Code>>(calls);
  // Large enough to hide the task overhead, small enough to balance long threads.
  constexpr std::size_t kWarpsPerTask = 32;
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, job.places / job.warp_size, kWarpsPerTask),
                            [&](const auto& range) {
                              kernel::Worker<Code> worker = workers->local().worker(job.rays_before != nullptr);
                              entries.count(job, worker, range.begin(), range.end());
                              sink_of(progress).advance(range.size());
                            });
  return workers;
}

template <class Code>
std::vector<kernel::CallSum> sums_by_call(const Workers<Code>& workers, std::size_t calls) {
  std::vector<kernel::CallSum> sums(calls);
  for (const WorkerMemory<Code>& memory : workers) {
    for (std::size_t code = 0; code < sums.size(); ++code) {
      sums[code].warp_events += memory.sums[code].warp_events;
      sums[code].active_lanes += memory.sums[code].active_lanes;
    }
  }
  return sums;
}

/// Sets everything in `result` but warps and threads.
void derive_from_calls(const CallDictionary& dictionary, const std::vector<kernel::CallSum>& sums, std::size_t shaders,
                       const std::vector<std::uint32_t>& shader_cost, ReplayResult& result);

/// Usage for a warp size out of range or a cost table that does not fit.
void check_replay_inputs(std::size_t shaders, std::uint32_t warp_size, const std::vector<std::uint32_t>& shader_cost);
/// As above, and Internal for an assignment whose places are not whole warps.
void check_thread_replay(const std::vector<trace::Shader>& shaders, const scheduler::WarpAssignment& assignment,
                         const ReplayOptions& options);
/// As above for segments, and Internal for tables of weights of the wrong size.
void check_segment_replay(const std::vector<trace::Shader>& shaders, std::span<const std::uint32_t> segment_at,
                          std::uint32_t warp_size, const SegmentReplayOptions& options);

/// By segment: rays that its thread began earlier, at most kBounces.
trace::Column<std::uint8_t> rays_before_segments(const trace::Launch& launch, const scheduler::Segments& segments);
/// Removes empty bounces from the end.
void trim_bounces(SegmentReplayResult& result);

}  // namespace rayreplay::simt
