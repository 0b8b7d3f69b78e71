#include "sim/sweep/plan/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <map>
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

/// One number for a row's values on a set of axes: equal values give equal numbers. Exact for listed values; a 64-bit
/// hash for continuous ones and for more than 2^63 combinations.
class Key {
 public:
  using Counts = std::function<bool(const Axis&)>;

  Key() = default;
  Key(const Definition& definition, const Counts& counts) {
    std::uint64_t combinations = 1;
    for (std::size_t f = 0; f < definition.factors.size(); ++f) {
      Part part{.factor = f, .classes = {}, .size = 1, .continuous = false};
      std::map<std::vector<std::string>, std::uint32_t> classes;
      const Factor& factor = definition.factors[f];
      if (std::none_of(factor.axes.begin(), factor.axes.end(), counts)) {
        continue;
      }
      part.continuous = factor.axes.front().range.has_value();
      for (std::size_t i = 0; !part.continuous && i < factor.size(); ++i) {
        std::vector<std::string> values;
        for (const Axis& axis : factor.axes) {
          if (counts(axis)) {
            values.push_back(to_text(axis.values[i]));
          }
        }
        part.classes.push_back(
            classes.emplace(std::move(values), static_cast<std::uint32_t>(classes.size())).first->second);
      }
      part.size = std::max<std::uint64_t>(classes.size(), 1);
      hashed_ =
          hashed_ || part.continuous || combinations > (std::numeric_limits<std::uint64_t>::max() >> 1U) / part.size;
      combinations *= part.size;
      parts_.push_back(std::move(part));
    }
  }

  [[nodiscard]] std::uint64_t operator()(const Row& row) const {
    std::uint64_t key = 0;
    for (const Part& part : parts_) {
      const std::uint64_t value = part.continuous ? std::bit_cast<std::uint64_t>(row.number[part.factor])
                                                  : part.classes[row.choice[part.factor]];
      key = hashed_ ? split_mix_finish(split_mix_finish(key + kSplitMixGamma) + value) : key * part.size + value;
    }
    return key;
  }

 private:
  struct Part {
    std::size_t factor = 0;
    std::vector<std::uint32_t> classes;  ///< by choice
    std::uint64_t size = 1;
    bool continuous = false;
  };
  std::vector<Part> parts_;
  bool hashed_ = false;
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
  explicit Wanted(const Definition& definition) {
    for (std::size_t f = 0; f < definition.factors.size(); ++f) {
      for (const Axis& axis : definition.factors[f].axes) {
        if (axis.key == "outputs") {
          factor_ = f;
          for (const ParameterValue& value : axis.values) {
            experiment::Settings settings;
            settings.set("outputs", value, axis.where);
            by_choice_.push_back(stages_of(settings));
          }
          return;
        }
      }
    }
    by_choice_.push_back(stages_of(definition.base));
    fixed_ = true;
  }

  [[nodiscard]] StageMask operator()(const Row& row) const {
    return by_choice_[fixed_ ? 0 : row.choice[factor_]];
  }

 private:
  static StageMask stages_of(const experiment::Settings& settings) {
    StageMask mask = bit(experiment::stage("input"));
    for (const Stage output : outputs()) {
      if (settings.wants(to_string(output))) {
        mask |= bit(output) | experiment::inputs_of(output);
      }
    }
    return mask;
  }

  std::vector<StageMask> by_choice_;
  std::size_t factor_ = 0;
  bool fixed_ = false;
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
        group.affinity = affinities(split_mix_finish(group.order[0] + kSplitMixGamma) + group.order[1]);
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

/// Joins neighbouring single-run units of one affinity, as many as keep the number of units near kManyUnits.
void join_single(std::vector<Unit>& units, std::uint64_t most_unit_runs) {
  if (units.size() <= kManyUnits) {
    return;
  }
  const std::uint64_t together = std::min(divided_up(units.size(), kManyUnits), most_unit_runs);
  std::vector<Unit> joined;
  bool open = false;
  for (Unit& unit : units) {
    const bool single = unit.runs.size() == 1;
    if (single && open && joined.back().affinity == unit.affinity && joined.back().runs.size() < together) {
      joined.back().runs.push_back(unit.runs.front());
    } else {
      joined.push_back(std::move(unit));
      open = single;
    }
  }
  for (Unit& unit : joined) {
    std::sort(unit.runs.begin(), unit.runs.end());
  }
  units = std::move(joined);
}

}  // namespace

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
  join_single(result.units, most);
  for (std::size_t s = 0; s < experiment::stage_count(); ++s) {
    result.stages.push_back(grouping.results_of(static_cast<Stage>(s)));
  }
  return result;
}

}  // namespace rayreplay::sweep
