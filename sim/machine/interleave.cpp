#include "sim/machine/interleave.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "sim/machine/cache_geometry.hpp"
#include "sim/machine/warp_scheduler.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::uint32_t kMaxLatencyCycles = 1'000'000;  // the limit of a machine file

[[noreturn]] void wrong(const std::string& what, std::string found, std::string expected) {
  throw Error(ErrorKind::Usage, {what, "", std::move(found), std::move(expected), ""});
}

/// A machine that was not read from a file has not passed the file's range checks.
void check_latencies(const Machine& machine) {
  const std::pair<const char*, std::uint32_t> latencies[] = {{"l1_latency_cycles", machine.l1_latency_cycles},
                                                             {"l2_latency_cycles", machine.l2_latency_cycles},
                                                             {"dram_latency_cycles", machine.dram_latency_cycles}};
  for (const auto& [key, cycles] : latencies) {
    if (cycles == 0 || cycles > kMaxLatencyCycles) {
      throw Error(ErrorKind::Usage, {"a latency is out of range", fmt::format("machine '{}', {}", machine.name, key),
                                     fmt::format("{}", cycles), fmt::format("1 to {}", kMaxLatencyCycles), ""});
    }
  }
  if (machine.outstanding_misses == 0) {
    throw Error(ErrorKind::Usage,
                {"the machine allows no outstanding miss",
                 fmt::format("machine '{}', outstanding_misses", machine.name), "0", "at least 1", ""});
  }
}

/// As check_latencies, with memory time's rates.
void check_rates(const Machine& machine) {
  const std::pair<const char*, double> rates[] = {{"issue_per_cycle", machine.issue_per_cycle},
                                                  {"rt_steps_per_cycle", machine.rt_steps_per_cycle},
                                                  {"clock_mhz", machine.clock_mhz},
                                                  {"l2_bytes_per_second", machine.l2_bytes_per_second},
                                                  {"dram_bytes_per_second", machine.dram_bytes_per_second}};
  const auto refuse = [&](const char* what, const char* key, std::string found, std::string expected) {
    throw Error(ErrorKind::Usage,
                {what, fmt::format("machine '{}', {}", machine.name, key), std::move(found), std::move(expected), ""});
  };
  for (const auto& [key, rate] : rates) {
    if (!(rate > 0)) {
      refuse("a rate of the machine is out of range", key, fmt::format("{}", rate), "above 0");
    }
  }
  if (machine.issue_partitions == 0 || machine.issue_partitions > kMaxIssuePartitions) {
    refuse("the number of partitions is out of range", "issue_partitions", fmt::format("{}", machine.issue_partitions),
           fmt::format("1 to {}", kMaxIssuePartitions));
  }
  const double boxes = machine.rt_boxes_per_cycle;
  const double triangles = machine.rt_triangles_per_cycle;
  if (!(boxes >= 0 && triangles >= 0 && (boxes > 0) == (triangles > 0))) {
    refuse("the rates of the ray-tracing unit contradict each other", "rt_boxes_per_cycle, rt_triangles_per_cycle",
           fmt::format("{} and {}", boxes, triangles), "both above 0, or both 0");
  }
  if (!(machine.rt_test_latency_cycles >= 0 && machine.rt_test_latency_cycles <= kMaxLatencyCycles)) {
    refuse("a latency is out of range", "rt_test_latency_cycles", fmt::format("{}", machine.rt_test_latency_cycles),
           fmt::format("0 to {}", kMaxLatencyCycles));
  }
}

void check_delays(const InterleaveCall& call) {
  const std::size_t delays = call.options.start_delay.size();
  if (delays != 0 && !call.options.work) {
    wrong("delays of warps need their work", fmt::format("{} delays", delays), "none without work");
  }
  const std::uint32_t wanted = std::min(call.dispatcher.items(), call.dispatcher.known_items() + 1);
  if (delays != 0 && delays != wanted) {
    wrong("the delays are those of another number of items", fmt::format("{} delays", delays),
          fmt::format("{}", wanted));
  }
}

void check_call(const InterleaveCall& call) {
  const InterleaveOptions& options = call.options;
  if (options.resident_warps == 0 || options.resident_warps > kMaxResidentWarps) {
    wrong("the number of resident warps is out of range", fmt::format("{}", options.resident_warps),
          fmt::format("1 to {}", kMaxResidentWarps));
  }
  if (options.compute_cycles > kMaxComputeCycles) {
    wrong("there are too many compute cycles", fmt::format("{}", options.compute_cycles),
          fmt::format("at most {}", kMaxComputeCycles));
  }
  check_latencies(call.machine);
  if (options.work) {
    check_rates(call.machine);
  }
  check_delays(call);
  if (options.history != nullptr && !options.work) {
    wrong("a history needs memory time", "no work", "options.work");
  }
  if (call.dispatcher.items() != call.source.items()) {
    wrong("the work plan has another number of items than the source of streams",
          fmt::format("{} items", call.dispatcher.items()), fmt::format("{}", call.source.items()));
  }
  if (call.dispatcher.first_sm() >= call.machine.sms) {
    wrong("no SM is left to run warps", fmt::format("{} withheld", call.dispatcher.first_sm()),
          fmt::format("less than {}, the machine's SMs", call.machine.sms));
  }
  const std::uint64_t lines =
      l2_geometry(call.machine).lines() + l1_geometry(call.machine).lines() * std::uint64_t{call.machine.sms};
  if (lines > kMaxLines) {
    throw Error(ErrorKind::Resource,
                {"the machine's caches have too many lines", "machine '" + call.machine.name + "'",
                 fmt::format("{}, those of all L1s and of the L2", lines), fmt::format("at most {}", kMaxLines),
                 "make the caches smaller, their lines longer, or the SMs fewer"});
  }
}

}  // namespace

InterleaveResult interleave(memory::WarpSource& source, Dispatcher& dispatcher, const Machine& machine,
                            const InterleaveOptions& options, memory::TransactionSink& sink) {
  const InterleaveCall call{source, dispatcher, machine, options, sink};
  check_call(call);
  const WarpSchedulers::Created scheduler = WarpSchedulers::create(options.warp_scheduler);
  report_start(options.progress, "interleaving", dispatcher.items());
  InterleaveResult result = scheduler.model->run(call);
  if (dispatcher.has_left(result.items)) {
    throw Error(ErrorKind::Internal,
                {"the dispatcher withholds items for ever", "interleave", fmt::format("{} items ran", result.items),
                 "all", "report this: the scheduler model is at fault"});
  }
  result.warp_scheduler = scheduler.spec;
  report_finish(options.progress);
  return result;
}

InterleaveResult interleave(memory::WarpSource& source, const WorkPlan& plan, const Machine& machine,
                            const InterleaveOptions& options, memory::TransactionSink& sink) {
  return interleave(source, *dispatch_plan(plan, machine.sms), machine, options, sink);
}

}  // namespace rayreplay::machine
