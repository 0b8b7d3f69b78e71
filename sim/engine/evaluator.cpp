#include "sim/engine/evaluator.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "sim/engine/shader_accesses.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/settings/metrics.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kStoredMetrics = "metrics";

/// One result that configurations of this call need.
struct Leaf {
  Stage stage{};
  Key key;
  std::size_t experiment = 0;  ///< the first that wants it
  std::size_t uses = 0;
  KeptResults::Claim claim;
  bool open = false;  ///< claimed, and neither fulfilled nor abandoned
  std::shared_ptr<const MetricSet> metrics;
  std::optional<Failure> failure;
  double seconds = 0;
};

/// The results that one configuration needs, or the error that rules it out.
struct Asked {
  Experiment experiment;
  std::vector<std::size_t> leaves;
};

std::shared_ptr<const std::string> configuration_text(KeptResults& kept, const Experiment& experiment) {
  return kept.get<std::string>(KeyMaker().add("configuration").add(experiment.keys.whole).key(), [&] {
    const InputFacts& facts = *experiment.facts;
    std::string text = "# Resolved against " + facts.name + "\n";
    text += fmt::format("# content: {}\n", facts.hash);
    if (!facts.memory) {
      const TraceDecisions decided = decisions(*experiment.settings, facts);
      const auto launch = static_cast<std::size_t>(experiment.settings->integer("launch"));
      text += fmt::format("# warp_size: {}\n# order: {}\n", decided.warp_size, decided.order);
      if (launch < facts.launches.size()) {
        const LaunchFacts& one = facts.launches[launch];
        text += fmt::format("# launch: {} x {} x {}, {} rays, {} events\n", one.size.width, one.size.height,
                            one.size.depth, one.rays, one.events);
      }
    } else if (!facts.warps) {
      text += fmt::format("# warp_size: {}\n# records: {}\n", facts.warp_size, facts.records);
    }
    text += to_toml(*experiment.settings, false);
    const std::uint64_t bytes = text.size();
    return std::pair(std::make_shared<const std::string>(std::move(text)), bytes);
  });
}

/// An experiment without keys. Values that the trace decides where nobody has set the keys: the registers of a thread, and the
/// cycles of an instruction.
Experiment experiment_on(const Settings& complete, std::shared_ptr<const InputFacts> facts) {
  Experiment experiment;
  experiment.settings = &complete;
  experiment.facts = std::move(facts);
  const auto registers = experiment.launch().registers;
  if (registers || is_of_driver(complete) || has_cycles_to_decide(experiment)) {
    auto decided = std::make_shared<Settings>(complete);
    decide_registers(*decided, registers);
    decide_cycles(*decided, experiment);
    experiment.decided = std::move(decided);
    experiment.settings = experiment.decided.get();
  }
  return experiment;
}

/// The results of one call: claimed, computed, handed out.
class Leaves {
 public:
  Leaves(KeptResults& kept, Store* store) : kept_(&kept), store_(store) {}
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;
  ~Leaves() {
    // Claims are open here only after an exception. Calls that wait for them get the error and may compute the results
    // themselves.
    for (Leaf& leaf : leaves_) {
      if (leaf.open) {
        kept_->abandon(
            leaf.key, leaf.claim,
            std::make_exception_ptr(
                Error(ErrorKind::Resource, {"the run that was computing this was stopped", "", "", "", "run again"})));
      }
    }
  }

