#include "sim/comparison/advise.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "base/stopwatch.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/regrouping/hints/formula_hints.hpp"
#include "sim/comparison/address_features.hpp"
#include "sim/comparison/advise_features.hpp"
#include "sim/comparison/path_features.hpp"
#include "sim/comparison/path_score.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/job_maker.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::experiment {
namespace {

using scheduler::Hints;
using scheduler::HintSource;
using scheduler::HintSources;
namespace formula = scheduler::formula;

constexpr const char* kCandidate = "candidate";  ///< name of the candidate hint in the model's spec
/// How many features are combined: at least this many, plus one for each `kCandidatesAFeature` candidates.
constexpr std::size_t kBestFeatures = 6;
constexpr std::size_t kCandidatesAFeature = 16;
/// Limits of the candidates with one feature, and of those with one or two, as shares of all.
constexpr double kShareOfOne = 0.6;
constexpr double kShareOfTwo = 0.9;

/// The model's spec with another hint.
std::string with_hint(const std::string& spec_text, const std::string& hint) {
  const ModelSpec spec = parse_spec(spec_text);
  const auto& parameters = scheduler::SchedulerModels::describe(spec.name).parameters;
  if (std::none_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.name == "hint"; })) {
    throw Error(ErrorKind::Usage, {"this scheduler model takes no hints", "--model", spec_text,
                                   "a model with the parameter 'hint', as ser", ""});
  }
  std::string result = spec.name + ":hint=" + hint;
  for (const auto& [key, value] : spec.settings) {
    if (key == "hint") {
      throw Error(ErrorKind::Usage, {"the advisor chooses the hint", "--model", spec_text,
                                     "the model without hint=", "a hint of your own goes to --hint"});
    }
    result += "," + key + "=" + value;
  }
  return result;
}

class Search {
 public:
  Search(const trace::Trace& trace, const Resolved& configuration, const scheduler::WarpAssignment& order,
         const AdviseOptions& options)
      : trace_(trace),
        launch_(trace.launches.at(configuration.launch)),
        configuration_(configuration),
        options_(options),
        on_device_(options.accelerator == nullptr
                       ? nullptr
                       : std::make_unique<trace::AcceleratedLaunch>(*options.accelerator, launch_)),
        order_(order) {
    const auto none = scheduler::SchedulerModels::create(with_hint(options.model, "none"));
    if (none.model->grouping() != scheduler::Grouping::Static) {
      throw Error(ErrorKind::Usage, {"this scheduler model is timed, and the advisor does not run timed models",
                                     "--model", options.model, "a static model", "as ser with arrival=all"});
    }
    result_.configuration = configuration;
    result_.model = none.spec;
    result_.bits = options.bits;
    candidate_ = scheduler::SchedulerModels::create(with_hint(options.model, kCandidate)).model;
    segments_ = scheduler::cut_paths(launch_, none.model->cut(), on_device_.get());
    result_.rays = launch_.data.rays.size();
    result_.by_address = options.addresses.has_value() && launch_.data.accesses.size() > 0;
    if (configuration.costs.empty() && (trace.paths.size() != 0 || result_.by_address)) {
      costs_ = machine::make_costs(trace, launch_, {});
    }
    if (costs_.paths != nullptr) {
      by_path_ = std::make_unique<PathScore>(trace, launch_, costs_, configuration.policy);
      result_.by_path = true;
    } else if (result_.by_address && configuration.costs.empty()) {
      of_calls_ = machine::job_weights(costs_).at(machine::kIssueWeight);
    }
    if (result_.by_address) {
      take_addresses();
    }
    result_.plain = plain();
    if (result_.by_address) {
      addresses_ = std::make_unique<CallAddresses>(trace_, launch_, segments_, *places_);
    }
    result_.baseline = replay(*none.model, segments_, options.hints, addresses_.get());
    result_.plain.gain = gain(result_.plain);
  }

  AdviseResult run() {
    report_start(options_.progress, "hints", options_.candidates + options_.hints.size());
    for (const auto& [name, source] : options_.hints) {
      try_own(name, source);
    }
    const formula::FieldSet available = formula::FieldReader::available(trace_, launch_);
    fields_ = std::make_unique<formula::FieldReader>(trace_, launch_, segments_, available);
    if (by_path_ != nullptr) {
      features_ = make_path_features(*fields_, available, *costs_.paths, options_.bits);
    }
    std::vector<Feature> base = make_features(*fields_, available);
    if (addresses_ != nullptr) {
      std::ranges::move(make_address_features(*fields_, available, *addresses_, base, options_.bits),
                        std::back_inserter(features_));
    }
    std::ranges::move(base, std::back_inserter(features_));
    try_features();
    try_pairs();
    try_triples();
    std::sort(result_.ranking.begin(), result_.ranking.end(), [this](const Advice& a, const Advice& b) {
      const auto key = [this](const Advice& one) {
        return std::tuple(-score(one), one.bits, one.formula.size(), std::string_view(one.formula),
                          std::string_view(one.name));
      };
      return key(a) < key(b);
    });
    report_finish(options_.progress);
    return std::move(result_);
  }

