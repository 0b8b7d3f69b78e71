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
#include "sim/experiment/overlapped_sink.hpp"
#include "sim/experiment/whatif.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::experiment {
namespace {

using machine::Machine;
using memory::CacheGeometry;

constexpr std::uint32_t kCountedItems = 256;  // made at a time, when requests are counted
constexpr const char* kAuto = "auto";
constexpr const char* kCaptured = "captured";
constexpr const char* kLaunch = "launch";
constexpr const char* kIdentity = "identity";

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

/// How a launch's threads are packed into warps.
struct Placement {
  std::string order, packing;  ///< specs
  bool order_asked = false;    ///< it is another than what the trace would have by itself
  scheduler::WarpAssignment in_order, packed;
};

/// Why the captured warps are not taken though the trace has them; "": they are.
std::string reason_not_captured(const Placement& placement, const machine::WorkPlan& plan) {
  if (parse_spec(placement.order).name != kCaptured || placement.packing != kIdentity) {
    return "another order or packing of threads was asked for";
  }
  std::size_t used = 0;
  for (std::size_t queue = 0; queue < plan.queues(); ++queue) {
    used += plan.queue_begin[queue] != plan.queue_begin[queue + 1] ? 1U : 0U;
  }
  return used > 1 || plan.queues() == 1 ? "" : "the capture saw one SM alone, as software devices have";
}

class Planner {
 public:
  Planner(const trace::Launch& launch, const Placement& placement, CacheResult& result)
      : launch_(&launch), placement_(&placement), result_(&result) {}

  [[nodiscard]] machine::WorkPlan plan(const std::string& schedule) {
    if (schedule != kAuto) {
      return noted(by(schedule));
    }
    if (!launch_->thread_warp.empty() && launch_->groups.size() > 0) {
      try {
        machine::WorkPlan plan = by(kCaptured);
        const std::string reason = reason_not_captured(*placement_, plan);
        if (reason.empty()) {
          return noted(std::move(plan));
        }
        add_note("not by the captured SMs: " + reason);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::Missing && error.kind() != ErrorKind::Usage) {
          throw;
        }
        add_note(std::string("not by the captured SMs: ") + error.what());
      }
    }
    return noted(by(kLaunch));
  }

 private:
  /// Whether another order of the threads would have given another plan.
  [[nodiscard]] bool uses_assignment(const machine::WorkPlan& plan) const {
    scheduler::WarpAssignment other = placement_->packed;
    std::ranges::reverse(other.thread_at);
    const auto model = machine::WorkDistributions::create(result_->schedule).model;
    return model->plan(*launch_, other, result_->machine.sms).thread_at != plan.thread_at;
  }

  void add_note(const std::string& note) {
    if (!note.empty()) {
      result_->schedule_note += (result_->schedule_note.empty() ? "" : "; ") + note;
    }
  }

  /// The plan that is taken.
  machine::WorkPlan noted(machine::WorkPlan plan) {
    add_note(plan.note);
    if (placement_->order_asked && !uses_assignment(plan)) {
      add_note("the order changes nothing: this schedule has one of its own");
    }
    if (placement_->packing != kIdentity) {
      const auto model = machine::WorkDistributions::create(result_->schedule).model;
      if (model->plan(*launch_, placement_->in_order, result_->machine.sms).thread_at == plan.thread_at) {
        add_note("the packing changes nothing: this schedule makes warps of its own");
      }
    }
    return plan;
  }

  machine::WorkPlan by(const std::string& spec) {
    const auto created = machine::WorkDistributions::create(spec);
    const std::uint32_t sms = result_->machine.sms;
    machine::WorkPlan plan = created.model->plan(*launch_, placement_->packed, sms);
    machine::check(plan, launch_->size.threads(), sms);
    result_->schedule = created.spec;
    result_->captured_sms = parse_spec(created.spec).name == kCaptured;
    return plan;
  }

  const trace::Launch* launch_;
  const Placement* placement_;
  CacheResult* result_;
};

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
  Placement placement{configuration.order, result.packing, false, {}, {}};
  const char* const unasked = launch.thread_warp.empty() ? "z-order" : kCaptured;
  placement.order_asked = scheduler::LaunchOrders::create(unasked).spec != configuration.order;
  placement.in_order =
      scheduler::LaunchOrders::create(configuration.order).model->assign(launch, configuration.warp_size);
  if (options.accelerator != nullptr) {
    kernels::LaunchOnDevice on_device(*options.accelerator, launch);
    placement.packed = pack(launch, placement.in_order, result.packing, &on_device);
  } else {
    placement.packed = pack(launch, placement.in_order, result.packing);
  }
  const machine::WorkPlan plan = Planner(launch, placement, result).plan(options.schedule);

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
  result.analysis_s = overlapped.seconds();
  for (const memory::PixelSums& pixel : result.analysis.pixels) {
    result.requests.merge(pixel.requests);
  }
  result.tally = source->tally();
  return result;
}

}  // namespace rayreplay::experiment