  std::size_t want(Stage stage, const Key& key, std::size_t experiment) {
    const auto [place, is_new] = index_.emplace(key, leaves_.size());
    if (is_new) {
      leaves_.push_back({stage, key, experiment, 0, {}, false, nullptr, std::nullopt, 0});
    }
    ++leaves_[place->second].uses;
    return place->second;
  }
  /// Claims the missing results; `pending` lists those that this call must compute.
  std::vector<std::size_t> claim_all() {
    std::vector<std::size_t> pending;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      Leaf& leaf = leaves_[i];
      leaf.claim = kept_->claim(leaf.key);
      if (leaf.claim.claimed == KeptResults::Claimed::Kept) {
        leaf.metrics = std::static_pointer_cast<const MetricSet>(kept_->wait(leaf.claim));
      } else if (leaf.claim.claimed == KeptResults::Claimed::Mine) {
        leaf.open = true;
        const auto bytes = store_ == nullptr ? std::nullopt : store_->get(kStoredMetrics, hex(leaf.key));
        auto stored = bytes ? read_metrics(*bytes) : std::nullopt;
        if (stored) {
          keep(leaf, std::move(*stored));
        } else {
          pending.push_back(i);
        }
      }
    }
    return pending;
  }
  void take(Leaf& leaf, Made made) {
    if (auto* failure = std::get_if<Failure>(&made)) {
      leaf.failure = std::move(*failure);
      leaf.open = false;
      kept_->abandon(leaf.key, leaf.claim, thrown_of(*leaf.failure));
      return;
    }
    auto& metrics = std::get<MetricSet>(made);
    if (store_ != nullptr) {
      store_->put(kStoredMetrics, hex(leaf.key), write_metrics(metrics));
    }
    keep(leaf, std::move(metrics));
  }
  /// Waits for the results that other calls compute.
  void wait_for_others() {
    for (Leaf& leaf : leaves_) {
      if (leaf.metrics == nullptr && !leaf.failure) {
        try {
          leaf.metrics = std::static_pointer_cast<const MetricSet>(kept_->wait(leaf.claim));
        } catch (...) {
          leaf.failure = failure_of(std::current_exception());
        }
      }
    }
  }
  [[nodiscard]] Leaf& operator[](std::size_t index) {
    return leaves_[index];
  }

 private:
  void keep(Leaf& leaf, MetricSet metrics) {
    leaf.metrics = std::make_shared<const MetricSet>(std::move(metrics));
    leaf.open = false;
    kept_->fulfil(leaf.key, leaf.claim, leaf.metrics, leaf.metrics->bytes());
  }

  KeptResults* kept_;
  Store* store_;
  std::vector<Leaf> leaves_;
  std::unordered_map<Key, std::size_t, KeyHash> index_;
};

void add_device(std::string& devices, const std::string& device) {
  if (devices.empty() || devices == device) {
    devices = device;
  } else if (devices.find(device) == std::string::npos) {
    devices = device.find(devices) != std::string::npos ? device : device + ", " + devices;
  }
}

/// The metrics of a configuration, or the first failure among its results.
void fill(Outcome& outcome, const Asked& asked, Leaves& leaves) {
  std::vector<std::pair<std::uint16_t, double>> values;
  for (const std::size_t index : asked.leaves) {
    const Leaf& leaf = leaves[index];
    outcome.seconds += leaf.seconds / static_cast<double>(leaf.uses);
    if (leaf.failure) {
      outcome.failure = leaf.failure;
      outcome.device.clear();
      return;
    }
    add_device(outcome.device, leaf.metrics->device);
    values.insert(values.end(), leaf.metrics->values().begin(), leaf.metrics->values().end());
  }
  std::ranges::sort(values);
  outcome.metrics.reserve(values.size());
  for (const auto& [index, value] : values) {
    outcome.metrics.emplace_back(all_metrics()[index].name, value);
  }
}

/// The stages of the outputs, by position.
std::vector<Stage> wanted_stages(const Settings& settings) {
  std::vector<Stage> stages = output_stages();
  std::erase_if(stages, [&settings](Stage one) { return !settings.wants(to_string(one)); });
  std::ranges::sort(stages);
  return stages;
}

/// The stages that the outputs need, by position, and which of their results are kept already.
std::vector<StageForecast> forecast_stages(const Experiment& experiment, const KeptResults& kept, const Store* store) {
  const auto takes = [&experiment](Stage one) {
    return experiment.facts->memory && code(one).reads_of_accesses != nullptr
               ? bit(stage("input"))
               : taken_by(one, [&](const std::string& key) { return is_switched_on(*experiment.settings, key); });
  };
  StageMask listed = 0;  // stages that the outputs need if no result is kept
  StageMask needed = 0;  // stages that they need beside the results kept now
  std::vector<StageForecast> all(stage_count());
  for (std::size_t i = stage_count(); i-- > 0;) {
    const auto stage = static_cast<Stage>(i);
    const bool leaf = !info_of(stage).metrics.empty() && experiment.settings->wants(to_string(stage));
    if (!leaf && (listed & bit(stage)) == 0) {
      continue;
    }
    // A structure may be a leaf (its metrics) and an input of other stages at once.
    const bool used = (needed & bit(stage)) != 0;
    const bool numbers = leaf && !used;
    const Key key = numbers ? numbers_key(stage, experiment) : experiment.key(stage);
    const char* const kind = numbers ? kStoredMetrics : code(stage).stored;
    StageForecast& one = all[i];
    one.stage = stage;
    one.key = hex(key);
    one.kept = kept.has(key);
    one.stored = kind != nullptr && store != nullptr && store->has(kind, one.key);
    if (!one.kept && !one.stored && (leaf || used)) {
      one.needed = true;
      needed |= takes(stage);
    }
    // Metrics that are kept take a few hundred bytes only.
    if ((leaf || used) && !(numbers && (one.kept || one.stored))) {
      one.memory_bytes = code(stage).estimate_bytes(experiment);
    }
    listed |= bit(stage) | takes(stage);
  }
  std::erase_if(all, [listed](const StageForecast& one) { return one.key.empty() || (listed & bit(one.stage)) == 0; });
  return all;
}

