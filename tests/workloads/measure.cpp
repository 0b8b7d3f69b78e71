#include "tests/workloads/measure.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <stdexcept>

#include "sim/caching/cache.hpp"
#include "sim/caching/cache_parts.hpp"
#include "sim/comparison/compare.hpp"
#include "sim/engine/stages/simt.hpp"
#include "sim/machine/cache_geometry.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/machine/time_shares.hpp"
#include "sim/machine/time_split.hpp"
#include "sim/rays/traverse.hpp"
#include "tests/interleave/random_source.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/support/second_path.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using workloads::KnownAnswer;
using workloads::Workload;

/// Settings of an answer, each to be taken once.
class Taken {
 public:
  explicit Taken(const KnownAnswer& known) {
    for (const auto& [key, value] : known.settings) {
      left_[key] = value;
    }
  }
  std::string take(const std::string& key, const std::string& otherwise) {
    const auto found = left_.find(key);
    if (found == left_.end()) {
      return otherwise;
    }
    const std::string value = found->second;
    left_.erase(found);
    return value;
  }
  std::map<std::string, std::string> take_all(const std::string& prefix) {
    std::map<std::string, std::string> result;
    while (true) {
      const auto found = left_.lower_bound(prefix);
      if (found == left_.end() || !found->first.starts_with(prefix)) {
        return result;
      }
      result[found->first.substr(prefix.size())] = found->second;
      left_.erase(found);
    }
  }
  void finish() const {
    if (!left_.empty()) {
      throw std::runtime_error("the test does not know the key " + left_.begin()->first);
    }
  }

 private:
  std::map<std::string, std::string> left_;
};

experiment::Configuration configuration_of(Taken& settings) {
  experiment::Configuration configuration;
  configuration.policy = settings.take("policy", configuration.policy);
  configuration.packings = {settings.take("packing", "identity")};
  for (const auto& [shader, cycles] : settings.take_all("costs.")) {
    configuration.costs.emplace_back(shader, static_cast<std::uint32_t>(std::stoul(cycles)));
  }
  return configuration;
}

double measure_simt(const trace::Trace& trace, const std::string& metric, Taken& settings) {
  const experiment::Configuration configuration = configuration_of(settings);
  settings.finish();
  // Behind identity, where it is another one.
  const simt::ReplayResult replay = test::what_if_by_hand(trace, configuration).back();
  return metric == "simt_efficiency" || configuration.costs.empty()
             ? replay.total.efficiency(replay.warp_size)
             : replay.total.weighted_efficiency(replay.warp_size);
}

double measure_model(const trace::Trace& trace, const std::string& metric, Taken& settings) {
  experiment::CompareOptions options;
  options.models = {settings.take("scheduler.model", "plain")};
  options.break_even = false;
  machine::Machine& machine = options.machine;
  machine = machine::load_machine("rtx4090");
  machine.sms = static_cast<std::uint32_t>(std::stoul(settings.take("machine.sms", std::to_string(machine.sms))));
  machine.withheld_sms = static_cast<std::uint32_t>(
      std::stoul(settings.take("machine.withheld_sms", std::to_string(machine.withheld_sms))));
  for (const auto& [shader, issue] : settings.take_all("shader_costs.")) {
    options.costs.hand.push_back({shader, std::stod(issue), -1});
  }
  const experiment::Configuration configuration = configuration_of(settings);
  settings.finish();
  const experiment::CompareResult result = test::compare_by_hand(trace, resolve(configuration, trace), options);
  const experiment::CompareRow& row = result.rows.back();
  return metric == "model_efficiency" ? row.efficiency : row.speed_up;
}

