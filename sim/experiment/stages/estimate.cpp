#include "sim/experiment/stages/estimate.hpp"

#include <algorithm>

#include "sim/experiment/traverse.hpp"

namespace rayreplay::experiment {
namespace {

LaunchFacts launch_of(const Experiment& experiment) {
  const auto number = static_cast<std::size_t>(experiment.settings->integer("launch"));
  return number < experiment.facts->launches.size() ? experiment.facts->launches[number] : LaunchFacts{};
}

std::uint64_t likely_transactions(const Experiment& experiment) {
  constexpr std::uint64_t kOfARay = 12;
  constexpr std::uint64_t kOfARecord = 8;
  const InputFacts& facts = *experiment.facts;
  return facts.memory ? facts.records * kOfARecord : launch_of(experiment).rays * kOfARay;
}

}  // namespace

std::uint64_t estimate_bytes(Stage stage, const Experiment& experiment) {
  constexpr std::uint64_t kOfAPrimitive = 300;
  constexpr std::uint64_t kOfAThreadPacked = 16;
  constexpr std::uint64_t kOfAnEventReplayed = 4;
  constexpr std::uint64_t kOfAnEventTimed = 40;
  constexpr std::uint64_t kOfARayTraversed = 2400;
  constexpr std::uint64_t kOfCaches = std::uint64_t{64} << 20U;
  const InputFacts& facts = *experiment.facts;
  const LaunchFacts launch = launch_of(experiment);
  const std::uint64_t stream = likely_transactions(experiment) * sizeof(memory::Transaction);
  switch (stage) {
    case Stage::Input:
      return facts.memory_bytes;
    case Stage::Structure:
      return facts.primitives * kOfAPrimitive;
    case Stage::Assignment:
      return launch.size.threads() * kOfAThreadPacked;
    case Stage::Simt:
      return launch.events * kOfAnEventReplayed;
    case Stage::Model:
      return launch.events * kOfAnEventTimed;
    case Stage::Traversal:
      return std::min(launch.rays, TraverseOptions{}.batch_rays) * kOfARayTraversed;
    case Stage::Stream:
      return 2 * stream;  // what is made, and what is recorded
    case Stage::Cache:
      return stream + kOfCaches;
  }
  return 0;
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
    if (!one.kept && !one.stored && (leaf || used)) {
      one.needed = true;
      needed |= inputs(stage);
    }
    // The numbers of a stage that are there take a few hundred bytes.
    const bool numbers_there = leaf && !used && (one.kept || one.stored);
    if ((leaf || used) && !numbers_there) {
      one.memory_bytes = estimate_bytes(stage, experiment);
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
