// The interface between the replayer and its inner loops.
//
// Contract: a kernel replays the warps [first, last) of a job and adds its counts to the worker's sums. The loops
// (body.hpp) are compiled once per instruction set, each in its own namespace and file. The replayer picks the best
// that the machine supports; all give the same integers. The machine may not support the flags of those files, so they
// must not define inline functions that the linker could merge with others: they use plain pointers, and everything
// that allocates or throws is one of the functions below, built for every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/simt/replayer.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::simt::kernel {

/// The code of an empty queue, and of ray events that are no warp events. Greater than every call's. Narrow codes index
/// the bits of a word, so that one word holds the calls at the heads of a warp.
template <class Code>
inline constexpr Code kNoCall = 0xFFFF;
template <>
inline constexpr std::uint8_t kNoCall<std::uint8_t> = 63;

/// A shader's codes are adjacent, one per kind: index shader << kKindBits | kind.
inline constexpr unsigned kKindBits = 4;
static_assert(trace::kEventKinds <= (std::size_t{1} << kKindBits));

struct CallSum {
  std::uint64_t warp_events = 0;
  std::uint64_t active_lanes = 0;
};

/// A call's weight in each table of a segment replay; 0 in missing tables.
struct WeightsOfCall {
  std::uint32_t of[kMaxWeights];
};

/// Additional sums of a segment replay's detail (segment_replay.hpp).
struct Detail {
  std::uint64_t active_lanes[scheduler::kMaxWarpSize + 1];
  Tally by_bounce[kBounces][trace::kEventKinds];
};

/// Queues of many short threads, translated before any warp runs. Each thread has a slot, so that one memory access
/// finds its queue. A queue that fits is in the slot with its closing kNoCall, and the slot's last code is also
/// kNoCall. For a longer queue, the slot's first eight bytes are its index among the long ones, and the last code is 0.
/// A slot has at least eight codes, a power of two.
template <class Code>
struct ReadyQueues {
  Code* slots = nullptr;
  std::uint64_t slot_codes = 0;
  Code* long_queues = nullptr;  ///< a thread's is at event_offset[thread] + thread
};

/// Shared by all warps of a launch. Pointers refer to the launch, the assignment, and the replayer's tables. A segment
/// replay has segments in the role of threads.
template <class Code>
struct Job {
  const trace::EventKind* kind = nullptr;
  const std::uint16_t* shader = nullptr;
  std::uint64_t events = 0;
  const std::uint64_t* event_offset = nullptr;
  std::uint64_t threads = 0;
  const std::uint32_t* thread_at = nullptr;
  std::uint64_t places = 0;  ///< entries of thread_at
  std::uint32_t warp_size = 0;
  Policy policy = Policy::StageMajority;
  const Code* code_of = nullptr;          ///< by shader << kKindBits | kind
  Code favoured = 0;                      ///< lower codes are the policy's favoured calls (call_dictionary.hpp)
  const std::uint32_t* cost = nullptr;    ///< by code; read for by_warp, by_thread and detail only
  Tally* by_warp = nullptr;               ///< by warp, or null
  Tally* by_thread = nullptr;             ///< by thread, or null
  ReadyQueues<Code> ready;                ///< without slots: a warp's queues are translated just before its replay
  const WeightsOfCall* weight = nullptr;  ///< by code; null: a replay of threads, without the members below
  std::uint64_t tables = 0;
  std::uint64_t* weights_of_warp = nullptr;   ///< warp · tables + table
  const trace::EventKind* kind_of = nullptr;  ///< by code
  const std::uint8_t* rays_before = nullptr;  ///< by thread: rays begun before its first event; null: no detail
};

struct CodedEvent {
  std::uint32_t code;
  std::uint64_t mask;
};

/// Buffers of one of the two warps that a worker replays side by side (body.hpp).
template <class Code>
struct WarpMemory {
  Code* codes = nullptr;  ///< the queues; grows with the longest
  std::size_t capacity = 0;
  std::uint8_t* slot_of = nullptr;  ///< wide codes only: a byte per code, each below 64 (waiting_table.hpp)
};

template <class Code>
struct Worker {
  CallSum* sums = nullptr;    ///< by code
  Detail* detail = nullptr;   ///< if the job wants detail
  WarpMemory<Code> warps[2];  // NOLINT(modernize-avoid-c-arrays): see .clang-tidy in this folder
  void* owner = nullptr;      ///< for grow and append only
};

void grow(Worker<std::uint8_t>& worker, unsigned which, std::size_t codes);
void grow(Worker<std::uint16_t>& worker, unsigned which, std::size_t codes);
void append(Worker<std::uint8_t>& worker, CodedEvent event);
void append(Worker<std::uint16_t>& worker, CodedEvent event);
[[noreturn]] void fail_unknown_thread(std::uint64_t place, std::uint32_t thread, std::uint64_t threads);

template <class Code>
struct Entries {
  void (*count)(const Job<Code>&, Worker<Code>&, std::uint64_t first, std::uint64_t last);
  /// Writes the queues of these threads.
  void (*encode)(const Job<Code>&, const ReadyQueues<Code>&, std::uint64_t first, std::uint64_t last);
  /// Appends the events of one warp, in order.
  void (*record)(const Job<Code>&, Worker<Code>&, std::uint64_t warp);
};

/// One instruction set's kernels: narrow codes for up to 63 calls, wide ones for more.
struct Kernel {
  const char* name;
  Entries<std::uint8_t> narrow;
  Entries<std::uint16_t> wide;
};

/// The kernels that this machine supports, the fastest first; the last is the portable one.
[[nodiscard]] std::span<const Kernel* const> kernels();

/// As simt::replay, with a given kernel.
[[nodiscard]] ReplayResult replay_on(const Kernel& kernel, const trace::Launch& launch,
                                     const std::vector<trace::Shader>& shaders,
                                     const scheduler::WarpAssignment& assignment, const ReplayOptions& options);
[[nodiscard]] std::vector<WarpEvent> replay_warp_on(const Kernel& kernel, const trace::Launch& launch,
                                                    const std::vector<trace::Shader>& shaders,
                                                    const scheduler::WarpAssignment& assignment, std::size_t warp,
                                                    Policy policy);
[[nodiscard]] SegmentReplayResult replay_segments_on(const Kernel& kernel, const trace::Launch& launch,
                                                     const std::vector<trace::Shader>& shaders,
                                                     const scheduler::Segments& segments,
                                                     std::span<const std::uint32_t> segment_at, std::uint32_t warp_size,
                                                     const SegmentReplayOptions& options);

}  // namespace rayreplay::simt::kernel
