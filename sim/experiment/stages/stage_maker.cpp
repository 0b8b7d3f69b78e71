#include "sim/experiment/stages/stage_maker.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "sim/experiment/imported_transactions.hpp"
#include "sim/experiment/launch_schedule.hpp"
#include "sim/experiment/stages/estimate.hpp"
#include "sim/experiment/stages/stage_settings.hpp"
#include "sim/experiment/stages/stored_packing.hpp"
#include "sim/experiment/stages/traversal_memory.hpp"
#include "sim/experiment/whatif.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint64_t kMostStoredStream = std::uint64_t{1} << 30U;
constexpr std::uint64_t kWorthTelling = std::uint64_t{1} << 16U;  // transactions
constexpr const char* kIdentity = "identity";

/// Nodes and geometry once for the device's memory map, once for what builders and traversals keep beside them.
constexpr std::uint64_t kStructureCopies = 2;

const trace::Launch& launch_of(const trace::Trace& trace, const Experiment& experiment) {
  const auto launch = static_cast<std::uint64_t>(experiment.settings->integer("launch"));
  if (launch >= trace.launches.size()) {
    throw Error(ErrorKind::Usage,
                {"the trace has no launch of this number", experiment.facts->name, fmt::format("{}", launch),
                 trace.launches.empty() ? std::string("nothing: the trace has no launches")
                                        : fmt::format("0 to {}", trace.launches.size() - 1),
                 ""});
  }
  return trace.launches[launch];
}

/// Beside a stream while it goes through caches: their accesses in order, those of some SMs, or what comes to L2s.
std::uint64_t caching_bytes(const RecordedStream& stream, std::uint64_t below) {
  constexpr std::uint64_t kInOrder = sizeof(std::uint32_t);
  constexpr std::uint64_t kBatches = std::uint64_t{16} << 20U;  // on their way through passes
  const std::uint64_t transactions = stream.transactions.size();
  const std::uint64_t all = transactions * sizeof(memory::LineAccess);
  const std::uint64_t l1s = std::min(all, std::max(kGridBytes / 2, all / std::max(1U, stream.sms)));
  return transactions * kInOrder + kBatches + std::max(l1s, below);
}

/// Of one experiment alone: the launch's devices' names by what was recorded since.
class DeviceWatch {
 public:
  explicit DeviceWatch(const Accelerator* accelerator) : accelerator_(accelerator) {
    if (accelerator != nullptr) {
      before_ = accelerator->records();
    }
  }
  [[nodiscard]] std::string device() const {
    constexpr const char* kProcessor = "CPU";
    std::vector<std::string> names;
    bool processor = accelerator_ == nullptr;
    if (accelerator_ != nullptr) {
      for (const StageRecord& record : accelerator_->records()) {
        if (std::ranges::find(before_, record) != before_.end()) {
          continue;  // it ran no more often than before
        }
        if (record.device == kProcessor) {
          processor = true;
        } else if (std::ranges::find(names, record.device) == names.end()) {
          names.push_back(record.device);
        }
      }
    }
    if (processor || names.empty()) {
      names.emplace_back(kProcessor);
    }
    return fmt::format("{}", fmt::join(names, ", "));
  }

 private:
  const Accelerator* accelerator_;
  std::vector<StageRecord> before_;
};

/// Specs, each once.
class SpecList {
 public:
  std::size_t add(const std::string& spec) {
    const auto found = std::ranges::find(specs_, spec);
    if (found != specs_.end()) {
      return static_cast<std::size_t>(found - specs_.begin());
    }
    specs_.push_back(spec);
    return specs_.size() - 1;
  }
  [[nodiscard]] const std::vector<std::string>& specs() const {
    return specs_;
  }

 private:
  std::vector<std::string> specs_;
};

}  // namespace

const Key& group_of(Stage stage, const Experiment& experiment) {
  switch (stage) {
    case Stage::Structure:
      return experiment.keys.structure_metrics;
    case Stage::Simt:
      return experiment.keys.bound;
    case Stage::Model:
      return experiment.keys.model_group;
    case Stage::Traversal:
      return experiment.keys.traversal_group;
    case Stage::Cache:
      return of(experiment.keys.stages, Stage::Stream);
    case Stage::Input:
    case Stage::Assignment:
    case Stage::Stream:
      break;
  }
  throw Error(ErrorKind::Internal, {"a stage without numbers was asked for some", to_string(stage), "", "", ""});
}

