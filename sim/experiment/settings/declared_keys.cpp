#include "sim/experiment/settings/declared_keys.hpp"

#include <algorithm>
#include <utility>

#include "bvh/builder.hpp"
#include "bvh/bvh.hpp"
#include "bvh/layout.hpp"
#include "bvh/node_order.hpp"
#include "bvh/vertex_order.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/experiment/cache_parts.hpp"
#include "sim/experiment/settings/defaults.hpp"
#include "sim/experiment/settings/machine_settings.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/warp_scheduler.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/simt/policies/replay_policy.hpp"
#include "sim/workloads/workload.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::experiment {
namespace {

constexpr StageMask kInput = bit(Stage::Input);
constexpr StageMask kStructure = bit(Stage::Structure);
constexpr StageMask kAssignment = bit(Stage::Assignment);
constexpr StageMask kSimt = bit(Stage::Simt);
constexpr StageMask kModel = bit(Stage::Model);
constexpr StageMask kTraversal = bit(Stage::Traversal);
constexpr StageMask kStream = bit(Stage::Stream);
constexpr StageMask kCache = bit(Stage::Cache);

constexpr double kMostWhole = 4294967295.0;
constexpr double kMostResident = 1024;
constexpr double kMostRegisters = 1024;
constexpr double kMostComputeCycles = 1e6;
constexpr double kMostStackEntries = 1024;

/// What the list is written with: one call a key.
class List {
 public:
  ExperimentParameter& text(const char* key, std::string value, StageMask read_by, const char* meaning) {
    return add(key, std::move(value), "", meaning, read_by);
  }
  ExperimentParameter& spec(const char* key, std::string value, const char* kind, StageMask read_by,
                            const char* meaning) {
    ExperimentParameter& parameter = add(key, std::move(value), "", meaning, read_by);
    parameter.model_kind = kind;
    return parameter;
  }
  ExperimentParameter& whole(const char* key, std::int64_t value, const char* unit, double low, double high,
                             StageMask read_by, const char* meaning) {
    return ranged(add(key, value, unit, meaning, read_by), low, high);
  }
  ExperimentParameter& real(const char* key, double value, const char* unit, double low, double high, StageMask read_by,
                            const char* meaning) {
    return ranged(add(key, value, unit, meaning, read_by), low, high);
  }
  ExperimentParameter& flag(const char* key, bool value, StageMask read_by, const char* meaning) {
    return add(key, value, "", meaning, read_by);
  }
  /// With the range of the key that it inherits.
  void inherit(const char* key, const char* from, StageMask read_by, const char* meaning) {
    const auto inherited = std::find_if(list_.begin(), list_.end(),
                                        [from](const auto& parameter) { return parameter.declared.name == from; });
    Parameter declared = inherited->declared;
    declared.name = key;
    declared.text = meaning;
    list_.push_back({std::move(declared), read_by, from});
  }
  void append(const std::vector<ExperimentParameter>& parameters) {
    list_.insert(list_.end(), parameters.begin(), parameters.end());
  }
  [[nodiscard]] std::vector<ExperimentParameter> take() {
    return std::move(list_);
  }

 private:
  ExperimentParameter& add(const char* key, ParameterValue value, const char* unit, const char* meaning,
                           StageMask read_by) {
    ExperimentParameter parameter;
    parameter.declared.name = key;
    parameter.declared.default_value = std::move(value);
    parameter.declared.unit = unit;
    parameter.declared.text = meaning;
    parameter.read_by = read_by;
    list_.push_back(std::move(parameter));
    return list_.back();
  }
  static ExperimentParameter& ranged(ExperimentParameter& parameter, double low, double high) {
    parameter.declared.minimum = low;
    parameter.declared.maximum = high;
    return parameter;
  }

