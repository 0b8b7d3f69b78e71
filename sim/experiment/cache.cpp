#include "sim/experiment/cache.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "kernels/launch_on_device.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "sim/experiment/cache_parts.hpp"
#include "sim/experiment/launch_schedule.hpp"
#include "sim/experiment/overlapped_sink.hpp"
#include "sim/experiment/whatif.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::experiment {
namespace {

using machine::Machine;
using memory::CacheGeometry;

constexpr std::uint32_t kCountedItems = 256;  // made at a time, when requests are counted
constexpr const char* kAuto = "auto";

/// Where a value was asked for: an option, or a key of a file.
std::string place_of(const CacheOptions& options, const std::string& key) {
  const auto found = options.where.find(key);
  if (found != options.where.end()) {
    return found->second;
  }
  std::string option = "--" + key;
  std::ranges::replace(option, '_', '-');
  return option;
}

/// `make()`; what it throws says where the value of this key was asked for.
template <class Make>
auto placed(const CacheOptions& options, const std::string& key, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    const auto found = options.where.find(key);
    if (found == options.where.end()) {
      throw;
    }
    ErrorInfo info = error.info();
    info.where = found->second + (info.where.empty() ? "" : ", " + info.where);
    throw Error(error.kind(), info);
  }
}

Machine asked_machine(const CacheOptions& options) {
  // What is wrong within a machine's file is said at its line.
  const auto known = machine::shipped_machines();
  return options.machine.find('/') == std::string::npos && !options.machine.ends_with(".toml") &&
                 std::ranges::find(known, options.machine) == known.end()
             ? placed(options, "machine", [&] { return machine::load_machine(options.machine); })
             : machine::load_machine(options.machine);
}

/// What `options` replace of a cache, checked. `key`: "l1" or "l2".
CacheGeometry replaced(const CacheGeometry& base, const std::string& text, const CacheOptions& options,
                       const std::string& key, const std::string& machine) {
  const std::string where = text.empty() ? fmt::format("machine '{}', {}", machine, key) : place_of(options, key);
  const CacheGeometry geometry = text.empty() ? base : memory::parse_geometry(text, base, where);
  if (geometry.bytes > 0) {
    memory::check(geometry, where);
  }
  const double most = key == "l1" ? machine::kMostL1Bytes : machine::kMostL2Bytes;
  if (static_cast<double>(geometry.bytes) > most) {  // the machine could not be written to a file
    throw Error(ErrorKind::Usage, {"the cache is too large", where, fmt::format("{} bytes", geometry.bytes),
                                   fmt::format("at most {:.0f} bytes", most), ""});
  }
  return geometry;
}

/// Sizes in memory that lanes read word by word.
void check_words(const CacheOptions& options, const char* key, std::uint32_t bytes) {
  constexpr std::uint32_t kWord = 4;
  if (bytes % kWord != 0) {
    throw Error(ErrorKind::Usage,
                {"the size is not a number of words", place_of(options, key), fmt::format("{} bytes", bytes),
                 fmt::format("a multiple of {}, 0 to {}", kWord, kMostSize), ""});
  }
}

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

Machine cache_machine(const CacheOptions& options) {
  Machine machine = asked_machine(options);
  const CacheGeometry l1 = replaced(l1_of(machine), options.l1, options, "l1", machine.name);
  const CacheGeometry l2 = replaced(l2_of(machine), options.l2, options, "l2", machine.name);
  if (l1.bytes == 0 && l2.bytes == 0) {
    throw Error(ErrorKind::Usage,
                {"the machine has no cache", "machine '" + machine.name + "'", "no L1, no L2", "one of them", ""});
  }
  machine.l1_bytes = l1.bytes;
  machine.l1_line_bytes = l1.line_bytes;
  machine.l1_ways = l1.ways;
  machine.l1_sector_bytes = l1.sector();
  machine.l2_bytes = l2.bytes;
  machine.l2_line_bytes = l2.line_bytes;
  machine.l2_ways = l2.ways;
  machine.l2_sector_bytes = l2.sector();
  if (options.sms > 0) {
    machine.sms = options.sms;
    machine.withheld_sms = std::min(machine.withheld_sms, machine.sms - 1);
  }
  return machine;
}

void check(const CacheOptions& options) {
  const Machine machine = cache_machine(options);
  const auto creates = [&options](const char* key, const auto& create) {
    placed(options, key, [&] { static_cast<void>(create()); });
  };
  creates("builder", [&] { return bvh::Builders::create(options.structure.builder); });
  creates("layout", [&] { return bvh::Layouts::create(options.structure.layout); });
  creates("node_order", [&] { return bvh::NodeOrders::create(options.structure.node_order); });
  creates("vertex_order", [&] { return bvh::VertexOrders::create(options.structure.vertex_order); });
  creates("warp_traversal", [&] { return traversal::WarpTraversals::create(options.stream.warp_traversal); });
  static_cast<void>(scheduler::Packings::create(options.packing));
  creates("warp_scheduler", [&] { return machine::WarpSchedulers::create(options.warp_scheduler); });
  creates("l1_model", [&] { return resolved_model(options.l1_model, memory::kL1); });
  creates("l2_model", [&] { return resolved_model(options.l2_model, memory::kL2); });
  creates("reuse_engine", [&] { return memory::ReuseEngines::create(options.reuse_engine); });
  if (options.schedule != kAuto) {
    creates("schedule", [&] { return machine::WorkDistributions::create(options.schedule); });
  }
  check_words(options, "payload_bytes", options.stream.payload_bytes);
  check_words(options, "load_bytes", options.stream.load_bytes);
  const bool has_l1 = machine.l1_bytes > 0;
  const std::string& geometry = has_l1 ? options.l1 : options.l2;
  memory::check(coalescing_of(options, machine),
                geometry.empty() ? fmt::format("machine '{}', {}", machine.name, has_l1 ? "L1" : "L2")
                                 : place_of(options, has_l1 ? "l1" : "l2"));
  if (options.windows > 1 && options.window_requests > 0) {
    throw Error(ErrorKind::Usage, {"time windows are either so many or so long", "--windows and --window-requests",
                                   "both", "one of the two", "leave one out"});
  }
}

CacheResult run_cache(const trace::Trace& trace, const std::string& name, const Resolved& configuration,
                      const CacheOptions& options) {
  check(options);
  const trace::Launch& launch = trace.launches[configuration.launch];
  if (trace.scene.instances.empty()) {
    throw Error(ErrorKind::Missing, {"the trace has no scene to trace rays through", name, "", "", ""});
  }
  if (launch.tlas == trace::kNone) {
    throw Error(ErrorKind::Missing, {"which top-level structure the launch used is not known",
                                     fmt::format("{}:/launch/{}", name, configuration.launch), "", "", ""});
  }
  CacheResult result;
  result.machine = cache_machine(options);
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
    kernels::LaunchOnDevice on_device(*options.accelerator, launch);
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
  stream.coalescing = coalescing_of(options, result.machine);
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
  result.options.l1_model = resolved_model(options.l1_model, memory::kL1);
  result.options.l2_model = resolved_model(options.l2_model, memory::kL2);
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
