#include "sim/engine/stages/stream.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/caching/imported_transactions.hpp"
#include "sim/engine/machine_room.hpp"
#include "sim/engine/shader_accesses.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/engine/stages/model.hpp"
#include "sim/engine/stages/regrouping.hpp"
#include "sim/launch/launch_stream.hpp"
#include "sim/launch/launch_work.hpp"
#include "sim/machine/image_writers.hpp"

namespace rayreplay::experiment {
namespace {

using Working = Workbench::Working;

constexpr const char* kStoredStream = "stream";
constexpr std::uint64_t kMaxStoredBytes = std::uint64_t{1} << 30U;
/// The reservation changes in steps of this many transactions.
constexpr std::uint64_t kReserveStep = std::uint64_t{1} << 16U;

/// Reserves memory while a stream grows: what the recorder holds; chunks of warps before coalescing; and the
/// transactions of resident warps, twice because of their instructions, three times with these instructions' work.
class StreamMemory {
 public:
  StreamMemory(Working& working, std::uint64_t rays, bool work)
      : working_(&working), of_resident_(work ? 3 : 2), held_{first_chunks(rays), 0} {}

  void made(const memory::Holding& now) {
    held_.transactions = now.transactions;
    if (now.bytes > held_.bytes || now.transactions > reserved_for_ + kReserveStep) {
      held_.bytes = std::max(held_.bytes, now.bytes);
      reserve();
    }
  }
  void grows(std::uint64_t transactions) {
    room_ = transactions;
    reserve();
  }
  void recorded_by(const StreamRecorder& recorder) {
    recorder_ = &recorder;
    reserve();
  }

 private:
  /// The first chunks, whose accesses no one has counted: those of a ray of a deep scene.
  static std::uint64_t first_chunks(std::uint64_t rays) {
    constexpr std::uint64_t kRayBytes = std::uint64_t{16} << 10U;
    const auto threads = static_cast<std::uint64_t>(tbb::this_task_arena::max_concurrency());
    return std::min(memory::ChunkRoom::kBytes * threads, rays * kRayBytes);
  }

  void reserve() {
    const std::uint64_t recorded = recorder_ == nullptr ? 0 : recorder_->taken();
    const std::uint64_t resident = held_.transactions - std::min(held_.transactions, recorded);
    working_->set((room_ + of_resident_ * resident) * sizeof(memory::Transaction) + held_.bytes);
    reserved_for_ = held_.transactions;
  }

  Working* working_;
  std::uint64_t of_resident_;
  const StreamRecorder* recorder_ = nullptr;
  std::uint64_t room_ = 0;
  std::uint64_t reserved_for_ = 0;
  memory::Holding held_;
};

RecordedStream record_launch(Workbench& bench, const Experiment& experiment, Working& working) {
  PreparedStream prepared = prepare_stream(bench, experiment);
  RecordedStream recorded;
  StreamMemory memory(working, experiment.launch().rays, prepared.options.work);
  // The recorder waits while warps are generated, so the two callbacks never reserve at the same time.
  prepared.options.holding = [&](const memory::Holding& now) { memory.made(now); };
  const LaunchStream made =
      launch_stream(prepared.data->trace, *prepared.launch, prepared.built->bvh, prepared.schedule,
                    prepared.regrouped.get(), prepared.options, prepared.machine);
  recorded.coalescing = prepared.options.coalescing;
  recorded.sms = prepared.machine.sms;
  StreamRecorder recorder(recorded, [&](std::uint64_t transactions) { memory.grows(transactions); });
  memory.recorded_by(recorder);
  const machine::InterleaveResult interleaved =
      machine::interleave(*made.source, *made.dispatcher, prepared.machine, prepared.interleaving, recorder);
  recorder.finish();
  recorded.cycles = interleaved.cycles;
  recorded.instructions = interleaved.instructions;
  recorded.mshr_stall_cycles = interleaved.mshr_stall_cycles;
  recorded.time = interleaved.time;
  if (bench.accelerator() != nullptr) {
    bench.accelerator()->note_cpu("access stream", "warps are traversed and interleaved on the processor");
  }
  return recorded;
}

/// Discards transactions: only the result of the interleaving is wanted.
class NoSink : public memory::TransactionSink {
 public:
  void take(const memory::TransactionBlock& /*block*/) override {}
};

/// Warps that a workload makes for the machine.
class MadeWarps : public memory::WarpSource {
 public:
  explicit MadeWarps(const workloads::WarpWorkload& made) : made_(&made) {}
  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(made_->streams.size());
  }
  [[nodiscard]] const memory::Allocations& allocations() const override {
    return allocations_;
  }
  [[nodiscard]] const memory::CoalesceOptions& coalescing() const override {
    return made_->coalescing;
  }
  void generate(std::span<const std::uint32_t> items, std::span<memory::WarpStream> streams) override {
    for (std::size_t i = 0; i < items.size(); ++i) {
      streams[i] = made_->streams[items[i]];
    }
  }

