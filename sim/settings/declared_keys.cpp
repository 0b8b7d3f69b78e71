#include "sim/settings/declared_keys.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bvh/builder.hpp"
#include "bvh/bvh.hpp"
#include "bvh/layout.hpp"
#include "bvh/node_order.hpp"
#include "bvh/vertex_order.hpp"
#include "capture/trace/pipeline_registers.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/machine/warp_scheduler.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "sim/settings/defaults.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/stage.hpp"
#include "sim/simt/policies/replay_policy.hpp"
#include "sim/workloads/workload.hpp"
#include "traversal/classification/classify.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::experiment {
namespace {

/// Stages that read a key: "assignment, model".
struct Readers {
  std::string names{};
  friend Readers operator|(const Readers& one, const Readers& other) {
    return {one.names + ", " + other.names};
  }
};
const Readers kInput{"input"};
const Readers kStructure{"structure"};
const Readers kAssignment{"assignment"};
const Readers kSimt{"simt"};
const Readers kModel{"model"};
const Readers kRegroup{"regrouping"};
const Readers kTraversal{"traversal"};
const Readers kStream{"stream"};
const Readers kCache{"cache, reuse"};
const Readers kReuse{"reuse"};
const Readers kClassify{"classification"};
const Readers kNoStage{};

// Groups of flags in a command's help.
constexpr const char* kWarps = "Warps";
constexpr const char* kReplay = "Replay";
constexpr const char* kStructures = "Structure";
constexpr const char* kTraversals = "Traversals";
constexpr const char* kSchedulers = "Scheduler models";
constexpr const char* kMachines = "Machine";
constexpr const char* kAccesses = "Accesses";
constexpr const char* kCaches = "Caches";
constexpr const char* kClassification = "Classification";
constexpr const char* kHardware = "Simulated hardware";

constexpr double kMaxWhole = 4294967295.0;
constexpr double kMaxResident = 1024;
constexpr double kMaxComputeCycles = 1e6;
constexpr double kMaxStackEntries = 1024;
constexpr double kMaxRequests = 9e18;
constexpr double kMaxShare = 1e6;
constexpr double kMaxUlps = 1e6;

/// The name of a flag's value in the help.
std::string type_of(const ExperimentParameter& parameter) {
  const ParameterValue& value = parameter.declared.default_value;
  return std::holds_alternative<bool>(value)           ? ""
         : std::holds_alternative<std::int64_t>(value) ? "N"
         : std::holds_alternative<double>(value)       ? "X"
         : !parameter.declared.choices.empty()         ? "NAME"
                                                       : "SPEC";
}

/// Builder of one key: all but type, default and range.
class Key {
 public:
  explicit Key(ExperimentParameter& parameter) : parameter_(&parameter) {}

  const Key& path() const {
    parameter_->is_path = true;
    return *this;
  }
  const Key& list_of(char separator) const {
    parameter_->separator = separator;
    return *this;
  }
  const Key& open() const {
    parameter_->is_open = true;
    return *this;
  }
  const Key& choices(std::vector<std::string> names) const {
    parameter_->declared.choices = std::move(names);
    return *this;
  }
  const Key& flag(const char* name, const char* group, const char* type = nullptr) const {
    parameter_->flag = name;
    parameter_->group = group;
    parameter_->type = type == nullptr ? type_of(*parameter_) : type;
    return *this;
  }

 private:
  ExperimentParameter* parameter_;
};

/// Builder of the list: one call per key.
class List {
 public:
  Key text(const char* key, std::string value, const Readers& read_by, const char* meaning) {
    return Key(add(key, std::move(value), "", meaning, read_by));
  }
  Key spec(const char* key, std::string value, const char* kind, const Readers& read_by, const char* meaning) {
    ExperimentParameter& parameter = add(key, std::move(value), "", meaning, read_by);
    parameter.model_kind = kind;
    return Key(parameter);
  }
  Key whole(const char* key, std::int64_t value, const char* unit, double low, double high, const Readers& read_by,
            const char* meaning) {
    return ranged(add(key, value, unit, meaning, read_by), low, high);
  }
  Key real(const char* key, double value, const char* unit, double low, double high, const Readers& read_by,
           const char* meaning) {
    return ranged(add(key, value, unit, meaning, read_by), low, high);
  }
  Key truth(const char* key, bool value, const Readers& read_by, const char* meaning) {
    return Key(add(key, value, "", meaning, read_by));
  }
  /// Takes the range of the inherited key.
  void inherit(const char* key, const char* from, const Readers& read_by, const char* meaning) {
    Parameter declared = (*this)[from].declared;
    declared.name = key;
    declared.text = meaning;
    list_.push_back({.declared = std::move(declared), .readers = read_by.names, .inherits = from});
  }
  void append(const std::vector<ExperimentParameter>& parameters) {
    list_.insert(list_.end(), parameters.begin(), parameters.end());
  }
  ExperimentParameter& operator[](const char* key) {
    return *std::ranges::find_if(list_, [key](const auto& parameter) { return parameter.declared.name == key; });
  }
  [[nodiscard]] std::vector<ExperimentParameter> take() {
    return std::move(list_);
  }