double measure_traversal(const trace::Trace& trace, const std::string& metric, Taken& settings) {
  experiment::TraverseOptions options;
  bvh::BvhOptions structure;
  structure.builder = settings.take("bvh.builder", structure.builder);
  structure.layout = settings.take("bvh.layout", structure.layout);
  structure.leaf_size = static_cast<std::uint32_t>(std::stoul(settings.take("bvh.leaf_size", "0")));
  options.traversals = {settings.take("traversal.ray", "near-first")};
  options.warp_traversals = {settings.take("traversal.warp", "while-while")};
  const experiment::Configuration configuration = configuration_of(settings);
  settings.finish();
  const experiment::Resolved resolved = resolve(configuration, trace);
  const experiment::TraverseResult result = test::traverse_by_hand(trace, resolved, options, structure);
  const experiment::TraverseRow& row = result.rows.at(1);
  if (metric == "traversal_warp_efficiency") {
    traversal::StepTally all;
    for (const traversal::StepTally& steps : result.rows.at(2).steps) {
      all += steps;
    }
    return all.efficiency(resolved.warp_size);
  }
  const auto rays = static_cast<double>(row.rays);
  const std::map<std::string, double> values = {
      {"traversal_rays", rays},
      {"traversal_hits", static_cast<double>(row.hits)},
      {"traversal_unobserved", static_cast<double>(row.unobserved)},
      {"traversal_triangles_per_ray", static_cast<double>(row.triangles) / rays}};
  return values.at(metric);
}

memory::CacheGeometry geometry(Taken& settings, const std::string& level, const memory::CacheGeometry& otherwise) {
  const std::string prefix = "cache." + level + ".";
  const std::string bytes = settings.take(prefix + "bytes", "");
  if (bytes.empty()) {
    return otherwise;
  }
  const auto number = [&](const char* part, const char* standard) {
    return static_cast<std::uint32_t>(std::stoul(settings.take(prefix + part, standard)));
  };
  return {std::stoull(bytes), number("line_bytes", "128"), number("ways", "0"), number("sector_bytes", "128")};
}

double measure_cache(const workloads::MemoryWorkload& workload, const std::string& metric, Taken& settings) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "t.rrm").string();
  const auto writer = import::create_memory_trace(path, import::TraceForm::Binary, false, workload.header);
  writer->append(workload.records);
  writer->commit();
  experiment::CacheOptions options;
  options.machine = machine::load_machine("rtx4090");
  experiment::Hierarchy& caches = options.caches;
  caches.l1 = geometry(settings, "l1", machine::l1_geometry(options.machine));
  caches.l2 = geometry(settings, "l2", machine::l2_geometry(options.machine));
  caches.l1_model = experiment::resolved_model(settings.take("cache.l1.model", "lru"), memory::kL1);
  caches.l2_model = experiment::resolved_model(settings.take("cache.l2.model", "lru"), memory::kL2);
  caches.l2_feed = settings.take("cache.l2_feed", "misses") == "all" ? memory::L2Feed::All : memory::L2Feed::Misses;
  const memory::CacheGeometry& first = caches.l1.bytes > 0 ? caches.l1 : caches.l2;
  options.stream.coalescing.line_bytes = first.line_bytes;
  options.stream.coalescing.sector_bytes = first.sector();
  options.distances = false;
  settings.finish();
  const experiment::CacheResult result = experiment::run_cache_imported(path, options);
  if (metric == "stream_transactions") {
    return static_cast<double>(result.analysis.transactions);
  }
  const memory::CacheCounts& counts = result.analysis.levels.at(metric == "l1_hit_rate" ? 0 : 1).counts;
  return static_cast<double>(counts.hits) / memory::kOne / static_cast<double>(counts.accesses);
}

/// Warps that are there already.
KeptSource kept(const workloads::WarpWorkload& made) {
  KeptSource source;
  source.streams = made.streams;
  source.options = made.coalescing;
  return source;
}

class NoSink : public memory::TransactionSink {
 public:
  void take(const memory::TransactionBlock& /*block*/) override {}
};

