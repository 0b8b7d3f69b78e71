#include "sim/engine/stage_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/access_sample.hpp"
#include "capture/trace/pipeline_registers.hpp"
#include "capture/trace/reader.hpp"
#include "sim/engine/stage_key.hpp"

namespace rayreplay::experiment {
namespace {

// Decoded columns of one ray and one event, optional columns included; of one primitive with its share of vertices.
constexpr std::uint64_t kRayBytes = 48;
constexpr std::uint64_t kEventBytes = 24;
constexpr std::uint64_t kThreadBytes = 16;
constexpr std::uint64_t kPrimitiveBytes = 48;
constexpr std::uint64_t kAccessBytes = 20;
constexpr std::uint64_t kRecordBytes = 19;
constexpr std::uint64_t kAddressBytes = 8;
/// For an estimate: the accesses of warps are known once the machine is.
constexpr std::uint64_t kRecordsOfWarps = std::uint64_t{1} << 16U;
/// Limit for all workloads that are made and not loaded yet; no memory budget counts them.
constexpr std::uint64_t kAheadBytes = std::uint64_t{32} << 20U;

void add_up(InputFacts& facts) {
  facts.memory_bytes = facts.primitives * kPrimitiveBytes;
  for (const LaunchFacts& launch : facts.launches) {
    facts.memory_bytes += launch.rays * kRayBytes + launch.events * kEventBytes + launch.size.threads() * kThreadBytes +
                          launch.accesses * kAccessBytes;
  }
}

std::optional<DriverRegisters> of_driver(const std::vector<trace::PipelineFacts>& facts, std::uint32_t pipeline) {
  const auto found = trace::registers_of(facts, pipeline);
  return found ? std::optional<DriverRegisters>({found->registers, pipeline, found->statistic}) : std::nullopt;
}

void add_sizes(const trace::Trace& trace, InputFacts& facts) {
  facts.warp_size = trace.header.warp_size;
  facts.access_every = trace::access_sample(trace.header);
  for (const trace::Launch& launch : trace.launches) {
    facts.launches.push_back({launch.size, launch.data.rays.size(), launch.data.events.size(),
                              !launch.thread_warp.empty(), launch.data.accesses.size(),
                              of_driver(trace.pipeline_facts, launch.pipeline),
                              trace::missing_accesses(trace.header, facts.launches.size())});
  }
  for (const trace::Geometry& geometry : trace.scene.geometries) {
    facts.primitives += geometry.primitives();
  }
  add_up(facts);
}

InputFacts facts_of_trace(const std::string& path) {
  const trace::FileInfo info = trace::read_info(path);
  InputFacts facts;
  facts.name = path;
  facts.hash = info.hash;
  facts.warp_size = info.header.warp_size;
  facts.primitives = info.primitives;
  facts.access_every = trace::access_sample(info.header);
  for (const trace::LaunchInfo& launch : info.launches) {
    facts.launches.push_back({launch.size, launch.rays, launch.events, launch.has_warps, launch.accesses,
                              of_driver(info.pipeline_facts, launch.pipeline),
                              trace::missing_accesses(info.header, facts.launches.size())});
  }
  add_up(facts);
  return facts;
}

InputFacts facts_of_memory_trace(const std::string& path) {
  const auto reader = import::open_memory_trace(path);
  InputFacts facts;
  facts.name = path;
  facts.memory = true;
  facts.warp_size = reader->header().warp_size;
  facts.launches.push_back({{reader->header().width, reader->header().height, 1}, 0, 0, false, 0});
  import::RecordBlock block;
  while (reader->next(block)) {
    facts.records += block.records();
  }
  facts.hash = reader->hash();
  return facts;
}

std::string hash_of(const workloads::Workloads::Created& created) {
  return hex(KeyMaker().add("workload").add(created.spec).add(std::to_string(created.model->version())).key());
}

InputFacts facts_of_workload(const std::string& spec) {
  const auto created = workloads::Workloads::create(spec);
  InputFacts facts;
  facts.name = created.spec;
  facts.is_workload = true;
  facts.hash = hash_of(created);
  facts.memory = created.model->kind() != workloads::WorkloadKind::Rays;
  facts.warps = created.model->kind() == workloads::WorkloadKind::Warps;
  InputData made;
  if (facts.warps) {
    facts.records = kRecordsOfWarps;
    facts.launches.push_back({{}, 0, 0, false});
    return facts;
  }
  if (facts.memory) {
    made.records = created.model->make_memory();
    const workloads::MemoryWorkload& memory = *made.records;
    facts.warp_size = memory.header.warp_size;
    facts.launches.push_back({{memory.header.width, memory.header.height, 1}, 0, 0, false, 0});
    facts.records = memory.records.records();
    facts.memory_bytes = facts.records * kRecordBytes + memory.records.address.size() * kAddressBytes;
  } else {
    made.trace = created.model->make_trace();
    add_sizes(made.trace, facts);
  }
  made.bytes = facts.memory_bytes;
  if (made.bytes <= kAheadBytes) {
    facts.made = std::make_shared<MadeAhead>(std::move(made));
  }
  return facts;
}

}  // namespace

InputFacts facts_of(const std::string& name, const trace::Trace& trace) {
  InputFacts facts;
  facts.name = name;
  facts.hash = trace.hash;
  add_sizes(trace, facts);
  return facts;
}

std::uint64_t MadeAhead::bytes() const {
  const std::lock_guard lock(mutex_);
  return data_ ? data_->bytes : 0;
}

std::optional<InputData> MadeAhead::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(data_, std::nullopt);
}