Failure failure_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const MemoryShort& error) {
    return {error.kind(), error.info(), error.needed_bytes()};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    return {error.kind(), error.info()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::Resource,
            {"the experiment needs more memory than there is", "", "", "", "use a smaller launch"}};
  }
}

std::exception_ptr thrown_of(const Failure& failure) {
  return failure.needed_bytes != 0 ? std::make_exception_ptr(MemoryShort(failure.info, failure.needed_bytes))
                                   : std::make_exception_ptr(Error(failure.kind, failure.info));
}

template <class T, class MakeValue>
std::shared_ptr<const T> StageMaker::shared(const Key& key, const MakeValue& make_value) {
  if (const auto found = failed_.find(key); found != failed_.end()) {
    std::rethrow_exception(found->second);
  }
  try {
    return kept_->get<T>(key, make_value);
  } catch (...) {
    failed_.emplace(key, std::current_exception());
    throw;
  }
}

trace::AcceleratedLaunch* StageMaker::on_device(const std::shared_ptr<const InputData>& input, std::uint32_t launch) {
  if (accelerator_ == nullptr) {
    return nullptr;
  }
  const trace::Launch& columns = input->trace.launches[launch];
  if (uploaded_ == nullptr || &uploaded_->launch() != &columns) {
    uploaded_.reset();
    uploaded_from_ = input;
    uploaded_ = std::make_unique<trace::AcceleratedLaunch>(*accelerator_, columns);
  }
  return uploaded_.get();
}

std::shared_ptr<const InputData> StageMaker::input(const Experiment& experiment) {
  return shared<InputData>(of(experiment.keys.stages, Stage::Input), [&](Working& working) {
    // A file's columns have their size; those of a workload grow.
    working.set((experiment.facts->is_workload ? 2 : 1) * experiment.facts->memory_bytes);
    auto data = std::make_shared<const InputData>(InputCatalogue::load(*experiment.facts, progress_));
    const std::uint64_t bytes = data->bytes;
    return std::pair(std::shared_ptr<const InputData>(std::move(data)), bytes);
  });
}

bvh::Bvh StageMaker::build(const Experiment& experiment, const trace::Trace& trace, std::vector<bvh::Tree>* trees) {
  const trace::Launch& launch = launch_of(trace, experiment);
  const std::string& name = experiment.facts->name;
  if (trace.scene.instances.empty()) {
    throw Error(ErrorKind::Missing, {"the trace has no scene to trace rays through", name, "", "", ""});
  }
  if (launch.tlas == trace::kNone) {
    throw Error(ErrorKind::Missing,
                {"which top-level structure the launch used is not known",
                 fmt::format("{}:/launch/{}", name, experiment.settings->integer("launch")), "", "", ""});
  }
  bvh::BvhOptions options = structure_of(*experiment.settings);
  options.progress = progress_;
  options.trees = trees;
  return bvh::build_bvh(trace.scene, launch.tlas, name, options);
}

std::shared_ptr<const StageMaker::Structure> StageMaker::structure(const Experiment& experiment,
                                                                   std::vector<bvh::Tree>* trees) {
  return shared<Structure>(of(experiment.keys.stages, Stage::Structure), [&](Working& working) {
    auto made = std::make_shared<Structure>();
    made->input = input(experiment);
    working.set(estimate_bytes(Stage::Structure, experiment));
    made->bvh = build(experiment, made->input->trace, trees);
    const std::uint64_t bytes = kStructureCopies * made->bvh.memory.end;
    return std::pair(std::shared_ptr<const Structure>(std::move(made)), bytes);
  });
}

std::shared_ptr<const scheduler::WarpAssignment> StageMaker::assignment(const Experiment& experiment) {
  const Key& key = of(experiment.keys.stages, Stage::Assignment);
  return shared<Assignment>(key, [&] {
    const Settings& settings = *experiment.settings;
    // Neighbours are packed faster than files are read.
    const bool stored = store_ != nullptr && settings.text("packing") != kIdentity;
    const auto launch = static_cast<std::size_t>(settings.integer("launch"));
    std::optional<Assignment> packed;
    if (stored && launch < experiment.facts->launches.size()) {
      if (const auto bytes = store_->get(kStoredPacking, hex(key))) {
        packed = read_packing(*bytes, experiment.facts->launches[launch].size.threads());
      }
    }
    if (!packed) {
      const auto data = input(experiment);
      const Resolved resolved = resolved_of(settings, data->trace, false);
      const trace::Launch& columns = data->trace.launches[resolved.launch];
      packed = pack(columns, scheduler::LaunchOrders::create(resolved.order).model->assign(columns, resolved.warp_size),
                    resolved.packings.back(), on_device(data, resolved.launch));
      if (stored) {
        store_->put(kStoredPacking, hex(key), write_packing(*packed));
      }
    }
    const std::uint64_t bytes = (packed->thread_at.size() + 2 * packed->warps()) * sizeof(std::uint32_t);
    return std::pair(std::make_shared<const Assignment>(std::move(*packed)), bytes);
  });
}