/// The output and the stages that it needs, in the order in which they work.
std::vector<Stage> stages_of(Stage output, const Experiment& experiment) {
  const StageMask needed = bit(output) | inputs_of(output, [&](const std::string& key) {
                             return is_switched_on(*experiment.settings, key);
                           });
  std::vector<Stage> stages;
  for (std::size_t i = 0; i < stage_count(); ++i) {
    if ((needed & bit(static_cast<Stage>(i))) != 0) {
      stages.push_back(static_cast<Stage>(i));
    }
  }
  return stages;
}

}  // namespace

void check_output(Stage output, const Experiment& experiment) {
  for (const Stage stage : stages_of(output, experiment)) {
    if (const auto check = code(stage).check; check != nullptr) {
      check(experiment);
    }
  }
}

std::vector<std::string> notes_on(Stage output, const Experiment& experiment) {
  std::vector<std::string> notes;
  for (const Stage stage : stages_of(output, experiment)) {
    if (const auto of_stage = code(stage).notes; of_stage != nullptr) {
      for (std::string& note : of_stage(experiment)) {
        notes.push_back(std::move(note));
      }
    }
  }
  return notes;
}

std::uint64_t memory_of(std::span<const StageForecast> stages) {
  std::uint64_t bytes = 0;
  for (const StageForecast& stage : stages) {
    bytes += stage.memory_bytes;
  }
  return bytes;
}

class Evaluator::Impl {
 public:
  explicit Impl(const EvaluatorOptions& options) : store_(options.store), kept_(options.memory_bytes) {}