 private:
  struct Ranked {
    std::size_t feature;
    double score;
  };
  struct Pair {
    std::size_t first, second;
    double score;
  };
  using Parts = std::vector<std::pair<std::size_t, std::uint32_t>>;  ///< features with bits, most significant first

  [[nodiscard]] bool is_weighted() const {
    return !configuration_.costs.empty() || by_path_ != nullptr;
  }
  [[nodiscard]] double score(const Advice& advice) const {
    if (result_.by_address) {
      return advice.cycles() > 0 ? 1 / advice.cycles() : 0;
    }
    return is_weighted() ? advice.weighted_efficiency : advice.efficiency;
  }
  [[nodiscard]] double gain(const Advice& advice) const {
    if (result_.by_address) {
      return advice.cycles() > 0 ? result_.baseline.cycles() / advice.cycles() - 1 : 0;
    }
    const double base = score(result_.baseline);
    return base > 0 ? score(advice) / base - 1 : 0;
  }
  [[nodiscard]] Advice rate(const simt::Tally& total) const {
    Advice advice;
    advice.efficiency = total.efficiency(configuration_.warp_size);
    advice.weighted_efficiency =
        configuration_.costs.empty() ? advice.efficiency : total.weighted_efficiency(configuration_.warp_size);
    advice.warp_events = total.warp_events;
    return advice;
  }

  void take_addresses() {
    result_.address_costs = *options_.addresses;
    places_ = std::make_unique<AccessPlaces>(trace_, launch_, options_.addresses->units);
    result_.address_costs.units = places_->units();
    std::set<std::string> sources;
    std::set<std::size_t> called;
    if (!configuration_.costs.empty()) {
      sources.insert("costs");
    } else {
      for (std::size_t row = 0; row < launch_.data.events.size(); ++row) {
        const trace::EventKind kind = launch_.data.events.kind[row];
        if (trace::is_warp_event(kind)) {
          called.insert(std::size_t{launch_.data.events.shader[row]} * trace::kEventKinds +
                        static_cast<std::size_t>(kind));
        }
      }
      for (const std::size_t call : called) {
        sources.insert(costs_.calls[call].origin);
      }
    }
    result_.cost_sources.assign(sources.begin(), sources.end());
  }

  [[nodiscard]] Advice plain() const {
    if (by_path_ != nullptr || result_.by_address) {
      const auto model = scheduler::SchedulerModels::create("plain").model;
      const scheduler::Segments threads = scheduler::cut_paths(launch_, model->cut(), on_device_.get());
      std::optional<CallAddresses> addresses;
      if (result_.by_address) {
        addresses.emplace(trace_, launch_, threads, *places_);
      }
      return replay(*model, threads, {}, addresses ? &*addresses : nullptr);
    }
    simt::ReplayOptions options;
    options.policy = configuration_.policy;
    options.shader_cost = configuration_.costs;
    options.on_device = on_device_.get();
    return rate(simt::replay(launch_, trace_.shaders, order_, options).total);
  }
  [[nodiscard]] Advice replay(const scheduler::SchedulerModel& model, const scheduler::Segments& segments,
                              const HintSources& hints, const CallAddresses* addresses) const {
    const scheduler::SegmentSchedule schedule =
        model.schedule({trace_, launch_, order_, segments, options_.machine, hints, on_device_.get()});
    simt::SegmentReplayOptions options;
    options.policy = configuration_.policy;
    options.shader_cost = configuration_.costs;
    options.on_device = on_device_.get();
    options.schedule_on_device = schedule.on_device.get();
    if (by_path_ != nullptr) {
      options.weights = {by_path_->weights()};
    } else if (!of_calls_.empty()) {
      options.weights = {of_calls_};
    }
    const simt::SegmentReplayResult replayed =
        simt::replay_segments(launch_, trace_.shaders, segments, schedule.segment_at, schedule.warp_size, options);
    Advice advice = rate(replayed.replay.total);
    double issued = static_cast<double>(replayed.replay.total.weighted_events);
    if (by_path_ != nullptr) {
      const std::uint64_t sixteenths =
          by_path_->issued(segments, schedule.segment_at, schedule.warp_size, replayed.weights);
      advice.weighted_efficiency = by_path_->efficiency(sixteenths, schedule.warp_size);
      issued = static_cast<double>(sixteenths) / machine::kCostScale;
    } else if (!of_calls_.empty()) {
      issued =
          static_cast<double>(std::accumulate(replayed.weights.begin(), replayed.weights.end(), std::uint64_t{0})) /
          machine::kCostScale;
    }
    if (addresses != nullptr) {
      const AddressScore of_addresses(trace_, launch_, segments, *addresses, configuration_.policy);
      advice.addresses = of_addresses.count(schedule.segment_at, schedule.warp_size);
      advice.issue_cycles = issued / options_.addresses->issue_per_cycle;
      advice.transaction_cycles =
          static_cast<double>(advice.addresses.transactions) * options_.addresses->transaction_cycles;
    }
    return advice;
  }

