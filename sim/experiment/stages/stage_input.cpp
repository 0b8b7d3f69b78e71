#include "sim/experiment/stages/stage_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/reader.hpp"
#include "sim/experiment/stages/stage_key.hpp"

namespace rayreplay::experiment {
namespace {

// Decoded columns of a ray and of an event, with their optional ones, and of a primitive with its share of vertices.
constexpr std::uint64_t kRayBytes = 48;
constexpr std::uint64_t kEventBytes = 24;
constexpr std::uint64_t kThreadBytes = 16;
constexpr std::uint64_t kPrimitiveBytes = 48;
constexpr std::uint64_t kRecordBytes = 19;
constexpr std::uint64_t kAddressBytes = 8;

void add_up(InputFacts& facts) {
  facts.memory_bytes = facts.primitives * kPrimitiveBytes;
  for (const LaunchFacts& launch : facts.launches) {
    facts.memory_bytes += launch.rays * kRayBytes + launch.events * kEventBytes + launch.size.threads() * kThreadBytes;
  }
}

InputFacts facts_of_trace(const std::string& path) {
  const trace::FileInfo info = trace::read_info(path);
  InputFacts facts;
  facts.name = path;
  facts.hash = info.hash;
  facts.warp_size = info.header.warp_size;
  facts.primitives = info.primitives;
  for (const trace::LaunchInfo& launch : info.launches) {
    facts.launches.push_back({launch.size, launch.rays, launch.events, launch.has_warps});
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
  facts.launches.push_back({{reader->header().width, reader->header().height, 1}, 0, 0, false});
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
  facts.memory = created.model->is_memory();
  if (facts.memory) {
    const workloads::MemoryWorkload made = created.model->make_memory();
    facts.warp_size = made.header.warp_size;
    facts.launches.push_back({{made.header.width, made.header.height, 1}, 0, 0, false});
    facts.records = made.records.records();
    facts.memory_bytes = facts.records * kRecordBytes + made.records.address.size() * kAddressBytes;
    return facts;
  }
  const trace::Trace made = created.model->make_trace();
  facts.warp_size = made.header.warp_size;
  for (const trace::Launch& launch : made.launches) {
    facts.launches.push_back(
        {launch.size, launch.data.rays.size(), launch.data.events.size(), !launch.thread_warp.empty()});
  }
  for (const trace::Geometry& geometry : made.scene.geometries) {
    facts.primitives += geometry.primitives();
  }
  add_up(facts);
  return facts;
}

}  // namespace

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

std::shared_ptr<const InputFacts> InputCatalogue::facts(const Settings& complete) {
  const std::string& path = complete.text("trace");
  if (path.empty()) {
    const std::string& spec = complete.text("workload");
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = workloads_.find(spec); found != workloads_.end()) {
        return found->second;
      }
    }
    auto made = std::make_shared<const InputFacts>(facts_of_workload(spec));
    const std::lock_guard lock(mutex_);
    return workloads_.emplace(spec, std::move(made)).first->second;
  }
  const std::optional<Stamp> stamp = stamp_of(path);
  if (!stamp) {
    throw Error(ErrorKind::Usage, {"an experiment reads its trace more than once", path, "input that is no file",
                                   "a file", "write the input to a file"});
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = traces_.find(path); found != traces_.end() && found->second.stamp == *stamp) {
      return found->second.value;
    }
  }
  auto made = std::make_shared<const InputFacts>(import::has_memory_trace_start(path) ? facts_of_memory_trace(path)
                                                                                      : facts_of_trace(path));
  const std::lock_guard lock(mutex_);
  traces_[path] = {*stamp, made};
  return made;
}

InputData InputCatalogue::load(const InputFacts& facts, Progress* progress) {
  InputData data;
  data.bytes = facts.memory_bytes;
  if (facts.is_workload) {
    const auto created = workloads::Workloads::create(facts.name);
    if (facts.memory) {
      data.records = created.model->make_memory();
    } else {
      data.trace = created.model->make_trace();
    }
  } else if (!facts.memory) {
    data.trace = trace::load(facts.name, {.progress = progress});
    if (data.trace.hash != facts.hash) {
      throw Error(ErrorKind::Input, {"the trace changed while it was read", facts.name, data.trace.hash, facts.hash,
                                     "run again when nobody writes it"});
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
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || (file.peek() != std::ifstream::traits_type::eof() && !(bytes << file.rdbuf())) || file.bad()) {
    throw Error(ErrorKind::Input, {"the file cannot be read", path, "", "", ""});
  }
  std::string hash = hex(KeyMaker().add(bytes.str()).key());
  if (stamp) {
    const std::lock_guard lock(mutex_);
    contents_[path] = {*stamp, hash};
  }
  return hash;
}

}  // namespace rayreplay::experiment
