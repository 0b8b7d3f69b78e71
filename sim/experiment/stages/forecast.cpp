#include "sim/experiment/stages/forecast.hpp"

#include <algorithm>

#include "sim/experiment/stages/stage_settings.hpp"
#include "sim/experiment/stages/traversal_memory.hpp"
#include "sim/experiment/streams/cache_grid.hpp"
#include "sim/experiment/traverse.hpp"

namespace rayreplay::experiment {
namespace {

// Nanoseconds of the processor, bytes, and how many transactions a ray makes: rounded from `rayreplay run` of one
// output after another on the traces of tests/data/h200 and on the workload coherence with 262,144 rays (2 cores of an
// AMD EPYC, which were busy). From trace to trace they differ by a factor of two.
constexpr double kNsPerByteLoaded = 1.5;
constexpr double kNsPerPrimitive = 1100;
constexpr double kNsPerThreadPacked = 30;
constexpr double kNsPerEventReplayed = 25;
constexpr double kNsPerEventTimed = 25;
constexpr double kNsPerRayTraversed = 1600;
constexpr double kNsPerTransactionMade = 600;
constexpr double kNsPerTransactionCached = 120;
constexpr double kNsPerResult = 300'000;  // keys, hand-over, a row of a sweep: 2,000 replays of four warps
constexpr std::uint64_t kAccessesPerRay = 24;
constexpr std::uint64_t kTransactionsPerRay = 12;
constexpr std::uint64_t kTransactionsPerRecord = 8;
constexpr std::uint64_t kTransactionBytes = 16;
constexpr std::uint64_t kBytesPerTransactionOrdered = 4;
constexpr std::uint64_t kBytesPerTransactionResident = 25;  // with its share of instructions, and of holes
constexpr std::uint64_t kLeastItemsAhead = 256;
constexpr std::uint64_t kStructureBytesPerPrimitive = 300;
constexpr std::uint64_t kBytesPerEventReplayed = 4;
constexpr std::uint64_t kBytesPerEventTimed = 40;
constexpr std::uint64_t kBytesPerThreadPacked = 16;
constexpr std::uint64_t kBatchBytes = std::uint64_t{64} << 20U;    // of warps, or of records, before they are coalesced
constexpr std::uint64_t kCacheBytes = std::uint64_t{48} << 20U;    // of what passes remember of lines
constexpr std::uint64_t kBatchesBytes = std::uint64_t{16} << 20U;  // of accesses on their way through passes

struct Cost {
  double nanoseconds = 0;
  std::uint64_t result_bytes = 0;
  std::uint64_t working_bytes = 0;
};

/// The accesses of a feed, of which most launches leave less than half.
std::uint64_t likely_feed_bytes(std::uint64_t transactions) {
  return transactions * sizeof(memory::LineAccess) / 2;
}

std::uint32_t sms_of(const Experiment& experiment) {
  return experiment.facts->memory ? 1 : static_cast<std::uint32_t>(experiment.settings->integer("machine.sms"));
}

double as_double(std::uint64_t count) {
  return static_cast<double>(count);
}

LaunchFacts launch_of(const Experiment& experiment) {
  const auto number = static_cast<std::size_t>(experiment.settings->integer("launch"));
  return number < experiment.facts->launches.size() ? experiment.facts->launches[number] : LaunchFacts{};
}

Cost cost_of(Stage stage, const Experiment& experiment, bool storing) {
  const InputFacts& facts = *experiment.facts;
  const LaunchFacts launch = launch_of(experiment);
  const std::uint64_t threads = launch.size.threads();
  const std::uint64_t transactions = likely_transactions(experiment);
  switch (stage) {
    case Stage::Input:
      return {as_double(facts.memory_bytes) * kNsPerByteLoaded, facts.memory_bytes};
    case Stage::Structure:
      return {as_double(facts.primitives) * kNsPerPrimitive, facts.primitives * kStructureBytesPerPrimitive};
    case Stage::Assignment:
      return {as_double(threads) * kNsPerThreadPacked, threads * kBytesPerThreadPacked};
    case Stage::Simt:
      return {as_double(launch.events) * kNsPerEventReplayed, 0, launch.events * kBytesPerEventReplayed};
    case Stage::Model:  // the asked one, and plain
      return {2 * as_double(launch.events) * kNsPerEventTimed, 0, launch.events * kBytesPerEventTimed};
    case Stage::Traversal:  // by rays, and by warps
      return {2 * as_double(launch.rays) * kNsPerRayTraversed, 0,
              std::min(launch.rays, TraverseOptions{}.batch_rays) *
                  (kBytesPerRayTraversed + kAccessesPerRay * kBytesPerAccessTraversed)};
    case Stage::Stream:
      return {as_double(transactions) * kNsPerTransactionMade, transactions * kTransactionBytes,
              std::max(recording_bytes(experiment, transactions), storing ? transactions * kTransactionBytes : 0)};
    case Stage::Cache:
      return {as_double(transactions) * kNsPerTransactionCached, 0,
              kCacheBytes + caching_bytes(transactions, sms_of(experiment), likely_feed_bytes(transactions))};
  }
  return {};
}

}  // namespace

std::uint64_t memory_of(std::span<const StageForecast> stages) {
  std::uint64_t results = 0;
  std::uint64_t working = 0;
  for (const StageForecast& stage : stages) {
    results += stage.result_bytes;
    working = std::max(working, stage.memory_bytes - stage.result_bytes);
  }
  return results + working;
}

std::uint64_t likely_result_bytes(Stage stage, const Experiment& experiment) {
  return cost_of(stage, experiment, false).result_bytes;
}

std::uint64_t likely_working_bytes(Stage stage, const Experiment& experiment) {
  return cost_of(stage, experiment, false).working_bytes;
}

std::uint64_t recording_bytes(const Experiment& experiment, std::uint64_t transactions, std::uint64_t held) {
  const Settings& settings = *experiment.settings;
  if (experiment.facts->memory) {
    return kBatchBytes;
  }
  const auto number = [&](const char* key) { return static_cast<std::uint64_t>(settings.integer(key)); };
  const std::uint64_t warp_size = std::max<std::uint64_t>(1, decisions(settings, *experiment.facts).warp_size);
  const std::uint64_t items = (launch_of(experiment).size.threads() + warp_size - 1) / warp_size;
  const std::uint64_t resident =
      number("machine.sms") *
      (number("schedule.resident_warps") > 0 ? number("schedule.resident_warps") : number("machine.resident_warps"));
  const std::uint64_t there = resident + std::max(kLeastItemsAhead, resident / 4);
  const double share = there < items ? as_double(there) / as_double(items) : 1.0;
  return std::max(kBatchBytes, held) +
         static_cast<std::uint64_t>(share * as_double(transactions) * as_double(kBytesPerTransactionResident));
}

std::uint64_t caching_bytes(std::uint64_t transactions, std::uint32_t sms, std::uint64_t below) {
  const std::uint64_t all = transactions * sizeof(memory::LineAccess);
  const std::uint64_t l1s = std::min(all, std::max(kGridBytes / 2, all / std::max(1U, sms)));
  return transactions * kBytesPerTransactionOrdered + kBatchesBytes + std::max(l1s, below);
}

std::uint64_t likely_transactions(const Experiment& experiment) {
  const InputFacts& facts = *experiment.facts;
  return facts.memory ? facts.records * kTransactionsPerRecord : launch_of(experiment).rays * kTransactionsPerRay;
}

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
    const Cost cost = cost_of(stage, experiment, store != nullptr);
    if (!one.kept && !one.stored && (leaf || used)) {
      constexpr double kNanosecond = 1e-9;
      one.seconds = (cost.nanoseconds + (leaf ? kNsPerResult : 0)) * kNanosecond;
      needed |= inputs(stage);
    }
    // The numbers of a stage that are there take a few hundred bytes.
    const bool numbers_there = leaf && !used && (one.kept || one.stored);
    if ((leaf || used) && !numbers_there) {
      one.memory_bytes = cost.result_bytes + (one.kept     ? 0
                                              : one.stored ? cost.result_bytes  // the file's bytes, as it is read
                                                           : cost.working_bytes);
      one.result_bytes = cost.result_bytes;
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