 private:
  const workloads::WarpWorkload* made_;
  memory::Allocations allocations_;
};

std::uint64_t bytes_of(const workloads::WarpWorkload& made) {
  std::uint64_t bytes = 0;
  for (const memory::WarpStream& stream : made.streams) {
    bytes += sizeof(stream) + stream.transactions.size() * sizeof(memory::Transaction) +
             stream.work.size() * (sizeof(memory::WarpWork) + sizeof(std::uint32_t));
  }
  return bytes;
}

RecordedStream record_warps(Workbench& bench, const Experiment& experiment, Working& working) {
  const Settings& settings = *experiment.settings;
  const machine::Machine machine = stream_machine(settings);
  const workloads::WarpWorkload made = workloads::Workloads::create(experiment.facts->name).model->make_warps(machine);
  machine::InterleaveOptions interleaving =
      interleaving_of(settings, machine, decisions(settings, *experiment.facts).warp_size);
  if (settings.integer("schedule.resident_warps") == 0) {
    interleaving.resident_warps = made.resident_warps;
  }
  interleaving.work = true;
  interleaving.start_delay = made.start_delay;
  interleaving.progress = bench.progress();
  RecordedStream recorded;
  recorded.coalescing = made.coalescing;
  recorded.sms = machine.sms;
  const std::uint64_t held = bytes_of(made);
  working.set(held);
  StreamRecorder recorder(
      recorded, [&](std::uint64_t transactions) { working.set(held + transactions * sizeof(memory::Transaction)); });
  MadeWarps source(made);
  const machine::InterleaveResult interleaved = machine::interleave(source, made.plan, machine, interleaving, recorder);
  recorder.finish();
  recorded.cycles = interleaved.cycles;
  recorded.instructions = interleaved.instructions;
  recorded.mshr_stall_cycles = interleaved.mshr_stall_cycles;
  recorded.time = interleaved.time;
  return recorded;
}

RecordedStream record_memory_trace(Workbench& bench, const Experiment& experiment, Working& working) {
  RecordedStream recorded;
  recorded.coalescing = coalescing_of(*experiment.settings);
  StreamRecorder recorder(recorded,
                          [&](std::uint64_t transactions) { working.set(transactions * sizeof(memory::Transaction)); });
  const std::string& name = experiment.facts->name;
  if (experiment.facts->is_workload) {
    const auto data = input(bench, experiment);
    const workloads::MemoryWorkload& workload = *data->records;
    recorded.sms = workload.header.sms;
    const memory::Allocations allocations = allocations_of(workload.header, name);
    ImportedTransactions transactions(workload.header, allocations, recorded.coalescing);
    import::RecordBlock block;
    const import::RecordBlock& all = workload.records;
    for (std::size_t row = 0; row < all.records(); ++row) {
      block.add(all.sm[row], all.warp[row], all.store[row] != 0, all.bytes[row], all.mask[row],
                all.address.data() + all.first[row]);
      if (block.records() == import::kMaxBlockRecords || row + 1 == all.records()) {
        recorder.take(transactions.take(block));
        block.clear();
      }
    }
    recorder.finish();
    return recorded;
  }
  const auto reader = import::open_memory_trace(name);
  recorded.sms = reader->header().sms;
  const memory::Allocations allocations = allocations_of(reader->header(), name);
  ImportedTransactions transactions(reader->header(), allocations, recorded.coalescing);
  import::RecordBlock block;
  while (reader->next(block)) {
    recorder.take(transactions.take(block));
  }
  if (reader->hash() != experiment.facts->hash) {
    throw Error(ErrorKind::Input, {"the memory trace changed while it was read", name, reader->hash(),
                                   experiment.facts->hash, "run again when no other program writes it"});
  }
  recorder.finish();
  return recorded;
}

/// Empty if no stream is stored, or it cannot be read.
std::optional<RecordedStream> stored_stream(Store& store, const Key& key, Working& working) {
  const auto bytes = store.get(kStoredStream, hex(key));
  if (!bytes) {
    return std::nullopt;
  }
  working.set(2 * bytes->size());
  try {
    return read_stream(*bytes, hex(key));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    return std::nullopt;
  }
}

void check_stream(const Experiment& experiment) {
  const Settings& settings = *experiment.settings;
  require_regrouping(settings, experiment.facts->memory);
  if (experiment.facts->warps) {
    if (!has_memory_time(settings)) {
      throw Error(ErrorKind::Usage, {"this workload needs memory time", experiment.facts->name,
                                     std::string(kTimeKey) + " = '" + settings.text(kTimeKey) + "'", "memory",
                                     std::string("add --set ") + kTimeKey + "=memory"});
    }
    static_cast<void>(stream_machine(settings));
    require_warps_fit(settings, decisions(settings, *experiment.facts).warp_size);
    return;
  }
  if (experiment.facts->memory && has_memory_time(settings)) {
    throw Error(ErrorKind::Usage, {"a memory trace has no warps whose time could be modelled",
                                   place_of(settings.where(kTimeKey), kTimeKey), "'memory'", "accesses",
                                   "leave the key out, or give a trace of a launch (.rrt)"});
  }
  if (experiment.facts->memory) {
    static_cast<void>(coalescing_of(settings));
    return;
  }
  const std::uint32_t warp_size = decisions(settings, *experiment.facts).warp_size;
  require_warps_fit(settings, warp_size);
  require_shading_sms(settings);
  static_cast<void>(stream_machine(settings));
  static_cast<void>(stream_of(settings, warp_size));
  static_cast<void>(takes_shader_accesses(experiment));
}

std::vector<std::string> stream_notes(const Experiment& experiment) {
  if (experiment.facts->memory) {
    return {};
  }
  const Settings& settings = *experiment.settings;
  std::vector<std::string> notes = machine_notes(settings, decisions(settings, *experiment.facts).warp_size);
  std::ranges::move(shader_access_notes(experiment), std::back_inserter(notes));
  return notes;
}

/// Costs of calls and delays of warps, for memory time.
void prepare_time(const Settings& settings, PreparedStream& prepared) {
  prepared.options.work = true;
  const machine::Costs costs = machine::make_costs(prepared.data->trace, *prepared.launch, compare_of(settings).costs);
  prepared.options.call_work = call_work(costs);
  prepared.options.lane_costs = lane_costs(costs);
  prepared.interleaving.work = true;
  if (prepared.regrouped != nullptr) {
    prepared.start_delay = start_delays(*prepared.regrouped);
    prepared.interleaving.start_delay = prepared.start_delay;
  }
}

/// Of a memory trace, the stream depends on the options of the coalescer alone; of a workload of warps, which needs
/// memory time, on the machine and its schedule.
std::string reads_of_accesses(const Settings& complete) {
  const memory::CoalesceOptions coalescing = coalescing_of(complete);
  if (has_memory_time(complete)) {
    return fmt::format("{} {} {} {} {}\n{}", complete.text("schedule.warp_scheduler"),
                       complete.integer("schedule.resident_warps"), complete.integer("schedule.compute_cycles"),
                       complete.integer("registers_per_thread"), complete.integer("warp_size"),
                       machine::to_toml(stream_machine(complete)));
  }
  return fmt::format("{} {} {}", coalescing.line_bytes, coalescing.sector_bytes, coalescing.coalesce);
}

}  // namespace

