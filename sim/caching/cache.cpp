#include "sim/caching/cache.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/report_progress.hpp"
#include "base/stopwatch.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/caching/overlapped_sink.hpp"
#include "sim/launch/launch_stream.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint32_t kCountedItems = 256;  // generated at a time, to count requests

std::uint64_t requests_of(std::span<const memory::Transaction> transactions) {
  return std::accumulate(transactions.begin(), transactions.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const memory::Transaction& one) { return sum + one.lanes; });
}

/// Requests of all items; generates every stream once.
std::uint64_t count_requests(memory::WarpSource& source, Progress* progress) {
  report_start(progress, "counting requests", source.items());
  std::vector<memory::WarpStream> streams(kCountedItems);
  std::vector<std::uint32_t> items(kCountedItems);
  std::uint64_t requests = 0;
  for (std::uint32_t first = 0; first < source.items(); first += kCountedItems) {
    const std::uint32_t count = std::min(kCountedItems, source.items() - first);
    std::iota(items.begin(), items.end(), first);
    source.generate(std::span(items).first(count), std::span(streams).first(count));
    for (std::uint32_t i = 0; i < count; ++i) {
      requests += requests_of(streams[i].transactions);
    }
    report_advance(progress, count);
  }
  report_finish(progress);
  return requests;
}

class CountingSink final : public memory::TransactionSink {
 public:
  void take(const memory::TransactionBlock& block) override {
    requests += requests_of(block.transactions);
  }
  std::uint64_t requests = 0;
};

/// Of items that form while they run: a run for the count.
std::uint64_t count_formed_requests(const LaunchStream& stream, const machine::Machine& machine,
                                    machine::InterleaveOptions options, Progress* progress) {
  CountingSink counts;
  options.progress = progress;
  (void)machine::interleave(*stream.source, *stream.dispatcher, machine, options, counts);
  return counts.requests;
}

}  // namespace

CacheResult run_cache(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure,
                      const LaunchSchedule& schedule, const CacheOptions& options, const RegroupedLaunch* regrouped) {
  CacheResult result;
  result.machine = options.machine;
  result.trace_hash = trace.hash;
  result.application = trace.header.application;
  result.device = trace.header.device;
  result.size = launch.size;
  result.warp_size = options.stream.warp_size;
  result.builder = structure.builder;
  result.layout = structure.layout_spec;
  result.node_order = structure.node_order;
  result.vertex_order = structure.vertex_order;
  result.structure_bytes = structure.memory.read;
  result.ignored = structure.scene.ignored;
  result.schedule = schedule.distribution;
  result.captured_sms = schedule.captured_sms;
  result.schedule_note = schedule.note;

  memory::StreamOptions stream = options.stream;
  stream.coalescing.requests = wants_requests(options);
  stream.coalescing.keep_raw = options.make_raw != nullptr;
  const LaunchStream made = launch_stream(trace, launch, structure, schedule, regrouped, stream, result.machine);
  const auto& source = made.source;
  result.warp_traversal = source->warp_traversal();
  result.allocations = source->allocations();
  result.options = options;
  result.options.stream = stream;
  result.options.stream.warp_traversal = result.warp_traversal;
  result.options.reuse_engine = memory::ReuseEngines::create(options.reuse_engine).spec;

  memory::AnalysisOptions analysis_options = analysis_of(options, result, stream.coalescing, launch.size.threads());
  analysis_options.pixels = options.pixels || options.request_sums ? launch.size.threads() : 0;
  const Stopwatch watch;
  if (options.windows > 1) {
    // A second source, because the tally of the first must cover one pass only.
    memory::StreamOptions counted = stream;
    counted.coalescing.requests = false;
    counted.coalescing.keep_raw = false;
    const bool forms = regrouped != nullptr && regrouped->forming;
    counted.work = forms && counted.work;
    const LaunchStream again = launch_stream(trace, launch, structure, schedule, regrouped, counted, result.machine);
    analysis_options.window_limits =
        window_limits(forms ? count_formed_requests(again, result.machine, options.interleaving, options.progress)
                            : count_requests(*again.source, options.progress),
                      options.windows);
  }

  memory::Analysis analysis(analysis_options);
  OverlappedSink overlapped(analysis);
  WindowGuard guard(options.window_requests, overlapped);
  machine::InterleaveOptions interleaving = options.interleaving;
  interleaving.cycles = true;
  interleaving.raw = options.make_raw ? options.make_raw(result) : nullptr;
  interleaving.progress = options.progress;
  result.interleaved = machine::interleave(*source, *made.dispatcher, result.machine, interleaving, guard);
  overlapped.finish();
  result.stream_s = watch.seconds();
  result.options.interleaving.warp_scheduler = result.interleaved.warp_scheduler;
  result.analysis = analysis.finish();
  if (options.accelerator != nullptr) {
    options.accelerator->note_cpu("access stream", "warps are traversed and interleaved on the processor");
    options.accelerator->note_cpu("cache models", "those of one cache run on the processor");
  }
  result.analysis_s = overlapped.seconds();
  for (const memory::PixelSums& pixel : result.analysis.pixels) {
    result.requests.merge(pixel.requests);
  }
  result.tally = source->tally();
  return result;
}

}  // namespace rayreplay::experiment
