#include "sim/sweep/plan/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/split_mix.hpp"
#include "sim/sweep/plan/influence.hpp"

namespace rayreplay::sweep {
namespace {

using experiment::bit;
using experiment::Stage;
using experiment::StageMask;

/// Stages with metrics, by falling unit_weight.
const std::vector<Stage>& outputs() {
  static const std::vector<Stage> list = [] {
    std::vector<Stage> made = experiment::output_stages();
    std::ranges::sort(made, std::ranges::greater(), [](Stage one) { return info_of(one).unit_weight; });
    return made;
  }();
  return list;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return split_mix_finish(split_mix_finish(hash + kSplitMixGamma) + value);
}

/// A hash of a row's values on a set of axes.
class Key {
 public:
  using Counts = std::function<bool(const Axis&)>;

  Key(const Definition& definition, const Counts& counts) {
    for (std::size_t f = 0; f < definition.factors.size(); ++f) {
      const Factor& factor = definition.factors[f];
      if (std::ranges::none_of(factor.axes, counts)) {
        continue;
      }
      Part& part = parts_.emplace_back(Part{f, {}});
      for (std::size_t i = 0; !factor.axes.front().range && i < factor.size(); ++i) {
        std::uint64_t hash = 0;
        for (const Axis& axis : factor.axes) {
          hash = counts(axis) ? mixed(hash, std::hash<std::string>()(to_text(axis.values[i]))) : hash;
        }
        part.hashes.push_back(hash);
      }
    }
  }

  [[nodiscard]] std::uint64_t operator()(const Row& row) const {
    std::uint64_t key = 0;
    for (const Part& part : parts_) {
      key = mixed(key, part.hashes.empty() ? std::bit_cast<std::uint64_t>(row.number[part.factor])
                                           : part.hashes[row.choice[part.factor]]);
    }
    return key;
  }

 private:
  struct Part {
    std::size_t factor = 0;
    std::vector<std::uint64_t> hashes;  ///< by choice; empty: continuous
  };
  std::vector<Part> parts_;
};

/// Numbers keys in the order of their first occurrence.
class Ranks {
 public:
  std::uint64_t operator()(std::uint64_t key) {
    return known_.emplace(key, known_.size()).first->second;
  }
  [[nodiscard]] std::uint64_t size() const {
    return known_.size();
  }

 private:
  std::unordered_map<std::uint64_t, std::uint64_t> known_;
};

/// The stages that a row's outputs need; `outputs` may itself be an axis.
class Wanted {
 public:
  explicit Wanted(const Definition& definition)
      : is_axis_(find_axis(definition, "outputs").axis != nullptr), factor_(find_axis(definition, "outputs").factor) {
    for (const experiment::Settings& settings : outputs_by_choice(definition)) {
      StageMask mask = bit(experiment::stage("input"));
      for (const Stage output : outputs()) {
        if (settings.wants(to_string(output))) {
          mask |= bit(output) |
                  experiment::inputs_of(output, [&](const std::string& key) { return may_be_on(definition, key); });
        }
      }
      by_choice_.push_back(mask);
    }
  }

  [[nodiscard]] StageMask operator()(const Row& row) const {
    return by_choice_[is_axis_ ? row.choice[factor_] : 0];
  }

 private:
  bool is_axis_;
  std::size_t factor_;
  std::vector<StageMask> by_choice_;
};

/// True if the runs of a unit may differ in the axis that the stage computes together.
bool varies(const experiment::StageInfo& info, const Axis& axis) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(axis.key);
  return parameter != nullptr && std::ranges::find(info.varies, parameter->declared.name) != info.varies.end();
}

/// Runs with this output that share a unit are equal in these axes.
Key group_key(const Definition& definition, Stage output) {
  const experiment::StageInfo& info = info_of(output);
  const Stage shared = info.unit_shares.empty() ? output : experiment::stage(info.unit_shares);
  return {definition, [&definition, &info, shared](const Axis& axis) {
            return (moved_stages(definition, axis) & bit(shared)) != 0 && !varies(info, axis);
          }};
}

struct Group {
  std::size_t output = 0;  ///< index into outputs()
  std::array<std::uint64_t, 4> order{};
  std::uint64_t affinity = 0;
  std::vector<std::uint64_t> runs;
};

class Grouping {
 public:
  Grouping(const Definition& definition, const RunTable& table) : table_(&table), wanted_(definition) {
    for (std::size_t s = 0; s < experiment::stage_count(); ++s) {
      const StageMask stage = bit(static_cast<Stage>(s));
      stage_keys_.emplace_back(definition,
                               [&](const Axis& axis) { return (moved_stages(definition, axis) & stage) != 0; });
    }
    for (const Stage output : outputs()) {
      group_keys_.push_back(group_key(definition, output));
    }
  }