bool has_memory_time(const Settings& complete) {
  return complete.text(kTimeKey) == "memory";
}

bool stream_uses_key(const Settings& complete, std::string_view key) {
  constexpr std::array kOfTime{"scheduler.cost_source",
                               "scheduler.cycles_per_instruction",
                               "machine.issue_per_cycle",
                               "machine.issue_partitions",
                               "machine.clock_mhz",
                               "machine.rt_steps_per_cycle",
                               "machine.rt_boxes_per_cycle",
                               "machine.rt_triangles_per_cycle",
                               "machine.rt_rays",
                               "machine.rt_test_latency_cycles",
                               "machine.dram_bytes_per_second",
                               "machine.l2_bytes_per_second",
                               "machine.software_traversal"};
  if (key == "stream.image_layout" && complete.text("stream.shader_accesses") == "off") {
    return false;
  }
  const bool of_time = std::ranges::find(kOfTime, key) != kOfTime.end() || key.starts_with("shader_costs.");
  return !of_time || has_memory_time(complete);
}

PreparedStream prepare_stream(Workbench& bench, const Experiment& experiment) {
  const Settings& settings = *experiment.settings;
  require_regrouping(settings, false);
  PreparedStream prepared;
  prepared.machine = stream_machine(settings);
  prepared.data = input(bench, experiment);
  prepared.built = structure(bench, experiment);
  const auto order = launch_order(bench, experiment);
  const auto packed = assignment(bench, experiment);
  prepared.regrouped = regrouping(bench, experiment);
  bench.free_device();
  const Resolved resolved = resolved_of(settings, prepared.data->trace, false);
  prepared.launch = &prepared.data->trace.launches[resolved.launch];
  prepared.schedule = schedule_launch(*prepared.launch, {resolved.order, resolved.packings.back(), *order, *packed},
                                      prepared.regrouped == nullptr ? settings.text("schedule.distribution") : "launch",
                                      prepared.machine.sms);
  prepared.options = stream_of(settings, resolved.warp_size);
  if (is_payload_of_shaders(settings)) {
    prepared.options.payload_bytes = shaders_state(bench, experiment).payload_in_words(kMaxSize);
  }
  prepared.options.shader_accesses = takes_shader_accesses(experiment);
  prepared.shader_notes = shader_access_notes(experiment);
  if (prepared.options.shader_accesses) {
    prepared.options.writes_images = machine::image_writers(prepared.data->trace);
  }
  prepared.interleaving = interleaving_of(settings, prepared.machine, resolved.warp_size);
  prepared.interleaving.progress = bench.progress();
  if (has_memory_time(settings)) {
    prepare_time(settings, prepared);
  }
  return prepared;
}

