#include "sim/experiment/cache.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "sim/experiment/cache_parts.hpp"
#include "sim/experiment/launch_schedule.hpp"
#include "sim/experiment/overlapped_sink.hpp"
#include "sim/experiment/whatif.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint32_t kCountedItems = 256;  // made at a time, when requests are counted

/// Requests of all items, by making every stream once.
std::uint64_t count_requests(memory::WarpSource& source, Progress* progress) {
  if (progress != nullptr) {
    progress->start("counting requests", source.items());
  }
  std::vector<memory::WarpStream> streams(kCountedItems);
  std::vector<std::uint32_t> items(kCountedItems);
  std::uint64_t requests = 0;
  for (std::uint32_t first = 0; first < source.items(); first += kCountedItems) {
    const std::uint32_t count = std::min(kCountedItems, source.items() - first);
    std::iota(items.begin(), items.end(), first);
    source.generate(std::span(items).first(count), std::span(streams).first(count));
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const memory::Transaction& transaction : streams[i].transactions) {
        requests += transaction.lanes;
      }
    }
    if (progress != nullptr) {
      progress->advance(count);
    }
  }
  if (progress != nullptr) {
    progress->finish();
  }
  return requests;
}

}  // namespace

CacheResult run_cache(const trace::Trace& trace, const std::string& name, const Resolved& configuration,
                      const CacheOptions& options) {
  const trace::Launch& launch = trace.launches[configuration.launch];
  if (trace.scene.instances.empty()) {
    throw Error(ErrorKind::Missing, {"the trace has no scene to trace rays through", name, "", "", ""});
  }
  if (launch.tlas == trace::kNone) {
    throw Error(ErrorKind::Missing, {"which top-level structure the launch used is not known",
                                     fmt::format("{}:/launch/{}", name, configuration.launch), "", "", ""});
  }
  CacheResult result;
  result.machine = options.machine;
  result.trace_hash = trace.hash;
  result.application = trace.header.application;
  result.device = trace.header.device;
  result.size = launch.size;
  result.warp_size = configuration.warp_size;

  bvh::BvhOptions build = options.structure;
  build.progress = options.progress;
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, launch.tlas, name, build);
  result.builder = structure.builder;
  result.layout = structure.layout_spec;
  result.node_order = structure.node_order;
  result.vertex_order = structure.vertex_order;
  result.structure_bytes = structure.memory.end;
  result.ignored = structure.scene.ignored;
  if (options.take_structure) {
    options.take_structure(structure);
  }

  result.packing = scheduler::Packings::create(options.packing).spec;
  const scheduler::WarpAssignment in_order =
      scheduler::LaunchOrders::create(configuration.order).model->assign(launch, configuration.warp_size);
  scheduler::WarpAssignment packed;
  if (options.accelerator != nullptr) {
    trace::AcceleratedLaunch on_device(*options.accelerator, launch);
    packed = pack(launch, in_order, result.packing, &on_device);
  } else {
    packed = pack(launch, in_order, result.packing);
  }
  LaunchSchedule scheduled = schedule_launch(launch, {configuration.order, result.packing, in_order, packed},
                                             options.schedule, result.machine.sms);
  const machine::WorkPlan& plan = scheduled.plan;
  result.schedule = scheduled.distribution;
  result.captured_sms = scheduled.captured_sms;
  result.schedule_note = scheduled.note;

  memory::StreamOptions stream = options.stream;
  stream.warp_size = configuration.warp_size;
  stream.coalescing.requests = wants_requests(options);
  stream.coalescing.keep_raw = options.make_raw != nullptr;
  const auto source = memory::make_launch_source(trace, launch, structure, plan.thread_at, stream);
  result.warp_traversal = source->warp_traversal();
  result.allocations = source->allocations();
  result.options = options;
  result.options.structure.builder = result.builder;
  result.options.structure.layout = result.layout;
  result.options.structure.node_order = result.node_order;
  result.options.structure.vertex_order = result.vertex_order;
  result.options.structure.leaf_size = 0;  // the builder's spec says it
  result.options.schedule = result.schedule;
  result.options.packing = result.packing;
  result.options.stream = stream;
  result.options.stream.warp_traversal = result.warp_traversal;
  result.options.reuse_engine = memory::ReuseEngines::create(options.reuse_engine).spec;
  result.options.resident_warps =
      options.resident_warps > 0
          ? options.resident_warps
          : machine::resident_warps(result.machine, configuration.warp_size, options.registers_per_thread);

  memory::AnalysisOptions analysis_options = analysis_of(options, result, stream.coalescing, launch.size.threads());
  analysis_options.pixels = options.pixels || options.request_sums ? launch.size.threads() : 0;
  const auto start = std::chrono::steady_clock::now();
  if (options.windows > 1) {
    // Another source: what the first one tallies is of one pass.
    memory::StreamOptions counted = stream;
    counted.coalescing.requests = false;
    counted.coalescing.keep_raw = false;
    analysis_options.window_limits =
        window_limits(count_requests(*memory::make_launch_source(trace, launch, structure, plan.thread_at, counted),
                                     options.progress),
                      options.windows);
  }

  memory::Analysis analysis(analysis_options);
  OverlappedSink overlapped(analysis);
  WindowGuard guard(options.window_requests, overlapped);
  machine::InterleaveOptions interleaving;
  interleaving.warp_scheduler = options.warp_scheduler;
  interleaving.resident_warps = result.options.resident_warps;
  interleaving.compute_cycles = options.compute_cycles;
  interleaving.cycles = true;
  interleaving.raw = options.make_raw ? options.make_raw(result) : nullptr;
  interleaving.progress = options.progress;
  result.interleaved = machine::interleave(*source, plan, result.machine, interleaving, guard);
  overlapped.finish();
  result.stream_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.options.warp_scheduler = result.interleaved.warp_scheduler;
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