  /// In the order of first runs.
  [[nodiscard]] std::vector<Group> groups() const {
    std::vector<Group> found;
    std::vector<std::unordered_map<std::uint64_t, std::size_t>> known(outputs().size());
    std::array<Ranks, 4> ranks;
    Ranks affinities;
    static const std::array kDepth = {experiment::stage("input"), experiment::stage("structure"),
                                      experiment::stage("assignment"), experiment::stage("stream")};
    for (std::uint64_t run = 0; run < table_->size(); ++run) {
      const Row row = table_->row(run);
      const StageMask mask = wanted_(row);
      const std::size_t output = costliest(mask);
      const auto [at, is_new] = known.at(output).emplace(group_keys_.at(output)(row), found.size());
      if (is_new) {
        Group group{.output = output, .runs = {}};
        for (std::size_t d = 0; d < kDepth.size(); ++d) {
          const bool matters = (mask & bit(kDepth.at(d))) != 0;
          group.order.at(d) = matters ? ranks.at(d)(stage_key(kDepth.at(d), row)) : 0;
        }
        group.affinity = affinities(mixed(group.order[0], group.order[1]));
        found.push_back(std::move(group));
      }
      found[at->second].runs.push_back(run);
    }
    return found;
  }

  [[nodiscard]] std::uint64_t results_of(Stage stage) const {
    std::vector<std::uint64_t> keys;
    for (std::uint64_t run = 0; run < table_->size(); ++run) {
      const Row row = table_->row(run);
      if ((wanted_(row) & bit(stage)) != 0) {
        keys.push_back(stage_key(stage, row));
      }
    }
    std::sort(keys.begin(), keys.end());
    return static_cast<std::uint64_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
  }

 private:
  [[nodiscard]] std::uint64_t stage_key(Stage stage, const Row& row) const {
    return stage_keys_.at(index_of(stage))(row);
  }

  static std::size_t costliest(StageMask mask) {
    for (std::size_t o = 0; o < outputs().size(); ++o) {
      if ((mask & bit(outputs()[o])) != 0) {
        return o;
      }
    }
    return outputs().size() - 1;
  }

  const RunTable* table_;
  Wanted wanted_;
  std::vector<Key> stage_keys_;
  std::vector<Key> group_keys_;  ///< by outputs()
};

std::uint64_t divided_up(std::uint64_t dividend, std::uint64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

/// Splits into parts of nearly equal size, none larger than `most`.
void cut(const Group& group, std::uint64_t most, std::vector<Unit>& units) {
  const std::uint64_t parts = divided_up(group.runs.size(), most);
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto begin = static_cast<std::ptrdiff_t>(group.runs.size() * part / parts);
    const auto end = static_cast<std::ptrdiff_t>(group.runs.size() * (part + 1) / parts);
    units.push_back({.runs = {group.runs.begin() + begin, group.runs.begin() + end},
                     .affinity = group.affinity,
                     .input = group.order[0]});
  }
}

}  // namespace

std::vector<experiment::Settings> outputs_by_choice(const Definition& definition) {
  const Axis* axis = find_axis(definition, "outputs").axis;
  std::vector<experiment::Settings> result;
  for (const ParameterValue& value : axis != nullptr ? axis->values : std::vector{definition.base.at("outputs")}) {
    result.emplace_back().set("outputs", value, "");
  }
  return result;
}

Units make_units(const Definition& definition, const RunTable& table, std::uint64_t most_unit_runs) {
  const Grouping grouping(definition, table);
  std::vector<Group> groups = grouping.groups();
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    return std::tie(a.order, a.runs.front()) < std::tie(b.order, b.runs.front());
  });
  const std::uint64_t most = std::max<std::uint64_t>(most_unit_runs, 1);
  const std::uint64_t fair = divided_up(table.size(), kEnoughUnits);
  Units result;
  for (const Group& group : groups) {
    const bool cheap = !info_of(outputs()[group.output]).large_units && groups.size() < kEnoughUnits;
    cut(group, cheap ? std::min(fair, most) : most, result.units);
  }
  for (std::size_t s = 0; s < experiment::stage_count(); ++s) {
    result.stages.push_back(grouping.results_of(static_cast<Stage>(s)));
  }
  return result;
}

}  // namespace rayreplay::sweep