std::shared_ptr<const RecordedStream> stream(Workbench& bench, const Experiment& experiment) {
  static const Stage self = stage("stream");
  const Key& key = experiment.key(self);
  return bench.shared<RecordedStream>(key, [&](Working& working) {
    Store* const store = bench.store();
    std::optional<RecordedStream> recorded = store == nullptr ? std::nullopt : stored_stream(*store, key, working);
    if (!recorded) {
      recorded = experiment.facts->warps    ? record_warps(bench, experiment, working)
                 : experiment.facts->memory ? record_memory_trace(bench, experiment, working)
                                            : record_launch(bench, experiment, working);
      // A stream that does not fit into memory for writing is not stored; its metrics are.
      if (store != nullptr && recorded->bytes() <= kMaxStoredBytes && working.try_set(2 * recorded->bytes())) {
        store->put(kStoredStream, hex(key), write_stream(*recorded));
      }
    }
    const std::uint64_t bytes = recorded->bytes();
    return std::pair(std::make_shared<const RecordedStream>(std::move(*recorded)), bytes);
  });
}

machine::InterleaveResult interleave_launch(Workbench& bench, const Experiment& experiment,
                                            machine::TimeHistory* history, memory::TransactionSink* sink) {
  PreparedStream prepared = prepare_stream(bench, experiment);
  prepared.interleaving.history = history;
  prepared.interleaving.cycles = sink != nullptr;
  prepared.options.coalescing.requests = sink != nullptr;
  const LaunchStream made =
      launch_stream(prepared.data->trace, *prepared.launch, prepared.built->bvh, prepared.schedule,
                    prepared.regrouped.get(), prepared.options, prepared.machine);
  NoSink none;
  return machine::interleave(*made.source, *made.dispatcher, prepared.machine, prepared.interleaving,
                             sink == nullptr ? none : *sink);
}

std::uint64_t likely_transactions(const Experiment& experiment) {
  constexpr std::uint64_t kOfARay = 12;
  constexpr std::uint64_t kOfARecord = 8;
  const InputFacts& facts = *experiment.facts;
  return facts.memory ? facts.records * kOfARecord : experiment.launch().rays * kOfARay + experiment.launch().accesses;
}

namespace {

constexpr StageCode kCode = {
    .estimate_bytes =
        [](const Experiment& experiment) {
          return 2 * likely_transactions(experiment) * sizeof(memory::Transaction);  // made, and recorded
        },
    .gives_result = true,
    .stored = kStoredStream,
    .reads_of_accesses = reads_of_accesses,
    .uses_key = stream_uses_key,
    .check = check_stream,
    .notes = stream_notes,
};

const StageRegistrar kRegistrar({.name = "stream",
                                 .text = "The launch's memory accesses as the machine issues them",
                                 .position = 60,
                                 .takes = {"input", "structure", "assignment"},
                                 .takes_if = {{"regrouping", "scheduler.model"}, {"regrouping", "scheduler.file"}},
                                 .format = 10},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