 private:
  ExperimentParameter& add(const char* key, ParameterValue value, const char* unit, const char* meaning,
                           const Readers& read_by) {
    ExperimentParameter parameter;
    parameter.declared.name = key;
    parameter.declared.default_value = std::move(value);
    parameter.declared.unit = unit;
    parameter.declared.text = meaning;
    parameter.readers = read_by.names;
    list_.push_back(std::move(parameter));
    return list_.back();
  }
  static Key ranged(ExperimentParameter& parameter, double low, double high) {
    parameter.declared.minimum = low;
    parameter.declared.maximum = high;
    return Key(parameter);
  }

  std::vector<ExperimentParameter> list_;
};

void add_input(List& list) {
  list.text("trace", "", kInput, "Trace: a file; this or workload").path();
  list.spec("workload", "", workloads::Workload::kModelKind, kInput, "Synthetic workload in place of a trace");
  list.whole("launch", 0, "", 0, kMaxWhole, kStructure | kAssignment, "Which launch of the trace")
      .flag("--launch", kWarps);
  std::vector<std::string> outputs;
  for (const Stage stage : output_stages()) {
    outputs.emplace_back(to_string(stage));
  }
  const std::string meaning = fmt::format("Results to compute: {}", fmt::join(outputs, ", "));
  list.text("outputs", "simt", kNoStage, meaning.c_str()).list_of(',');
}

void add_replay(List& list) {
  list.whole("warp_size", 0, "threads", 0, scheduler::kMaxWarpSize, kAssignment,
             "Threads of a warp; 0: the trace's; where it has none, the machine's")
      .flag("--warp-size", kWarps);
  list.spec("order", kAuto, scheduler::LaunchOrder::kModelKind, kAssignment,
            "Launch order; auto: captured where the trace has its warps, else z-order")
      .flag("--order", kWarps);
  list.spec("packing", "identity", scheduler::Packing::kModelKind, kAssignment,
            "How threads are packed into warps when they start")
      .flag("--packing", kWarps);
  list.spec("policy", simt::to_string(simt::Policy::StageMajority), simt::ReplayPolicy::kModelKind,
            kSimt | kModel | kRegroup, "Which of a warp's pending calls runs next")
      .flag("--policy", kReplay, "NAME");
  list.whole("default_cost", 1, "cycles", 0, kMaxWhole, kSimt | kModel,
             "Cycles of a call of a shader that is not in the table costs: its weight in SIMT efficiency")
      .flag("--default-cost", kReplay);
  list.whole("registers_per_thread", 64, "registers", 1, trace::kMostRegisters, kModel | kRegroup | kStream,
             "Registers of a thread: decide how many warps an SM holds. If not set: what the driver names for the "
             "launch's "
             "pipeline, else the default")
      .flag("--registers", kMachines);
  list.whole("costs.*", 1, "cycles", 0, kMaxWhole, kSimt | kModel,
             "Cycles of a call of the shader: a stage (closest-hit), a name, or an id")
      .open()
      .flag("--cost", kReplay, "SHADER=CYCLES,...");
  list.text(
          "shader_costs.*", "", kModel | kRegroup | kStream,
          "Instructions of a call of the shader, for the time models: ISSUE, ISSUE:LATENCY or :LATENCY (cycles); 2x in "
          "place of ISSUE: twice the instructions that its source says")
      .open()
      .flag("--shader-cost", kSchedulers, "SHADER=ISSUE[:LATENCY],...");
}

void add_structure(List& list) {
  const bvh::BvhOptions defaults;
  list.spec("bvh.builder", defaults.builder, bvh::Builder::kModelKind, kStructure, "Builder")
      .flag("--builder", kStructures);
  list.spec("bvh.layout", defaults.layout, bvh::Layout::kModelKind, kStructure, "Layout of nodes")
      .flag("--layout", kStructures);
  list.spec("bvh.node_order", defaults.node_order, bvh::NodeOrder::kModelKind, kStructure, "Order of nodes in memory")
      .flag("--node-order", kStructures);
  list.spec("bvh.vertex_order", defaults.vertex_order, bvh::VertexOrder::kModelKind, kStructure,
            "Order of vertices in memory")
      .flag("--vertex-order", kStructures);
  list.whole("bvh.leaf_size", 0, "references", 0, kMaxWhole, kStructure,
             "Maximum references of a leaf; 0: the builder's")
      .flag("--leaf-size", kStructures);
  list.real("bvh.enlarge", defaults.enlarge, "share", 0, kMaxShare, kStructure,
            "Outward shift of the planes of leaves, as a share of their boxes' diagonals")
      .flag("--enlarge", kStructures);
  list.spec("traversal.ray", "near-first", traversal::Traversal::kModelKind, kTraversal, "Traversal of single rays")
      .flag("--traversal", kTraversals);
  list.spec("traversal.warp", "while-while", traversal::WarpTraversal::kModelKind, kTraversal | kStream,
            "Traversal of warps")
      .flag("--warp-traversal", kTraversals);
}

void add_scheduler(List& list) {
  const machine::CostOptions defaults;
  list.spec("scheduler.model", "plain", scheduler::SchedulerModel::kModelKind, kModel | kRegroup, "Scheduler model")
      .flag("--model", kSchedulers);
  list.text("scheduler.file", "", kRegroup,
            "Schedule from a file in place of a scheduler model: which segments run together, and where")
      .path()
      .flag("--schedule-file", kSchedulers, "FILE");
  list.text("scheduler.hints", "", kModel | kRegroup, "Coherence hints: NAME:BITS=FORMULA")
      .list_of(';')
      .flag("--hint", kSchedulers, "NAME:BITS=FORMULA");
  list.text("scheduler.hint_files", "", kModel | kRegroup, "Coherence hints from files: NAME:BITS=FILE")
      .list_of(';')
      .path()
      .flag("--hint-file", kSchedulers, "NAME:BITS=FILE");
  list.text("scheduler.cost_source", kAuto, kModel | kRegroup | kStream,
            "Costs of calls that shader_costs does not name; auto: by the path of each call where the trace has "
            "paths, else by executed basic blocks, else by the shader's SPIR-V, else by stage; captured: as auto, with "
            "latencies from clocks")
      .choices({"auto", "default", "spirv", "blocks", "paths", "captured"})
      .flag("--cost-source", kSchedulers);
  list.real("scheduler.cycles_per_instruction", defaults.cycles_per_instruction, "cycles", 1,
            machine::kMaxCyclesPerInstruction, kModel | kRegroup | kStream,
            "Latency of a call per instruction, where only its instructions are known")
      .flag("--cycles-per-instruction", kSchedulers);
  list.real("scheduler.steps_per_ray", defaults.steps_per_ray, "visits", 0, machine::kMaxSteps, kModel | kRegroup,
            "Visits (nodes and leaves) of a ray, the same for all")
      .flag("--steps", kSchedulers);
  list.truth("scheduler.replay_steps", false, kModel | kRegroup,
             "Count each ray's visits in the structure (bvh.*); the stages model and regrouping then take structure")
      .flag("--replay-steps", kSchedulers);
}

void add_machine(List& list) {
  list.text(kMachineName, kDefaultMachine, kModel | kRegroup | kStream, "Machine: a shipped one's name, or a TOML file")
      .path()
      .flag("--machine", kMachines, "NAME|FILE");
  list.append(machine_parameters());
  Key(list["machine.sms"]).flag("--sms", kMachines);
}

void add_stream(List& list) {
  const memory::StreamOptions defaults;
  const machine::InterleaveOptions interleaving;
  list.spec("schedule.distribution", kAuto, machine::WorkDistribution::kModelKind, kStream,
            "Work distribution: which warp runs where; auto: captured where the trace has warps on several SMs, else "
            "launch")
      .flag("--schedule", kMachines);
  list.spec("schedule.warp_scheduler", interleaving.warp_scheduler, machine::WarpScheduler::kModelKind, kStream,
            "Which of an SM's ready warps issues next")
      .flag("--warp-scheduler", kMachines);
  list.whole("schedule.resident_warps", 0, "warps", 0, kMaxResident, kRegroup | kStream,
             "Warps of an SM at once, at most machine.resident_warps; 0: the machine's, by registers")
      .flag("--resident-warps", kMachines);
  list.whole("schedule.compute_cycles", 0, "cycles", 0, kMaxComputeCycles, kStream,
             "Cycles that a warp computes between two of its accesses")
      .flag("--compute-cycles", kMachines);
  list.text("schedule.time", "accesses", kRegroup | kStream,
            "What takes time: latencies of accesses and compute_cycles (accesses); or traversal tests, shader calls, "
            "exchanges and bandwidth too (memory, which the output time needs)")
      .choices({"accesses", "memory"})
      .flag("--time", kMachines);
  list.whole("stream.stack_entries", defaults.stack_entries, "entries", 0, kMaxStackEntries, kStream,
             "Stack entries of a lane kept on chip, others are spilled; 0: all")
      .flag("--stack-entries", kAccesses);
  static_assert(memory::kAssumedPayload == 32);
  list.whole("stream.payload_bytes", -1, "bytes", -1, kMaxSize, kRegroup | kStream,
             "Payload of a ray, multiple of 4; 0: it stays in registers, and moves with the live state; -1: of the "
             "launch's shaders, or 32 without their SPIR-V")
      .flag("--payload-bytes", kAccesses);
  list.whole("stream.record_bytes", defaults.record_bytes, "bytes", 0, kMaxSize, kStream,
             "Stride of shader records; 0: not read")
      .flag("--record-bytes", kAccesses);
  static_assert(memory::kAssumedPixel == 16);
  list.whole(
          "stream.pixel_bytes", -1, "bytes", -1, kMaxSize, kStream,
          "Written to the frame buffer when a thread ends; 0: nothing; -1: 16, and nothing by threads whose captured "
          "stores are their pixel")
      .flag("--pixel-bytes", kAccesses);
  list.whole("stream.load_bytes", defaults.load_bytes, "bytes", 0, kMaxSize, kStream,
             "Maximum bytes that a lane reads by one instruction; 0: no limit (a node is one instruction)")
      .flag("--load-bytes", kAccesses);
  list.text("stream.shader_accesses", kAuto, kStream,
            "Accesses of shaders to buffers and images, as a capture recorded them; auto: where the trace has all of "
            "them")
      .choices({kAuto, "on", "off"})
      .flag("--shader-accesses", kAccesses);
  list.spec("stream.image_layout", memory::kAssumedImageLayout, memory::ImageLayout::kModelKind, kStream,
            "Where the texels of images lie, whose accesses a capture recorded (assumed: a trace does not say it)")
      .flag("--image-layout", kAccesses);
  list.truth("stream.coalesce", defaults.coalescing.coalesce, kStream,
             "Whether lanes of an instruction that touch one line share a transaction; false: each lane has its own")
      .flag("--per-lane", kAccesses);
}

void add_caches(List& list) {
  const char* const kind = memory::CacheModel::kModelKind;
  list.inherit("cache.l1.bytes", "machine.l1_bytes", kCache, "Size of the analysed L1 of each SM; 0: no L1");
  list.inherit("cache.l1.line_bytes", "machine.l1_line_bytes", kStream | kCache,
               "Line of the L1; accesses are coalesced into it");
  list.inherit("cache.l1.ways", "machine.l1_ways", kCache, "Ways of the L1; 0: fully associative");
  list.inherit("cache.l1.sector_bytes", "machine.l1_sector_bytes", kStream | kCache,
               "Sector of the L1, also of coalesced accesses");
  list.spec("cache.l1.model", "lru", kind, kCache,
            "Cache model of the L1s; default for stores: write=through,allocate=false")
      .flag("--l1-model", kCaches);
  list.inherit("cache.l2.bytes", "machine.l2_bytes", kCache, "Size of the analysed L2; 0: no L2");
  list.inherit("cache.l2.line_bytes", "machine.l2_line_bytes", kCache, "Line of the L2");
  list.inherit("cache.l2.ways", "machine.l2_ways", kCache, "Ways of the L2; 0: fully associative");
  list.inherit("cache.l2.sector_bytes", "machine.l2_sector_bytes", kCache, "Sector of the L2");
  list.spec("cache.l2.model", "lru", kind, kCache,
            "Cache model of the L2; default for stores: write=back,allocate=true")
      .flag("--l2-model", kCaches);
  list.text("cache.l2_feed", "misses", kCache,
            "Accesses of the L2: fills and stores of the L1s (misses), or every transaction (all, as von Buelow et al. "
            "2023)")
      .choices({"all", "misses"})
      .flag("--l2-feed", kCaches);
  list.spec("cache.reuse_engine", "bitmap", memory::ReuseEngine::kModelKind, kReuse, "Engine of reuse distances")
      .flag("--reuse-engine", kCaches);
  list.truth("cache.distances", true, kReuse,
             "Compute reuse distances: histograms, miss-ratio curves, and the split of misses")
      .flag("--no-distances", kCaches);
  list.whole("cache.windows", 1, "windows", 1, kMaxWindows, kReuse,
             "Time windows of equal numbers of requests (an extra pass counts the requests)")
      .flag("--windows", kCaches);
  list.whole("cache.window_requests", 0, "requests", 0, kMaxRequests, kReuse,
             "Requests of a time window, in place of windows; 0: windows decides")
      .flag("--window-requests", kCaches);
}

void add_explain(List& list) {
  const traversal::ClassifyOptions defaults;
  list.real("explain.slack", defaults.slack, "2^-24", 0, kMaxUlps, kClassify,
            "Rounding allowed to the hardware, in units of 2^-24 of the operands")
      .flag("--slack", kClassification);
  list.text("explain.enlarged_layouts", fmt::format("{}", fmt::join(defaults.enlarged_layouts, ";")), kClassify,
            "Layouts whose boxes the hardware may have used; none: exact boxes")
      .list_of(';')
      .flag("--enlarged-layout", kClassification);
  list.text("explain.enlarged_builders", fmt::format("{}", fmt::join(defaults.enlarged_builders, ";")), kClassify,
            "Builders of the trees in those layouts: all layouts over all builders; one primitive a leaf unless a spec "
            "sets leaf_size")
      .list_of(';')
      .flag("--enlarged-builder", kClassification);
  list.truth("explain.culls", defaults.culls, kClassify,
             "The hardware skips what it enters beyond the ray's current t_max: decides R2 or R3")
      .flag("--culls", kClassification);
  list.spec("explain.hardware", "", traversal::Traversal::kModelKind, kClassify,
            "Traversal that plays the hardware on the trace's rays: its tests are explained, not the trace's")
      .flag("--hardware", kHardware);
  list.spec("explain.hardware_layout", "compressed-wide-8", bvh::Layout::kModelKind, kClassify,
            "Layout of the simulated hardware's structure")
      .flag("--hardware-layout", kHardware);
  list.spec("explain.hardware_builder", "medium", bvh::Builder::kModelKind, kClassify,
            "Builder of the simulated hardware's structure; leaves of one primitive unless the spec sets leaf_size")
      .flag("--hardware-builder", kHardware);
  list.truth("explain.blind", false, kClassify, "The classification does not know the simulated hardware's own boxes")
      .flag("--blind", kHardware);
  list.truth("explain.any_hit_only", false, kClassify,
             "Explain only those simulated triangle tests that an any-hit shader sees")
      .flag("--any-hit-only", kHardware);
  list.truth("explain.ground_truth", false, kClassify, "Compare each class with the known cause")
      .flag("--ground-truth", kHardware);
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
  add_explain(list);
  return list.take();
}

std::vector<Shorthand> declared_shorthands() {
  std::vector<Shorthand> list;
  for (const std::string level : {"l1", "l2"}) {
    Shorthand one;
    one.flag = "--" + level;
    one.group = kCaches;
    one.type = "GEOMETRY";
    one.text = level == "l1"
                   ? "L1 of an SM in place of the machine's: 32KiB:line=128,ways=64,sector=32 (what is left out "
                     "stays), ways=full, sector=line, or none"
                   : "L2 in place of the machine's, in the same form";
    one.readers = kCache.names;
    for (const char* part : {"bytes", "line_bytes", "ways", "sector_bytes"}) {
      one.keys.push_back("machine." + level + "_" + part);
      one.keys.push_back("cache." + level + "." + part);
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace rayreplay::experiment