std::shared_ptr<const scheduler::Bound> StageMaker::bound(const Experiment& experiment) {
  return shared<scheduler::Bound>(experiment.keys.bound, [&] {
    const auto data = input(experiment);
    const Resolved resolved = resolved_of(*experiment.settings, data->trace, false);
    return std::pair(std::make_shared<const scheduler::Bound>(scheduler::lower_bound_on(
                         data->trace.launches[resolved.launch], resolved.warp_size, on_device(data, resolved.launch))),
                     std::uint64_t{sizeof(scheduler::Bound)});
  });
}

std::shared_ptr<const std::vector<std::uint32_t>> StageMaker::ray_steps(const Experiment& experiment) {
  using Steps = std::vector<std::uint32_t>;
  return shared<Steps>(experiment.keys.ray_steps, [&] {
    const auto data = input(experiment);
    auto steps = std::make_shared<const Steps>(machine::count_ray_steps(
        data->trace, experiment.facts->name, static_cast<std::uint32_t>(experiment.settings->integer("launch")), {}));
    const std::uint64_t bytes = steps->size() * sizeof(std::uint32_t);
    return std::pair(std::move(steps), bytes);
  });
}

std::shared_ptr<const RecordedStream> StageMaker::stream(const Experiment& experiment) {
  const Key& key = of(experiment.keys.stages, Stage::Stream);
  return shared<RecordedStream>(key, [&](Working& working) {
    std::optional<RecordedStream> recorded;
    if (store_ != nullptr) {
      if (const auto bytes = store_->get(kStoredStream, hex(key))) {
        working.set(2 * bytes->size());
        try {
          recorded = read_stream(*bytes, hex(key));
        } catch (const Error& error) {
          if (error.kind() == ErrorKind::Internal) {
            throw;
          }
        }
      }
    }
    if (!recorded) {
      recorded =
          experiment.facts->memory ? record_memory_trace(experiment, working) : record_launch(experiment, working);
      // Of what cannot be written for want of memory the numbers are kept all the same.
      if (store_ != nullptr && recorded->bytes() <= kMostStoredStream && working.try_set(2 * recorded->bytes())) {
        store_->put(kStoredStream, hex(key), write_stream(*recorded));
      }
    }
    const std::uint64_t bytes = recorded->bytes();
    return std::pair(std::make_shared<const RecordedStream>(std::move(*recorded)), bytes);
  });
}

RecordedStream StageMaker::record_launch(const Experiment& experiment, Working& working) {
  const Settings& settings = *experiment.settings;
  const machine::Machine machine = stream_machine(settings);
  const auto data = input(experiment);
  const auto built = structure(experiment, nullptr);
  const auto packed = assignment(experiment);
  uploaded_.reset();
  const Resolved resolved = resolved_of(settings, data->trace, false);
  const trace::Launch& launch = data->trace.launches[resolved.launch];
  LaunchSchedule schedule = schedule_launch(launch, {resolved.order, resolved.packings.back(), *packed, *packed},
                                            settings.text("schedule.distribution"), machine.sms);
  RecordedStream recorded;
  memory::StreamOptions options = stream_of(settings, resolved.warp_size);
  // Reserved as it grows: what is recorded; a part while they are joined; chunks of warps before they are coalesced;
  // and warps that are resident, whose transactions were made, and are with their instructions twice as large.
  std::uint64_t room = 0;
  std::uint64_t told = 0;
  memory::Holding held{memory::ChunkRoom::kBytes * static_cast<std::uint64_t>(tbb::this_task_arena::max_concurrency()),
                       0};
  const StreamRecorder* recording = nullptr;
  const auto reserve = [&] {
    const std::uint64_t recorded_now = recording == nullptr ? 0 : recording->taken();
    const std::uint64_t resident = held.transactions - std::min(held.transactions, recorded_now);
    working.set((room + 2 * resident) * sizeof(memory::Transaction) + std::max(held.bytes, StreamRecorder::kPartBytes));
    told = held.transactions;
  };
  // The recorder waits while warps are made: only one of the two reserves at a time.
  options.holding = [&](const memory::Holding& now) {
    held.transactions = now.transactions;
    if (now.bytes > held.bytes || now.transactions > told + kWorthTelling) {
      held.bytes = std::max(held.bytes, now.bytes);
      reserve();
    }
  };
  const auto source = memory::make_launch_source(data->trace, launch, built->bvh, schedule.plan.thread_at, options);
  recorded.coalescing = options.coalescing;
  recorded.sms = machine.sms;
  StreamRecorder recorder(recorded, [&](std::uint64_t transactions) {
    room = transactions;
    reserve();
  });
  recording = &recorder;
  reserve();
  machine::InterleaveOptions interleaving = interleaving_of(settings, machine, resolved.warp_size);
  interleaving.progress = progress_;
  const machine::InterleaveResult interleaved =
      machine::interleave(*source, schedule.plan, machine, interleaving, recorder);
  recorder.finish();
  recorded.cycles = interleaved.cycles;
  recorded.instructions = interleaved.instructions;
  if (accelerator_ != nullptr) {
    accelerator_->note_cpu("access stream", "warps are traversed and interleaved on the processor");
  }
  return recorded;
}