  double add(std::string name, std::string text, Hints&& hints) {
    const std::uint32_t bits = hints.bits;
    HintSource source;
    source.bits = bits;
    source.ready = std::make_shared<const Hints>(std::move(hints));
    Advice advice = replay(*candidate_, segments_, {{kCandidate, source}}, addresses_.get());
    advice.name = std::move(name);
    advice.formula = std::move(text);
    advice.bits = bits;
    advice.gain = gain(advice);
    ++result_.evaluated;
    report_advance(options_.progress, 1);
    result_.ranking.push_back(std::move(advice));
    return score(result_.ranking.back());
  }

  /// A faulty hint of the user's is an error, not a rejection.
  void try_own(const std::string& name, const HintSource& source) {
    Hints hints = scheduler::make_hints(trace_, launch_, segments_, name, options_.hints);
    std::string text = source.text;
    if (source.origin == scheduler::HintOrigin::Expression) {
      tried_.insert(text);
    } else {
      text = source.origin == scheduler::HintOrigin::File ? "file " + text : "captured";
    }
    add(name, std::move(text), std::move(hints));
  }

  /// The candidate's score; none if it was tried before, is rejected, or if `share` of the candidates are tried
  /// already.
  std::optional<double> try_parts(const Parts& parts, double share) {
    std::vector<std::pair<std::string, std::uint32_t>> texts;
    std::uint32_t bits = 0;
    for (const auto& [feature, count] : parts) {
      texts.emplace_back(features_[feature].formula(count), count);
      if (texts.back().first.empty()) {
        return std::nullopt;
      }
      bits += count;
    }
    const std::string text = combine(texts);
    if (static_cast<double>(candidates_) >= share * options_.candidates || !tried_.insert(text).second) {
      return std::nullopt;
    }
    const formula::Expression expression = formula::parse_expression(text, "candidate");
    formula::FormulaHints made = formula::hints_of(*fields_, expression, bits);
    if (made.first_bad != scheduler::kNoSegment || made.least == made.most) {
      ++result_.rejected;
      return std::nullopt;
    }
    ++candidates_;
    return add("", text, {bits, std::move(made.value)});
  }

  [[nodiscard]] bool has_effect(const Advice& advice) const {
    return by_path_ != nullptr || result_.by_address ? score(advice) != score(result_.baseline)
                                                     : advice.warp_events != result_.baseline.warp_events;
  }

