#include "sim/experiment/stages/forecast.hpp"

#include <algorithm>

namespace rayreplay::experiment {
namespace {

// Nanoseconds and bytes, measured with rayreplay's own benchmarks and captured traces (tests/data/h200) on one core of
// an x86-64 server of 2 cores at about 2.5 GHz. A launch's rays make about so many transactions.
constexpr double kNsPerByteLoaded = 1.5;
constexpr double kNsPerPrimitive = 1500;
constexpr double kNsPerThreadPacked = 30;
constexpr double kNsPerEventReplayed = 25;
constexpr double kNsPerEventTimed = 60;
constexpr double kNsPerRayTraversed = 6000;
constexpr double kNsPerTransactionMade = 150;
constexpr double kNsPerTransactionCached = 40;
constexpr std::uint64_t kTransactionsPerRay = 20;
constexpr std::uint64_t kTransactionsPerRecord = 8;
constexpr std::uint64_t kTransactionBytes = 16;
constexpr std::uint64_t kStructureBytesPerPrimitive = 300;
constexpr std::uint64_t kBytesPerEventReplayed = 4;
constexpr std::uint64_t kBytesPerEventTimed = 40;
constexpr std::uint64_t kBytesPerThreadPacked = 16;
constexpr std::uint64_t kBatchBytes = std::uint64_t{64} << 20U;  // of rays with their accesses
constexpr std::uint64_t kCacheBytes = std::uint64_t{64} << 20U;

struct Cost {
  double nanoseconds = 0;
  std::uint64_t bytes = 0;
};

double as_double(std::uint64_t count) {
  return static_cast<double>(count);
}

Cost cost_of(Stage stage, const Experiment& experiment) {
  const InputFacts& facts = *experiment.facts;
  const auto number = static_cast<std::size_t>(experiment.settings->integer("launch"));
  const LaunchFacts launch = number < facts.launches.size() ? facts.launches[number] : LaunchFacts{};
  const std::uint64_t threads = launch.size.threads();
  const std::uint64_t transactions =
      facts.memory ? facts.records * kTransactionsPerRecord : launch.rays * kTransactionsPerRay;
  switch (stage) {
    case Stage::Input:
      return {as_double(facts.memory_bytes) * kNsPerByteLoaded, facts.memory_bytes};
    case Stage::Structure:
      return {as_double(facts.primitives) * kNsPerPrimitive, facts.primitives * kStructureBytesPerPrimitive};
    case Stage::Assignment:
      return {as_double(threads) * kNsPerThreadPacked, threads * kBytesPerThreadPacked};
    case Stage::Simt:
      return {as_double(launch.events) * kNsPerEventReplayed, launch.events * kBytesPerEventReplayed};
    case Stage::Model:  // the asked one, and plain
      return {2 * as_double(launch.events) * kNsPerEventTimed, launch.events * kBytesPerEventTimed};
    case Stage::Traversal:  // by rays, and by warps
      return {2 * as_double(launch.rays) * kNsPerRayTraversed, kBatchBytes};
    case Stage::Stream:
      return {as_double(transactions) * kNsPerTransactionMade, transactions * kTransactionBytes};
    case Stage::Cache:
      return {as_double(transactions) * kNsPerTransactionCached, kCacheBytes};
  }
  return {};
}

}  // namespace

const Key& leaf_key(Stage stage, const Experiment& experiment) {
  return stage == Stage::Structure ? experiment.keys.structure_metrics : of(experiment.keys.stages, stage);
}

std::vector<StageForecast> forecast_stages(const Experiment& experiment, const KeptResults& kept, const Store* store) {
  const auto inputs = [memory = experiment.facts->memory](Stage stage) {
    return stage == Stage::Cache              ? bit(Stage::Stream)  // needs nothing of what the stream was made from
           : memory && stage == Stage::Stream ? bit(Stage::Input)
                                              : inputs_of(stage);
  };
  const auto stored = [&](const char* kind, const Key& key) { return store != nullptr && store->has(kind, hex(key)); };
  StageMask listed = 0;  // what the outputs need, were nothing there
  StageMask needed = 0;  // what they need as it is
  std::array<StageForecast, kStages> all{};
  for (std::size_t i = kStages; i-- > 0;) {
    const auto stage = static_cast<Stage>(i);
    const bool leaf =
        std::ranges::find(kLeafStages, stage) != kLeafStages.end() && experiment.settings->wants(to_string(stage));
    if (!leaf && (listed & bit(stage)) == 0) {
      continue;
    }
    // A structure is asked for its numbers, and used by others.
    const bool used = (needed & bit(stage)) != 0;
    const Key& key = leaf && !used ? leaf_key(stage, experiment) : of(experiment.keys.stages, stage);
    const char* const kind = leaf && !used                ? kStoredMetrics
                             : stage == Stage::Stream     ? kStoredStream
                             : stage == Stage::Assignment ? kStoredPacking
                                                          : nullptr;
    StageForecast& one = all[i];
    one.stage = stage;
    one.key = hex(key);
    one.kept = kept.has(key);
    one.stored = kind != nullptr && stored(kind, key);
    const Cost cost = cost_of(stage, experiment);
    if (!one.kept && !one.stored && (leaf || used)) {
      constexpr double kNanosecond = 1e-9;
      one.seconds = cost.nanoseconds * kNanosecond;
      needed |= inputs(stage);
    }
    if (leaf || used) {
      one.memory_bytes = cost.bytes;
    }
    listed |= bit(stage) | inputs(stage);
  }
  std::vector<StageForecast> result;
  for (std::size_t i = 0; i < kStages; ++i) {
    if ((listed & bit(static_cast<Stage>(i))) != 0) {
      result.push_back(std::move(all[i]));
    }
  }
  return result;
}

}  // namespace rayreplay::experiment