RecordedStream StageMaker::record_memory_trace(const Experiment& experiment, Working& working) {
  const Settings& settings = *experiment.settings;
  RecordedStream recorded;
  recorded.coalescing = coalescing_of(settings);
  StreamRecorder recorder(recorded, [&](std::uint64_t transactions) {
    working.set(transactions * sizeof(memory::Transaction) + StreamRecorder::kPartBytes);
  });
  const std::string& name = experiment.facts->name;
  if (experiment.facts->is_workload) {
    const auto data = input(experiment);
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
                                   experiment.facts->hash, "run again when nobody writes it"});
  }
  recorder.finish();
  return recorded;
}

MetricSet StageMaker::structure_numbers(const Experiment& experiment) {
  std::vector<bvh::Tree> trees;
  const auto built = structure(experiment, &trees);
  if (trees.empty()) {  // it was there already, without its trees
    const bvh::Bvh again = build(experiment, built->input->trace, &trees);
    return structure_metrics(again, trees);
  }
  return structure_metrics(built->bvh, trees);
}

MetricSet StageMaker::simt_numbers(const Experiment& experiment) {
  const auto data = input(experiment);
  const Resolved resolved = resolved_of(*experiment.settings, data->trace, true);
  const auto least = bound(experiment);
  const auto packed = assignment(experiment);
  const Working working(*kept_, estimate_bytes(Stage::Simt, experiment));
  simt::ReplayOptions options;
  options.policy = resolved.policy;
  options.shader_cost = resolved.costs;
  options.on_device = on_device(data, resolved.launch);
  return simt_metrics(simt::replay(data->trace.launches[resolved.launch], data->trace.shaders, *packed, options),
                      !resolved.costs.empty(), *least);
}

std::vector<StageMaker::Made> StageMaker::models(std::span<const Experiment* const> members) {
  const Experiment& first = *members.front();
  const Settings& settings = *first.settings;
  const auto data = input(first);
  const auto packed = assignment(first);
  CompareOptions options = compare_of(settings);
  if (options.replay_steps) {
    options.costs.ray_steps = *ray_steps(first);
    options.replay_steps = false;
  }
  uploaded_.reset();
  const Working working(*kept_, estimate_bytes(Stage::Model, first));
  options.start = packed.get();
  options.progress = progress_;
  options.accelerator = accelerator_;
  for (const Experiment* member : members) {
    options.models.push_back(scheduler::SchedulerModels::create(member->settings->text("scheduler.model")).spec);
  }
  const std::vector<std::string> wanted(options.models.end() - static_cast<std::ptrdiff_t>(members.size()),
                                        options.models.end());
  const CompareResult result =
      compare(data->trace, first.facts->name, resolved_of(settings, data->trace, true), options);
  std::vector<Made> made;
  made.reserve(wanted.size());
  for (const std::string& spec : wanted) {
    made.emplace_back(model_metrics(*std::ranges::find(result.rows, spec, &CompareRow::model), result));
  }
  return made;
}