  void try_features() {
    for (std::size_t i = 0; i < features_.size(); ++i) {
      const auto score = try_parts({{i, std::min(options_.bits, features_[i].most_bits)}}, kShareOfOne);
      // Features without effect of their own (one value for each shader, or for each round) are not combined.
      if (score && has_effect(result_.ranking.back())) {
        best_.push_back({i, *score});
      }
    }
    std::stable_sort(best_.begin(), best_.end(), [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
    const std::size_t most = std::max<std::size_t>(kBestFeatures, options_.candidates / kCandidatesAFeature);
    if (best_.size() > most) {
      best_.resize(most);
    }
  }

  void try_pairs() {
    // In order of the sum of the two features' ranks: the best with the second best comes first.
    for (std::size_t sum = 1; sum + 2 < 2 * best_.size(); ++sum) {
      for (std::size_t i = 0; i <= sum; ++i) {
        const std::size_t j = sum - i;
        if (i == j || i >= best_.size() || j >= best_.size()) {
          continue;
        }
        for (const std::uint32_t first_bits :
             {options_.bits / 2, options_.bits / 4, options_.bits - options_.bits / 4}) {
          try_pair(best_[i].feature, best_[j].feature, first_bits);
        }
      }
    }
  }

  void try_pair(std::size_t a, std::size_t b, std::uint32_t first_bits) {
    const std::uint32_t ka = std::min(first_bits, features_[a].most_bits);
    const std::uint32_t kb = std::min(options_.bits - ka, features_[b].most_bits);
    if (ka == 0 || kb == 0) {
      return;
    }
    const auto score = try_parts({{a, ka}, {b, kb}}, kShareOfTwo);
    if (score && (!best_pair_ || *score > best_pair_->score)) {
      best_pair_ = Pair{a, b, *score};
    }
  }

  void try_triples() {
    if (!best_pair_ || options_.bits < 3) {
      return;
    }
    const std::uint32_t third = options_.bits / 3;
    const std::uint32_t quarter = std::max(options_.bits / 4, 1U);
    for (const Ranked& more : best_) {
      if (more.feature == best_pair_->first || more.feature == best_pair_->second) {
        continue;
      }
      for (const std::uint32_t last : {third, quarter}) {
        const std::uint32_t ka = std::min((options_.bits - last) / 2, features_[best_pair_->first].most_bits);
        const std::uint32_t kc = std::min(last, features_[more.feature].most_bits);
        const std::uint32_t kb = std::min(options_.bits - ka - kc, features_[best_pair_->second].most_bits);
        if (ka > 0 && kb > 0 && kc > 0) {
          try_parts({{best_pair_->first, ka}, {best_pair_->second, kb}, {more.feature, kc}}, 1);
          try_parts({{more.feature, kc}, {best_pair_->first, ka}, {best_pair_->second, kb}}, 1);
        }
      }
    }
  }

  const trace::Trace& trace_;
  const trace::Launch& launch_;
  const Resolved& configuration_;
  const AdviseOptions& options_;
  std::unique_ptr<trace::AcceleratedLaunch> on_device_;
  const scheduler::WarpAssignment& order_;
  std::unique_ptr<scheduler::SchedulerModel> candidate_;
  scheduler::Segments segments_;
  machine::Costs costs_;                ///< of a launch with paths or accesses, unless the configuration gives costs
  std::unique_ptr<PathScore> by_path_;  ///< null: not weighted by paths
  simt::CallWeights of_calls_;          ///< issue slots by call, with accesses and neither paths nor costs; else empty
  std::unique_ptr<AccessPlaces> places_;
  std::unique_ptr<CallAddresses> addresses_;  ///< null: accesses do not count
  std::unique_ptr<formula::FieldReader> fields_;
  std::vector<Feature> features_;
  std::set<std::string> tried_;
  std::uint64_t candidates_ = 0;
  std::vector<Ranked> best_;
  std::optional<Pair> best_pair_;
  AdviseResult result_;
};

}  // namespace

const char* to_string(RestsOn part) {
  return part == RestsOn::Calls ? "calls" : part == RestsOn::Instructions ? "instructions" : "transactions";
}

void check_transaction_cycles(double cycles) {
  if (!(cycles >= 0 && cycles <= kMostTransactionCycles)) {
    throw Error(ErrorKind::Usage, {"the cycles of a transaction are out of range", "--transaction-cycles",
                                   fmt::format("{}", cycles), fmt::format("0 to {}", kMostTransactionCycles), ""});
  }
}

RestsOn AdviseResult::rests_on(const Advice& advice) const {
  if (!by_address) {
    return by_path || !configuration.costs.empty() ? RestsOn::Instructions : RestsOn::Calls;
  }
  return baseline.transaction_cycles - advice.transaction_cycles > baseline.issue_cycles - advice.issue_cycles
             ? RestsOn::Transactions
             : RestsOn::Instructions;
}

std::string AdviseResult::weights() const {
  const std::string calls = by_path ? "paths" : !configuration.costs.empty() ? "costs" : by_address ? "calls" : "none";
  return by_address ? calls + ", addresses" : calls;
}

AdviseResult advise(const trace::Trace& trace, const Resolved& configuration, const scheduler::WarpAssignment& order,
                    const AdviseOptions& options) {
  if (options.bits < 1 || options.bits > scheduler::kMaxHintBits) {
    throw Error(ErrorKind::Usage, {"the number of bits of a hint is out of range", "--bits",
                                   std::to_string(options.bits), fmt::format("1 to {}", scheduler::kMaxHintBits), ""});
  }
  if (options.addresses) {
    check_transaction_cycles(options.addresses->transaction_cycles);
  }
  const Stopwatch watch;
  AdviseResult result = Search(trace, configuration, order, options).run();
  result.seconds = watch.seconds();
  return result;
}

}  // namespace rayreplay::experiment