  std::vector<Outcome> evaluate(std::span<const Settings> configurations, Accelerator* accelerator,
                                Progress* progress) {
    const Stopwatch watch;
    std::vector<Outcome> outcomes(configurations.size());
    std::vector<Asked> asked(configurations.size());
    Leaves leaves(kept_, store_);
    FactsOfCall facts{this, {}};
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      try {
        asked[i].experiment.settings = &configurations[i];
        ask(i, asked[i], facts, outcomes[i], leaves);
      } catch (...) {
        outcomes[i].failure = failure_of(std::current_exception());
        asked[i].leaves.clear();
        if (outcomes[i].configuration.empty()) {
          outcomes[i].configuration = to_toml(configurations[i], false);
        }
      }
    }
    make(leaves, asked, accelerator, progress);
    leaves.wait_for_others();
    double shared = watch.seconds();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (!outcomes[i].failure) {
        fill(outcomes[i], asked[i], leaves);
      }
      shared -= outcomes[i].seconds;
    }
    for (Outcome& outcome : outcomes) {
      outcome.seconds += std::max(0.0, shared) / static_cast<double>(outcomes.size());
    }
    return outcomes;
  }

  std::vector<StageForecast> forecast(const Settings& complete) {
    Experiment experiment = known(complete, catalogue_.facts(complete));
    return forecast_stages(experiment, kept_, store_);
  }

  void check(const Settings& complete) {
    const Experiment experiment = known(complete, catalogue_.facts(complete));
    for (const Stage stage : wanted_stages(complete)) {
      check_output(stage, experiment);
    }
  }

  std::vector<std::string> notes(const Settings& complete) {
    const Experiment experiment = known(complete, catalogue_.facts(complete));
    std::vector<std::string> notes;
    for (const Stage stage : wanted_stages(complete)) {
      for (std::string& note : notes_on(stage, experiment)) {
        if (std::ranges::find(notes, note) == notes.end()) {
          notes.push_back(std::move(note));
        }
      }
    }
    return notes;
  }

  Settings decided(const Settings& complete) {
    return *experiment_on(complete, catalogue_.facts(complete)).settings;
  }

  void limit_memory(std::uint64_t bytes) {
    kept_.limit_to(bytes);
  }

  std::string input_hash(const Settings& complete) {
    return catalogue_.hash(complete);
  }

  Workbench workbench(Accelerator* accelerator, Progress* progress) {
    return {kept_, store_, accelerator, progress};
  }

 private:
  /// Facts by input name: one call reads each file once, also if the read fails.
  struct FactsOfCall {
    Impl* impl;
    std::map<std::pair<std::string, std::string>, std::pair<std::shared_ptr<const InputFacts>, std::exception_ptr>>
        known;

    std::shared_ptr<const InputFacts> of(const Settings& settings) {
      const auto [place, is_new] = known.try_emplace({settings.text("trace"), settings.text("workload")});
      auto& [facts, failure] = place->second;
      if (is_new) {
        try {
          facts = impl->catalogue_.facts(settings);
        } catch (...) {
          failure = std::current_exception();
        }
      }
      if (failure) {
        std::rethrow_exception(failure);
      }
      return facts;
    }
  };

  Experiment known(const Settings& settings, std::shared_ptr<const InputFacts> facts) {
    Experiment experiment = experiment_on(settings, std::move(facts));
    experiment.keys = experiment_keys(*experiment.settings, *experiment.facts,
                                      [this](const std::string& path) { return catalogue_.content_of(path); });
    return experiment;
  }

  void ask(std::size_t number, Asked& asked, FactsOfCall& facts, Outcome& outcome, Leaves& leaves) {
    const Settings& settings = *asked.experiment.settings;
    asked.experiment = known(settings, facts.of(settings));
    outcome.trace_hash = asked.experiment.facts->hash;
    outcome.configuration = *configuration_text(kept_, asked.experiment);
    for (const Stage stage : wanted_stages(settings)) {
      check_output(stage, asked.experiment);
      asked.leaves.push_back(leaves.want(stage, numbers_key(stage, asked.experiment), number));
    }
  }

  /// Computes group by group: configurations with one input first, then stage by stage, in request order.
  void make(Leaves& leaves, const std::vector<Asked>& asked, Accelerator* accelerator, Progress* progress) {
    static const Stage kInput = stage("input");
    std::map<Key, std::size_t> inputs;
    std::map<std::pair<Stage, Key>, std::size_t> groups;
    std::map<std::tuple<std::size_t, Stage, std::size_t>, std::vector<std::size_t>> ordered;
    for (const std::size_t index : leaves.claim_all()) {
      const Leaf& leaf = leaves[index];
      const Experiment& experiment = asked[leaf.experiment].experiment;
      const std::size_t input = inputs.emplace(experiment.key(kInput), inputs.size()).first->second;
      const std::size_t group =
          groups.emplace(std::pair(leaf.stage, experiment.keys.groups[index_of(leaf.stage)]), groups.size())
              .first->second;
      ordered[{input, leaf.stage, group}].push_back(index);
    }
    Workbench bench(kept_, store_, accelerator, progress);
    for (const auto& [place, members] : ordered) {
      const Stopwatch watch;
      const Stage stage = std::get<Stage>(place);
      std::vector<const Experiment*> experiments;
      for (const std::size_t index : members) {
        experiments.push_back(&asked[leaves[index].experiment].experiment);
      }
      std::vector<Made> made;
      // Isolated: a thread that waits here must not start another call, which could wait for the claims of this one.
      tbb::this_task_arena::isolate([&] { made = bench.numbers(stage, experiments); });
      const double each = watch.seconds() / static_cast<double>(members.size());
      for (std::size_t i = 0; i < members.size(); ++i) {
        leaves[members[i]].seconds = each;
        leaves.take(leaves[members[i]], std::move(made[i]));
      }
    }
  }

  Store* store_;
  KeptResults kept_;
  InputCatalogue catalogue_;
};

Evaluator::Evaluator(const EvaluatorOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Evaluator::~Evaluator() = default;

std::vector<Outcome> Evaluator::evaluate(std::span<const Settings> configurations, Accelerator* accelerator,
                                         Progress* progress) {
  return impl_->evaluate(configurations, accelerator, progress);
}

std::vector<StageForecast> Evaluator::forecast(const Settings& complete) {
  return impl_->forecast(complete);
}

Experiment Evaluator::open(const Settings& complete, std::shared_ptr<const InputData> data, const std::string& name) {
  Experiment experiment = experiment_on(complete, std::make_shared<const InputFacts>(facts_of(name, data->trace)));
  experiment.keys =
      experiment_keys(*experiment.settings, *experiment.facts, [](const std::string& path) { return path; });
  experiment.opened = std::move(data);
  return experiment;
}

Workbench Evaluator::workbench(Accelerator* accelerator, Progress* progress) {
  return impl_->workbench(accelerator, progress);
}

void Evaluator::check(const Settings& complete) {
  impl_->check(complete);
}

std::vector<std::string> Evaluator::notes(const Settings& complete) {
  return impl_->notes(complete);
}

Settings Evaluator::decided(const Settings& complete) {
  return impl_->decided(complete);
}

void Evaluator::limit_memory(std::uint64_t bytes) {
  impl_->limit_memory(bytes);
}

std::string Evaluator::input_hash(const Settings& complete) {
  return impl_->input_hash(complete);
}

}  // namespace rayreplay::experiment