std::vector<StageMaker::Made> StageMaker::traversals(std::span<const Experiment* const> members) {
  const Experiment& first = *members.front();
  const auto built = structure(first, nullptr);
  const auto packed = assignment(first);
  uploaded_.reset();
  Working working(*kept_);
  const trace::Trace& trace = built->input->trace;
  const Resolved resolved = resolved_of(*first.settings, trace, false);
  if (kept_->limited()) {
    working.set(batch_bytes(trace.launches[resolved.launch], built->bvh));
  }
  SpecList rays;
  SpecList warps;
  std::vector<std::pair<std::size_t, std::size_t>> rows;
  for (const Experiment* member : members) {
    rows.emplace_back(rays.add(member->settings->text("traversal.ray")),
                      warps.add(member->settings->text("traversal.warp")));
  }
  TraverseOptions options;
  options.traversals = rays.specs();
  options.warp_traversals = warps.specs();
  options.packing = resolved.packings.back();
  options.built = &built->bvh;
  options.packed = packed.get();
  options.progress = progress_;
  options.accelerator = accelerator_;
  const TraverseResult result = traverse(trace, first.facts->name, resolved, options);
  std::vector<Made> made;
  made.reserve(rows.size());
  for (const auto& [ray, warp] : rows) {  // row 0 is the trace's own
    made.emplace_back(
        traversal_metrics(result.rows[1 + ray], result.rows[1 + rays.specs().size() + warp], resolved.warp_size));
  }
  return made;
}

std::vector<StageMaker::Made> StageMaker::caches(std::span<const Experiment* const> members) {
  std::vector<Made> made(members.size());
  std::vector<Hierarchy> hierarchies;
  std::vector<std::size_t> of_member;
  for (std::size_t i = 0; i < members.size(); ++i) {
    try {
      hierarchies.push_back(hierarchy_of(*members[i]->settings));
      of_member.push_back(i);
    } catch (...) {
      made[i] = failure_of(std::current_exception());
    }
  }
  if (hierarchies.empty()) {
    return made;
  }
  const auto recorded = stream(*members.front());
  uploaded_.reset();
  const auto bytes = [&, tables = grid_table_bytes(*recorded, hierarchies)](std::uint64_t below) {
    return tables + caching_bytes(*recorded, below);
  };
  Working working(*kept_, bytes(0));
  const GridRoom room = [&](std::uint64_t below, bool at_least) {
    if (at_least) {
      working.set(bytes(below));
    }
    return at_least || working.try_set(bytes(below));
  };
  const GridResult grid = cache_grid(*recorded, hierarchies, accelerator_, progress_, room);
  for (std::size_t i = 0; i < hierarchies.size(); ++i) {
    if (grid.failures[i]) {
      made[of_member[i]] = Failure{ErrorKind::Usage, *grid.failures[i]};
    } else {
      made[of_member[i]] = cache_metrics(grid.counts[i], hierarchies[i], *recorded);
    }
  }
  return made;
}

std::vector<StageMaker::Made> StageMaker::together(Stage stage, std::span<const Experiment* const> members) {
  const Experiment& first = *members.front();
  if (first.facts->memory && stage != Stage::Cache) {
    throw Error(ErrorKind::Missing,
                {"a memory trace has accesses alone, neither threads nor a scene", first.facts->name,
                 fmt::format("outputs with \"{}\"", to_string(stage)), "outputs = \"cache\"", ""});
  }
  switch (stage) {
    case Stage::Model:
      return models(members);
    case Stage::Traversal:
      return traversals(members);
    case Stage::Cache:
      return caches(members);
    case Stage::Structure:
    case Stage::Simt: {
      if (members.size() == 1) {
        std::vector<Made> made;
        made.emplace_back(stage == Stage::Simt ? simt_numbers(first) : structure_numbers(first));
        return made;
      }
      break;
    }
    case Stage::Input:
    case Stage::Assignment:
    case Stage::Stream:
      break;
  }
  throw Error(ErrorKind::Internal, {"a stage was asked for what it does not give", to_string(stage), "", "", ""});
}

std::vector<StageMaker::Made> StageMaker::make(Stage stage, std::span<const Experiment* const> members) {
  const bool alone = stage == Stage::Structure || stage == Stage::Simt;
  if (!alone || members.size() == 1) {
    try {
      const DeviceWatch watch(accelerator_);
      std::vector<Made> made = together(stage, members);
      for (Made& one : made) {
        if (auto* metrics = std::get_if<MetricSet>(&one)) {
          metrics->device = watch.device();
        }
      }
      return made;
    } catch (...) {
      Failure failure = failure_of(std::current_exception());
      if (members.size() == 1) {
        return {Made(std::move(failure))};
      }
    }
  }
  std::vector<Made> made;
  for (std::size_t i = 0; i < members.size(); ++i) {
    made.push_back(make(stage, members.subspan(i, 1)).front());
  }
  return made;
}

}  // namespace rayreplay::experiment
