#include "sim/simt/segment_replay.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "base/report_progress.hpp"
#include "sim/simt/call_dictionary.hpp"
#include "sim/simt/job.hpp"
#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt {
namespace {

using kernel::WeightsOfCall;

void check_tables(const std::vector<CallWeights>& tables, std::size_t shaders) {
  const std::size_t entries = shaders * trace::kEventKinds;
  if (tables.size() > kMaxWeights) {
    throw Error(ErrorKind::Internal, {"too many tables of weights for one replay", "weights",
                                      std::to_string(tables.size()), "at most " + std::to_string(kMaxWeights), ""});
  }
  for (const CallWeights& table : tables) {
    if (table.size() != entries) {
      throw Error(ErrorKind::Internal,
                  {"a table of weights does not fit the shaders", "weights", std::to_string(table.size()) + " entries",
                   std::to_string(entries) + ", one for each kind of each shader", ""});
    }
  }
}

std::vector<WeightsOfCall> weights_by_code(const CallDictionary& dictionary, const std::vector<CallWeights>& tables) {
  std::vector<WeightsOfCall> weights(dictionary.calls.size());
  for (std::size_t code = 0; code < weights.size(); ++code) {
    const Call call = dictionary.calls[code];
    for (std::size_t table = 0; table < tables.size(); ++table) {
      weights[code].of[table] =
          tables[table][std::size_t{call.shader} * trace::kEventKinds + static_cast<std::size_t>(call.kind)];
    }
  }
  return weights;
}

std::vector<trace::EventKind> kinds_by_code(const CallDictionary& dictionary) {
  std::vector<trace::EventKind> kinds;
  for (const Call call : dictionary.calls) {
    kinds.push_back(call.kind);
  }
  return kinds;
}

template <class Code>
void take_detail(const Workers<Code>& workers, SegmentReplayResult& result) {
  result.by_bounce.resize(kBounces);
  for (const WorkerMemory<Code>& memory : workers) {
    for (const kernel::Detail& detail : memory.detail) {
      for (std::size_t lanes = 0; lanes < result.active_lanes.size(); ++lanes) {
        result.active_lanes[lanes] += detail.active_lanes[lanes];
      }
      for (std::size_t bounce = 0; bounce < kBounces; ++bounce) {
        for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
          result.by_bounce[bounce][kind] += detail.by_bounce[bounce][kind];
        }
      }
    }
  }
  trim_bounces(result);
}

/// Queues of all pieces. A replay of threads translates a warp's events just before its replay, which reads the trace
/// once, in one sweep for each thread. Segments are short and scattered: each would miss on its offset, its kinds, its
/// shaders and their pages. So the trace is translated in its own order, before the warps run.
template <class Code>
class QueueMemory {
 public:
  QueueMemory(const kernel::Entries<Code>& entries, const kernel::Job<Code>& job) {
    // Twice the mean fits most queues; untouched memory for long queues costs nothing.
    const std::uint64_t mean = (job.events + job.threads) / std::max<std::uint64_t>(job.threads, 1);
    ready_.slot_codes = std::bit_ceil(std::clamp<std::uint64_t>(2 * mean, kMinSlot, kMaxSlot));
    slots_.resize(job.threads * ready_.slot_codes);
    prefer_huge_pages(slots_);
    long_queues_.resize(job.events + job.threads);
    ready_.slots = slots_.data();
    ready_.long_queues = long_queues_.data();
    constexpr std::size_t kPiecesPerTask = 8192;
    oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, job.threads, kPiecesPerTask),
                              [&](const auto& range) { entries.encode(job, ready_, range.begin(), range.end()); });
  }
  [[nodiscard]] const kernel::ReadyQueues<Code>& ready() const {
    return ready_;
  }

 private:
  static constexpr std::uint64_t kMinSlot = 8;
  static constexpr std::uint64_t kMaxSlot = 64;

  kernel::ReadyQueues<Code> ready_;
  trace::Column<Code> slots_;
  trace::Column<Code> long_queues_;
};