std::optional<InputCatalogue::Stamp> InputCatalogue::stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw Error(ErrorKind::Input, {"the file cannot be read", path, std::strerror(errno), "", ""});
  }
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorKind::Input, {"the file cannot be read", path, "a folder", "a trace", ""});
  }
  if (!S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  return Stamp{status.st_mtim.tv_sec, status.st_mtim.tv_nsec, static_cast<std::uint64_t>(status.st_size),
               static_cast<std::uint64_t>(status.st_ino), static_cast<std::uint64_t>(status.st_dev)};
}

std::string InputCatalogue::hash(const Settings& complete) {
  return complete.text("trace").empty() ? hash_of(workloads::Workloads::create(complete.text("workload")))
                                        : facts(complete)->hash;
}

std::mutex& InputCatalogue::gate_of(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return gates_[name];
}

std::shared_ptr<const InputFacts> InputCatalogue::known_workload(const std::string& spec) {
  const std::lock_guard lock(mutex_);
  const auto found = workloads_.find(spec);
  return found == workloads_.end() ? nullptr : found->second;
}

std::shared_ptr<const InputFacts> InputCatalogue::known_trace(const std::string& path, const Stamp& stamp) {
  const std::lock_guard lock(mutex_);
  const auto found = traces_.find(path);
  return found == traces_.end() || found->second.stamp != stamp ? nullptr : found->second.value;
}

/// The oldest are evicted first: they are the least likely to be loaded.
void InputCatalogue::keep_ahead(const InputFacts& facts) {
  if (facts.made == nullptr) {
    return;
  }
  std::vector<std::optional<InputData>> gone;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  ahead_.push_back(facts.made);
  std::uint64_t bytes = 0;
  for (auto place = ahead_.end(); place != ahead_.begin();) {
    const auto one = std::prev(place);
    const std::uint64_t its = (*one)->bytes();
    bytes += its;
    if (its > 0 && bytes <= kAheadBytes) {
      place = one;
    } else {
      gone.push_back((*one)->take());
      ahead_.erase(one);
    }
  }
}

std::shared_ptr<const InputFacts> InputCatalogue::facts(const Settings& complete) {
  const std::string& path = complete.text("trace");
  std::shared_ptr<const InputFacts> made;
  if (path.empty()) {
    const std::string& spec = complete.text("workload");
    if (auto known = known_workload(spec)) {
      return known;
    }
    const std::lock_guard gate(gate_of("workload " + spec));
    if (auto known = known_workload(spec)) {
      return known;
    }
    // Isolated: a thread that waits with the gate held must not start a task that wants the gate.
    tbb::this_task_arena::isolate([&] { made = std::make_shared<const InputFacts>(facts_of_workload(spec)); });
    keep_ahead(*made);
    const std::lock_guard lock(mutex_);
    return workloads_.emplace(spec, std::move(made)).first->second;
  }
  std::optional<Stamp> stamp = stamp_of(path);
  if (!stamp) {
    throw Error(ErrorKind::Usage, {"an experiment reads its trace more than once", path, "input that is no file",
                                   "a file", "write the input to a file"});
  }
  if (auto known = known_trace(path, *stamp)) {
    return known;
  }
  const std::lock_guard gate(gate_of("trace " + path));
  stamp = stamp_of(path);
  if (auto known = stamp ? known_trace(path, *stamp) : nullptr) {
    return known;
  }
  tbb::this_task_arena::isolate([&] {
    made = std::make_shared<const InputFacts>(import::has_memory_trace_start(path) ? facts_of_memory_trace(path)
                                                                                   : facts_of_trace(path));
  });
  const std::lock_guard lock(mutex_);
  if (stamp) {
    traces_[path] = {*stamp, made};
  }
  return made;
}

InputData InputCatalogue::load(const InputFacts& facts, Progress* progress) {
  if (auto made = facts.made ? facts.made->take() : std::nullopt) {
    return std::move(*made);
  }
  InputData data;
  data.bytes = facts.memory_bytes;
  if (facts.is_workload) {
    const auto created = workloads::Workloads::create(facts.name);
    if (facts.warps) {
      return data;
    }
    if (facts.memory) {
      data.records = created.model->make_memory();
    } else {
      data.trace = created.model->make_trace();
    }
  } else if (!facts.memory) {
    data.trace = trace::load(facts.name, {.progress = progress});
    if (data.trace.hash != facts.hash) {
      throw Error(ErrorKind::Input, {"the trace changed while it was read", facts.name, data.trace.hash, facts.hash,
                                     "run again when no other program writes it"});
    }
  }
  return data;
}

std::string InputCatalogue::content_of(const std::string& path) {
  const std::optional<Stamp> stamp = stamp_of(path);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = contents_.find(path); stamp && found != contents_.end() && found->second.stamp == *stamp) {
      return found->second.value;
    }
  }
  // Limit for files of hints (one number per ray) and schedules.
  constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30U;
  std::string hash = hex(KeyMaker().add(read_text_file(path, kMaxBytes)).key());
  if (stamp) {
    const std::lock_guard lock(mutex_);
    contents_[path] = {*stamp, hash};
  }
  return hash;
}

}  // namespace rayreplay::experiment