void hold_against_slow(const workloads::WarpWorkload& made, const machine::Machine& machine,
                       const machine::InterleaveOptions& options, const machine::InterleaveResult& result) {
  constexpr std::uint64_t kSmall = 3000;
  std::uint64_t steps = made.streams.size();
  for (const memory::WarpStream& stream : made.streams) {
    steps += stream.transactions.size();
  }
  if (steps > kSmall || result.cycles > 50 * kSmall) {
    return;
  }
  SlowQueues queues(made.plan);
  std::vector<memory::WarpStream> streams = made.streams;
  for (memory::WarpStream& stream : streams) {  // the slow one tells of instructions and requests too
    stream.raw.rows.resize(stream.instructions());
    stream.requests.resize(stream.transactions.size());
  }
  SlowInterleave slow(streams, made.coalescing, queues, machine, options);
  slow.run();
  if (slow.result.cycles != result.cycles || slow.result.time.sms != result.time.sms) {
    throw std::runtime_error("the slow interleaving takes " + std::to_string(slow.result.cycles) + " cycles, not " +
                             std::to_string(result.cycles));
  }
}

}  // namespace

std::map<std::string, double> measure_warps(const Workload& workload, const KnownAnswer& known,
                                            const machine::Machine& machine) {
  Taken settings(known);
  if (settings.take("schedule.time", "") != "memory") {
    throw std::runtime_error("warps need memory time");
  }
  const workloads::WarpWorkload made = workload.make_warps(machine);
  machine::InterleaveOptions options;
  options.work = true;
  options.resident_warps = made.resident_warps;
  options.compute_cycles = static_cast<std::uint32_t>(std::stoul(settings.take("schedule.compute_cycles", "")));
  options.warp_scheduler = settings.take("schedule.warp_scheduler", "");
  options.start_delay = made.start_delay;
  settings.finish();
  KeptSource source = kept(made);
  NoSink sink;
  const machine::InterleaveResult result = machine::interleave(source, made.plan, machine, options, sink);
  hold_against_slow(made, machine, options, result);
  const machine::TimeShares shares =
      machine::time_shares(result.time, result.cycles, result.mshr_stall_cycles, machine);
  const machine::StageShares stages = machine::stage_shares(result.time);
  const auto part = [&](machine::WarpWait state) { return shares.parts[static_cast<std::size_t>(state)]; };
  const auto busy = [&](machine::Resource resource) { return shares.busy[static_cast<std::size_t>(resource)]; };
  const auto& exchange = stages[static_cast<std::size_t>(memory::WorkStage::Exchange)];
  return {{"time_cycles", static_cast<double>(result.cycles)},
          {"time_l2_bytes", static_cast<double>(result.time.l2_bytes)},
          {"time_dram_bytes", static_cast<double>(result.time.dram_bytes)},
          {"time_dram_written_bytes", static_cast<double>(result.time.dram_written_bytes)},
          {"time_resident_warps", shares.resident_warps},
          {"time_issue_share", part(machine::WarpWait::Issue)},
          {"time_traversal_share", part(machine::WarpWait::Traversal)},
          {"time_issue_slots_busy", busy(machine::Resource::IssueSlots)},
          {"time_ray_tracing_units_busy", busy(machine::Resource::RayUnit)},
          {"time_l2_bandwidth_busy", busy(machine::Resource::L2Bandwidth)},
          {"time_dram_bandwidth_busy", busy(machine::Resource::DramBandwidth)},
          {"time_mshrs_busy", busy(machine::Resource::Mshrs)},
          {"time_stage_exchange_share", std::accumulate(exchange.begin(), exchange.end(), 0.0)}};
}

double measure(const Workload& workload, const KnownAnswer& known) {
  Taken settings(known);
  if (workload.kind() == workloads::WorkloadKind::Warps) {
    return measure_warps(workload, known, machine::load_machine("rtx4090")).at(known.metric);
  }
  if (workload.kind() == workloads::WorkloadKind::Memory) {
    return measure_cache(workload.make_memory(), known.metric, settings);
  }
  const trace::Trace trace = workload.make_trace();
  if (known.metric.starts_with("simt_")) {
    return measure_simt(trace, known.metric, settings);
  }
  if (known.metric.starts_with("model_")) {
    return measure_model(trace, known.metric, settings);
  }
  return measure_traversal(trace, known.metric, settings);
}

}  // namespace rayreplay::test