template <class Code>
void replay_pieces(const kernel::Entries<Code>& entries, const CallDictionary& dictionary, const Pieces& pieces,
                   std::size_t shaders, const trace::Column<std::uint8_t>& rays_before,
                   const SegmentReplayOptions& options, SegmentReplayResult& result) {
  const std::vector<WeightsOfCall> weights = weights_by_code(dictionary, options.weights);
  const std::vector<trace::EventKind> kinds = kinds_by_code(dictionary);
  result.weights.resize(pieces.warps() * options.weights.size());
  PreparedJob<Code> prepared = prepare<Code>(dictionary, shaders, pieces, options.policy, options.shader_cost);
  if (options.detail || !options.weights.empty()) {
    prepared.job.weight = weights.data();
    prepared.job.tables = options.weights.size();
    prepared.job.weights_of_warp = result.weights.data();
    prepared.job.kind_of = kinds.data();
    prepared.job.rays_before = options.detail ? rays_before.data() : nullptr;
  }
  const QueueMemory<Code> queues(entries, prepared.job);
  prepared.job.ready = queues.ready();
  const std::size_t calls = dictionary.calls.size();
  const auto workers = run(entries, prepared.job, calls, options.progress);
  derive_from_calls(dictionary, sums_by_call(*workers, calls), shaders, options.shader_cost, result.replay);
  if (options.detail) {
    take_detail(*workers, result);
  }
}

}  // namespace

trace::Column<std::uint8_t> rays_before_segments(const trace::Launch& launch, const scheduler::Segments& segments) {
  trace::Column<std::uint8_t> before(segments.size());
  constexpr std::size_t kThreadsPerTask = 1024;
  oneapi::tbb::parallel_for(
      oneapi::tbb::blocked_range<std::size_t>(0, launch.data.threads(), kThreadsPerTask), [&](const auto& range) {
        for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
          std::uint64_t rays = 0;
          for (std::uint32_t segment = segments.first[thread]; segment < segments.first[thread + 1]; ++segment) {
            before[segment] = static_cast<std::uint8_t>(std::min<std::uint64_t>(rays, kBounces));
            for (std::uint64_t row = segments.event_offset[segment]; row < segments.event_offset[segment + 1]; ++row) {
              rays += trace::begins_ray(launch.data.events.kind[row]) ? 1U : 0U;
            }
          }
        }
      });
  return before;
}

void trim_bounces(SegmentReplayResult& result) {
  const std::array<Tally, trace::kEventKinds> nothing{};
  while (!result.by_bounce.empty() && result.by_bounce.back() == nothing) {
    result.by_bounce.pop_back();
  }
}

void check_segment_replay(const std::vector<trace::Shader>& shaders, std::span<const std::uint32_t> segment_at,
                          std::uint32_t warp_size, const SegmentReplayOptions& options) {
  check_replay_inputs(shaders.size(), warp_size, options.shader_cost);
  check_tables(options.weights, shaders.size());
  if (segment_at.size() % warp_size != 0) {
    throw Error(ErrorKind::Internal,
                {"places of segments do not fill their warps", "segment schedule",
                 std::to_string(segment_at.size()) + " places", "whole warps of " + std::to_string(warp_size), ""});
  }
}

SegmentReplayResult replay_segments(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                    const scheduler::Segments& segments, std::span<const std::uint32_t> segment_at,
                                    std::uint32_t warp_size, const SegmentReplayOptions& options) {
  const auto on_cpu = [&] {
    return kernel::replay_segments_on(*kernel::kernels().front(), launch, shaders, segments, segment_at, warp_size,
                                      options);
  };
  check_segment_replay(shaders, segment_at, warp_size, options);
  return replay_segments_twin.run(trace::accelerator_of(options.on_device), on_cpu, launch, shaders, segments,
                                  segment_at, warp_size, options);
}

