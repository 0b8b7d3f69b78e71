#include "sim/simt/replayer.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "sim/simt/call_dictionary.hpp"
#include "sim/simt/job.hpp"
#include "sim/simt/kernel/kernel.hpp"

namespace rayreplay::simt {
namespace {

using kernel::CallSum;
using kernel::CodedEvent;
using kernel::Worker;

template <class Code>
void grow_codes(Worker<Code>& worker, unsigned which, std::size_t size) {
  auto& codes = static_cast<WorkerMemory<Code>*>(worker.owner)->codes.at(which);
  codes.resize(std::max(size, 2 * codes.size()));
  worker.warps[which].codes = codes.data();
  worker.warps[which].capacity = codes.size();
}

Pieces pieces_of(const trace::Launch& launch, const scheduler::WarpAssignment& assignment) {
  return {launch.data.events, launch.data.event_offset, assignment.thread_at, assignment.warp_size};
}

template <class Code>
std::vector<CallSum> count_warps(const kernel::Entries<Code>& entries, const CallDictionary& dictionary,
                                 const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                 const scheduler::WarpAssignment& assignment, const ReplayOptions& options,
                                 ReplayResult& result) {
  PreparedJob<Code> prepared =
      prepare<Code>(dictionary, shaders.size(), pieces_of(launch, assignment), options.policy, options.shader_cost);
  if (options.per_warp) {
    result.by_warp.resize(assignment.warps());
    prepared.job.by_warp = result.by_warp.data();
  }
  if (options.per_thread) {
    result.by_thread.resize(launch.data.threads());
    prepared.job.by_thread = result.by_thread.data();
  }
  const std::size_t calls = dictionary.calls.size();
  return sums_by_call(*run(entries, prepared.job, calls, options.progress), calls);
}

template <class Code>
std::vector<CodedEvent> record_warp(const kernel::Entries<Code>& entries, const CallDictionary& dictionary,
                                    const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                    const scheduler::WarpAssignment& assignment, std::size_t warp,
                                    const ReplayOptions& options) {
  const PreparedJob<Code> prepared =
      prepare<Code>(dictionary, shaders.size(), pieces_of(launch, assignment), options.policy, options.shader_cost);
  WorkerMemory<Code> memory(dictionary.calls.size());
  Worker<Code> worker = memory.worker(false);
  entries.record(prepared.job, worker, warp);
  return std::move(memory.recorded);
}

}  // namespace

void derive_from_calls(const CallDictionary& dictionary, const std::vector<CallSum>& sums, std::size_t shaders,
                       const std::vector<std::uint32_t>& shader_cost, ReplayResult& result) {
  result.by_shader.resize(shaders);
  for (std::size_t code = 0; code < sums.size(); ++code) {
    if (sums[code].warp_events == 0) {
      continue;
    }
    const Call call = dictionary.calls[code];
    const std::uint64_t cost = shader_cost.empty() ? 1 : shader_cost[call.shader];
    const Tally tally{sums[code].warp_events, sums[code].active_lanes, sums[code].warp_events * cost,
                      sums[code].active_lanes * cost};
    result.total += tally;
    result.by_kind[static_cast<std::size_t>(call.kind)] += tally;
    result.by_shader[call.shader] += tally;
    result.by_call.push_back({call.kind, call.shader, tally});
  }
  std::sort(result.by_call.begin(), result.by_call.end(), [](const CallTally& a, const CallTally& b) {
    return std::tie(a.kind, a.shader) < std::tie(b.kind, b.shader);
  });
}

void check_replay_inputs(std::size_t shaders, std::uint32_t warp_size, const std::vector<std::uint32_t>& shader_cost) {
  if (!shader_cost.empty() && shader_cost.size() != shaders) {
    throw Error(
        ErrorKind::Usage,
        {"the cost table does not fit the shaders", "shader costs", std::to_string(shader_cost.size()) + " costs",
         std::to_string(shaders) + ", one for each shader", "give a cost for every shader, in order"});
  }
  scheduler::check_warp_size(warp_size);
}

void check_thread_replay(const std::vector<trace::Shader>& shaders, const scheduler::WarpAssignment& assignment,
                         const ReplayOptions& options) {
  check_replay_inputs(shaders.size(), assignment.warp_size, options.shader_cost);
  if (assignment.thread_at.size() != assignment.warps() * assignment.warp_size) {
    throw Error(ErrorKind::Internal,
                {"the assignment's places do not fill its warps", "warp assignment",
                 std::to_string(assignment.thread_at.size()) + " places",
                 std::to_string(assignment.warps()) + " warps of " + std::to_string(assignment.warp_size), ""});
  }
}

Tally& Tally::operator+=(const Tally& other) {
  warp_events += other.warp_events;
  active_lanes += other.active_lanes;
  weighted_events += other.weighted_events;
  weighted_lanes += other.weighted_lanes;
  return *this;
}

double Tally::efficiency(std::uint32_t warp_size) const {
  const double slots = static_cast<double>(warp_events) * warp_size;
  return slots > 0 ? static_cast<double>(active_lanes) / slots : 0;
}

double Tally::weighted_efficiency(std::uint32_t warp_size) const {
  const double slots = static_cast<double>(weighted_events) * warp_size;
  return slots > 0 ? static_cast<double>(weighted_lanes) / slots : 0;
}

ReplayResult replay(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                    const scheduler::WarpAssignment& assignment, const ReplayOptions& options) {
  const auto on_cpu = [&] {
    return kernel::replay_on(*kernel::kernels().front(), launch, shaders, assignment, options);
  };
  check_thread_replay(shaders, assignment, options);
  return replay_twin.run(trace::accelerator_of(options.on_device), on_cpu, launch, shaders, assignment, options);
}

namespace kernel {

void grow(Worker<std::uint8_t>& worker, unsigned which, std::size_t codes) {
  grow_codes(worker, which, codes);
}
void grow(Worker<std::uint16_t>& worker, unsigned which, std::size_t codes) {
  grow_codes(worker, which, codes);
}
void append(Worker<std::uint8_t>& worker, CodedEvent event) {
  static_cast<WorkerMemory<std::uint8_t>*>(worker.owner)->recorded.push_back(event);
}
void append(Worker<std::uint16_t>& worker, CodedEvent event) {
  static_cast<WorkerMemory<std::uint16_t>*>(worker.owner)->recorded.push_back(event);
}
void fail_unknown_thread(std::uint64_t place, std::uint32_t thread, std::uint64_t threads) {
  throw Error(ErrorKind::Internal, {"the assignment names a thread that the launch does not have",
                                    "warp assignment, place " + std::to_string(place), std::to_string(thread),
                                    "less than " + std::to_string(threads), ""});
}

ReplayResult replay_on(const Kernel& kernel, const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                       const scheduler::WarpAssignment& assignment, const ReplayOptions& options) {
  check_thread_replay(shaders, assignment, options);
  report_start(options.progress, "replay", assignment.warps());
  ReplayResult result;
  result.warp_size = assignment.warp_size;
  result.policy = options.policy;
  const CallDictionary dictionary = make_call_dictionary(launch, shaders, options.policy);
  const std::vector<CallSum> sums =
      dictionary.narrow() ? count_warps(kernel.narrow, dictionary, launch, shaders, assignment, options, result)
                          : count_warps(kernel.wide, dictionary, launch, shaders, assignment, options, result);
  derive_from_calls(dictionary, sums, shaders.size(), options.shader_cost, result);
  report_finish(options.progress);
  return result;
}

std::vector<WarpEvent> replay_warp_on(const Kernel& kernel, const trace::Launch& launch,
                                      const std::vector<trace::Shader>& shaders,
                                      const scheduler::WarpAssignment& assignment, std::size_t warp, Policy policy) {
  ReplayOptions options;
  options.policy = policy;
  check_thread_replay(shaders, assignment, options);
  if (warp >= assignment.warps()) {
    throw Error(ErrorKind::Usage, {"there is no such warp", "warp", std::to_string(warp),
                                   "less than " + std::to_string(assignment.warps()), ""});
  }
  const CallDictionary dictionary = make_call_dictionary(launch, shaders, policy);
  const std::vector<CodedEvent> coded =
      dictionary.narrow() ? record_warp(kernel.narrow, dictionary, launch, shaders, assignment, warp, options)
                          : record_warp(kernel.wide, dictionary, launch, shaders, assignment, warp, options);
  std::vector<WarpEvent> events;
  events.reserve(coded.size());
  for (const CodedEvent& event : coded) {
    const Call call = dictionary.calls[event.code];
    events.push_back({call.kind, call.shader, event.mask});
  }
  return events;
}

}  // namespace kernel
}  // namespace rayreplay::simt