  std::vector<ExperimentParameter> list_;
};

void add_input(List& list) {
  list.text("trace", "", kInput, "Trace: a file; this or workload").is_path = true;
  list.spec("workload", "", workloads::Workload::kModelKind, kInput, "Synthetic workload in place of a trace");
  list.whole("launch", 0, "", 0, kMostWhole, kStructure | kAssignment, "Which launch of the trace");
  list.text("outputs", "simt", 0, "What is computed: any of simt, model, traversal, cache, structure").separator = ',';
}

void add_replay(List& list) {
  list.whole("warp_size", 0, "threads", 0, scheduler::kMaxWarpSize, kAssignment,
             "Threads of a warp; 0: the trace's, or 32 where it has none");
  list.spec("order", kAuto, scheduler::LaunchOrder::kModelKind, kAssignment,
            "Launch order; auto: captured where the trace has its warps, else z-order");
  list.spec("packing", "identity", scheduler::Packing::kModelKind, kAssignment,
            "How threads are packed into warps when they start");
  list.spec("policy", simt::to_string(simt::Policy::StageMajority), simt::ReplayPolicy::kModelKind, kSimt | kModel,
            "Which of a warp's pending calls runs next");
  list.whole("default_cost", 1, "cycles", 0, kMostWhole, kSimt | kModel,
             "Cycles of a shader call where costs says nothing: weights of SIMT efficiency");
  list.whole("registers_per_thread", 64, "registers", 1, kMostRegisters, kModel | kStream,
             "Registers of a thread: decide how many warps an SM holds");
  list.whole("costs.*", 1, "cycles", 0, kMostWhole, kSimt | kModel,
             "Cycles of a call of the shader: a stage (closest-hit), a name, or an id")
      .is_open = true;
  list.text("shader_costs.*", "", kModel,
            "Instructions of a call of the shader, for the time model: ISSUE, or ISSUE:LATENCY with cycles")
      .is_open = true;
}

void add_structure(List& list) {
  const bvh::BvhOptions defaults;
  list.spec("bvh.builder", defaults.builder, bvh::Builder::kModelKind, kStructure, "Builder");
  list.spec("bvh.layout", defaults.layout, bvh::Layout::kModelKind, kStructure, "Layout of nodes");
  list.spec("bvh.node_order", defaults.node_order, bvh::NodeOrder::kModelKind, kStructure, "Order of nodes in memory");
  list.spec("bvh.vertex_order", defaults.vertex_order, bvh::VertexOrder::kModelKind, kStructure,
            "Order of vertices in memory");
  list.whole("bvh.leaf_size", 0, "references", 0, kMostWhole, kStructure,
             "Most references of a leaf; 0: the builder's");
  list.spec("traversal.ray", "near-first", traversal::Traversal::kModelKind, kTraversal, "How a ray traverses");
  list.spec("traversal.warp", "while-while", traversal::WarpTraversal::kModelKind, kTraversal | kStream,
            "How a warp traverses");
}

void add_scheduler(List& list) {
  const ModelsConfiguration defaults;
  list.spec("scheduler.model", "plain", scheduler::SchedulerModel::kModelKind, kModel, "Scheduler model");
  list.text("scheduler.hints", "", kModel, "Coherence hints: NAME:BITS=FORMULA").separator = ';';
  ExperimentParameter& files =
      list.text("scheduler.hint_files", "", kModel, "Coherence hints from files: NAME:BITS=FILE");
  files.separator = ';';
  files.is_path = true;
  list.text("scheduler.cost_source", defaults.cost_source, kModel, "Costs of calls that shader_costs does not name")
      .declared.choices = {"default", "spirv", "captured"};
  list.real("scheduler.cycles_per_instruction", defaults.cycles_per_instruction, "cycles", 1,
            machine::kMostCyclesPerInstruction, kModel, "Latency where only instructions are known");
  list.real("scheduler.steps_per_ray", defaults.steps_per_ray, "visits", 0, machine::kMostSteps, kModel,
            "Visits of the ray-tracing unit for a ray");
  list.flag("scheduler.replay_steps", defaults.replay_steps, kModel,
            "Instead count them, ray by ray, in a rebuilt structure");
}

void add_machine(List& list) {
  list.text(kMachineName, kDefaultMachine, kModel | kStream, "Machine: a shipped one's name, or a TOML file").is_path =
      true;
  list.append(machine_parameters());
}

void add_stream(List& list) {
  const CacheOptions defaults;
  list.spec("schedule.distribution", kAuto, machine::WorkDistribution::kModelKind, kStream,
            "Work distribution: which warp runs where; auto: captured where the trace has warps on several SMs, else "
            "launch");
  list.spec("schedule.warp_scheduler", defaults.warp_scheduler, machine::WarpScheduler::kModelKind, kStream,
            "Which of an SM's ready warps issues next");
  list.whole("schedule.resident_warps", 0, "warps", 0, kMostResident, kStream,
             "Warps of an SM at once; 0: the machine's, by registers");
  list.whole("schedule.compute_cycles", 0, "cycles", 0, kMostComputeCycles, kStream,
             "Cycles that a warp computes between two of its accesses");
  list.whole("stream.stack_entries", defaults.stream.stack_entries, "entries", 0, kMostStackEntries, kStream,
             "Stack entries of a lane kept on chip, others are spilled; 0: all");
  list.whole("stream.payload_bytes", defaults.stream.payload_bytes, "bytes", 0, kMostSize, kStream,
             "Payload of a ray, multiple of 4; 0: it stays in registers");
  list.whole("stream.record_bytes", defaults.stream.record_bytes, "bytes", 0, kMostSize, kStream,
             "Stride of shader records; 0: not read");
  list.whole("stream.pixel_bytes", defaults.stream.pixel_bytes, "bytes", 0, kMostSize, kStream,
             "Written to the frame buffer when a thread ends; 0: nothing");
  list.whole("stream.load_bytes", defaults.stream.load_bytes, "bytes", 0, kMostSize, kStream,
             "Most bytes that a lane reads by one instruction; 0: any (a node is one instruction)");
  list.flag("stream.coalesce", defaults.stream.coalescing.coalesce, kStream,
            "Whether lanes that touch one line share a transaction; false: every lane counts");
}

void add_caches(List& list) {
  const char* const kind = memory::CacheModel::kModelKind;
  list.inherit("cache.l1.bytes", "machine.l1_bytes", kCache, "L1 of an SM that is asked about; 0: there is none");
  list.inherit("cache.l1.line_bytes", "machine.l1_line_bytes", kStream | kCache,
               "Its line, and the line into which accesses are coalesced");
  list.inherit("cache.l1.ways", "machine.l1_ways", kCache, "Its associativity; 0: fully associative");
  list.inherit("cache.l1.sector_bytes", "machine.l1_sector_bytes", kStream | kCache,
               "Its sector, and the sector into which accesses are coalesced");
  list.spec("cache.l1.model", "lru", kind, kCache,
            "Cache model of the L1s; stores go through and take no line unless the spec has write=back or "
            "allocate=true");
  list.inherit("cache.l2.bytes", "machine.l2_bytes", kCache, "L2 that is asked about; 0: there is none");
  list.inherit("cache.l2.line_bytes", "machine.l2_line_bytes", kCache, "Its line");
  list.inherit("cache.l2.ways", "machine.l2_ways", kCache, "Its associativity; 0: fully associative");
  list.inherit("cache.l2.sector_bytes", "machine.l2_sector_bytes", kCache, "Its sector");
  list.spec("cache.l2.model", "lru", kind, kCache,
            "Cache model of the L2; stores take lines and stay until evicted unless it has write=through, "
            "allocate=false");
  list.text("cache.l2_feed", "misses", kCache,
            "What the L2 gets: every access (all, as published), or what the L1s ask for (misses)")
      .declared.choices = {"all", "misses"};
}

}  // namespace

std::vector<ExperimentParameter> declared_keys() {
  List list;
  add_input(list);
  add_replay(list);
  add_structure(list);
  add_scheduler(list);
  add_machine(list);
  add_stream(list);
  add_caches(list);
  std::vector<ExperimentParameter> keys = list.take();
  for (ExperimentParameter& parameter : keys) {
    // A machine's L2 times the schedule and must be there; the one asked about need not be.
    if (parameter.declared.name == "cache.l2.bytes") {
      parameter.declared.minimum = 0;
    }
  }
  return keys;
}

}  // namespace rayreplay::experiment