namespace kernel {

SegmentReplayResult replay_segments_on(const Kernel& kernel, const trace::Launch& launch,
                                       const std::vector<trace::Shader>& shaders, const scheduler::Segments& segments,
                                       std::span<const std::uint32_t> segment_at, std::uint32_t warp_size,
                                       const SegmentReplayOptions& options) {
  check_segment_replay(shaders, segment_at, warp_size, options);
  const Pieces pieces{launch.data.events, segments.event_offset, segment_at, warp_size};
  report_start(options.progress, "replay of segments", pieces.warps());
  SegmentReplayResult result;
  result.replay.warp_size = warp_size;
  result.replay.policy = options.policy;
  const trace::Column<std::uint8_t> rays_before =
      options.detail ? rays_before_segments(launch, segments) : trace::Column<std::uint8_t>();
  const CallDictionary dictionary = make_call_dictionary(launch, shaders, options.policy);
  if (dictionary.narrow()) {
    replay_pieces(kernel.narrow, dictionary, pieces, shaders.size(), rays_before, options, result);
  } else {
    replay_pieces(kernel.wide, dictionary, pieces, shaders.size(), rays_before, options, result);
  }
  report_finish(options.progress);
  return result;
}

}  // namespace kernel

namespace {

/// One warp's replay, reusable.
class WarpCounter {
 public:
  virtual ~WarpCounter() = default;
  virtual std::array<std::uint64_t, kMaxWeights> count(std::span<const std::uint32_t> segment_at) = 0;
};

template <class Code>
class CounterOf final : public WarpCounter {
 public:
  CounterOf(const kernel::Entries<Code>& entries, const CallDictionary& dictionary, const Pieces& pieces,
            std::size_t shaders, const SegmentReplayOptions& options)
      : entries_(entries),
        weights_(weights_by_code(dictionary, options.weights)),
        prepared_(prepare<Code>(dictionary, shaders, pieces, options.policy, options.shader_cost)),
        memory_(dictionary.calls.size()) {
    prepared_.job.weight = weights_.data();
    prepared_.job.tables = kMaxWeights;
    prepared_.job.weights_of_warp = sums_.data();
  }
  std::array<std::uint64_t, kMaxWeights> count(std::span<const std::uint32_t> segment_at) override {
    prepared_.job.thread_at = segment_at.data();
    prepared_.job.places = segment_at.size();
    kernel::Worker<Code> worker = memory_.worker(false);
    entries_.count(prepared_.job, worker, 0, 1);
    return sums_;
  }

 private:
  kernel::Entries<Code> entries_;
  std::vector<WeightsOfCall> weights_;
  PreparedJob<Code> prepared_;
  WorkerMemory<Code> memory_;
  std::array<std::uint64_t, kMaxWeights> sums_{};
};

}  // namespace

struct WarpWeigher::State {
  std::uint32_t warp_size;
  std::unique_ptr<WarpCounter> counter;
};

WarpWeigher::WarpWeigher(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                         const scheduler::Segments& segments, std::uint32_t warp_size,
                         const SegmentReplayOptions& options)
    : state_(std::make_unique<State>()) {
  check_replay_inputs(shaders.size(), warp_size, options.shader_cost);
  check_tables(options.weights, shaders.size());
  const Pieces pieces{launch.data.events, segments.event_offset, {}, warp_size};
  const CallDictionary dictionary = make_call_dictionary(launch, shaders, options.policy);
  const kernel::Kernel& kernel = *kernel::kernels().front();
  state_->warp_size = warp_size;
  if (dictionary.narrow()) {
    state_->counter =
        std::make_unique<CounterOf<std::uint8_t>>(kernel.narrow, dictionary, pieces, shaders.size(), options);
  } else {
    state_->counter =
        std::make_unique<CounterOf<std::uint16_t>>(kernel.wide, dictionary, pieces, shaders.size(), options);
  }
}

WarpWeigher::~WarpWeigher() = default;

std::array<std::uint64_t, kMaxWeights> WarpWeigher::weigh(std::span<const std::uint32_t> segment_at) {
  if (segment_at.size() != state_->warp_size) {
    throw Error(ErrorKind::Internal,
                {"a warp to be weighed has the wrong size", "warp", std::to_string(segment_at.size()) + " places",
                 std::to_string(state_->warp_size), ""});
  }
  return state_->counter->count(segment_at);
}

}  // namespace rayreplay::simt
