#include "sim/sweep/plan/filter.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "sim/sweep/definition/axis_values.hpp"
#include "sim/sweep/definition/paths.hpp"
#include "sim/sweep/plan/influence.hpp"

namespace rayreplay::sweep {
namespace {

/// "ser" of "ser:pool=2".
std::string name_in(const ParameterValue& spec) {
  const std::string text = to_text(spec);
  return text.substr(0, text.find(':'));
}

/// A parameter of a completed spec, with the type that its model declares; none where it has no such parameter.
std::optional<ParameterValue> parameter_of(const std::string& kind, const std::string& spec_text,
                                           const std::string& name) {
  const ModelSpec spec = parse_spec(spec_text);
  for (const ModelDescription& model : all_models()) {
    if (model.kind != kind || model.name != spec.name) {
      continue;
    }
    const Parameters resolved = resolve(model.parameters, spec.settings, kind);
    for (const auto& [key, value] : resolved.all()) {
      if (key == name) {
        return value;
      }
    }
  }
  return std::nullopt;
}

/// As a condition sees it: of a spec the model's name, of KEY:PARAM the parameter.
std::optional<ParameterValue> seen(const experiment::Settings& complete, const std::string& key) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  if (parameter->model_kind.empty()) {
    return complete.has(key) ? std::optional(complete.at(key)) : std::nullopt;
  }
  const std::string& name = parameter->declared.name;
  if (key == name) {
    return name_in(complete.at(key));
  }
  return parameter_of(parameter->model_kind, complete.text(name), key.substr(name.size() + 1));
}

bool means(const ParameterValue& value, const ParameterValue& wanted, bool is_spec) {
  return same_value(value, wanted) || to_text(value) == to_text(wanted) ||
         (is_spec && name_in(value) == to_text(wanted));
}

}  // namespace

/// Where the value of one key comes from.
class Filter::Source {
 public:
  Source(const Definition& definition, std::string key) : definition_(&definition), key_(std::move(key)) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(key_);
    if (parameter == nullptr) {
      experiment::unknown_key(key_, "");
    }
    is_spec_ = !parameter->model_kind.empty() && parameter->declared.name == key_;
    const bool is_part = !parameter->model_kind.empty() && !is_spec_;
    for (std::size_t f = 0; f < definition.factors.size(); ++f) {
      for (const Axis& axis : definition.factors[f].axes) {
        if (axis.key == key_) {
          axis_ = &axis;
          factor_ = f;
        }
      }
    }
    if (axis_ != nullptr) {
      for (const ParameterValue& value : axis_->values) {
        names_.push_back(is_spec_ ? ParameterValue(name_in(value)) : written_value(definition, key_, value));
      }
    }
    from_row_ = axis_ != nullptr && !is_part;
    if (!from_row_) {
      deciding_ = deciding_factors(definition, key_);
      std::uint64_t combinations = 1;
      for (const std::size_t factor : deciding_) {
        const Factor& decides = definition.factors[factor];
        const std::uint64_t size = decides.axes.front().range ? 0 : decides.size();
        remembers_ = remembers_ && size != 0 && combinations <= std::numeric_limits<std::uint64_t>::max() / size;
        combinations *= size;
      }
    }
  }

  [[nodiscard]] const std::string& key() const {
    return key_;
  }
  [[nodiscard]] bool is_spec() const {
    return is_spec_;
  }
  [[nodiscard]] const Axis* axis() const {
    return axis_;
  }
  [[nodiscard]] std::size_t factor() const {
    return factor_;
  }

  /// Null: there is none. `failed` where the row cannot be completed.
  const ParameterValue* value(const Row& row, bool& failed) {
    if (from_row_) {
      if (!axis_->range) {
        return &names_[row.choice[factor_]];
      }
      scratch_ = value_at(*axis_, factor_, row);
      return &*scratch_;
    }
    std::uint64_t index = 0;
    if (remembers_) {
      for (const std::size_t factor : deciding_) {
        index = index * definition_->factors[factor].size() + row.choice[factor];
      }
      if (const auto known = known_.find(index); known != known_.end()) {
        return known->second ? &*known->second : nullptr;
      }
    }
    try {
      scratch_ = seen(experiment::complete(settings_of(*definition_, row)), key_);
      if (scratch_) {
        scratch_ = written_value(*definition_, key_, *scratch_);
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Internal) {
        throw;
      }
      failed = true;
      return nullptr;
    }
    if (remembers_) {
      const auto& kept = known_.emplace(index, scratch_).first->second;
      return kept ? &*kept : nullptr;
    }
    return scratch_ ? &*scratch_ : nullptr;
  }

 private:
  const Definition* definition_;
  std::string key_;
  bool is_spec_ = false;
  bool from_row_ = false;
  const Axis* axis_ = nullptr;
  std::size_t factor_ = 0;
  std::vector<ParameterValue> names_;  ///< by choice
  std::vector<std::size_t> deciding_;
  bool remembers_ = true;
  std::unordered_map<std::uint64_t, std::optional<ParameterValue>> known_;
  std::optional<ParameterValue> scratch_;
};

struct Filter::Exclude {
  struct Term {
    Source* source = nullptr;
    ParameterValue wanted;
    std::vector<bool> matches{};  ///< by choice, where the key is an axis of listed values
  };
  std::vector<Term> terms;
  std::string text;
  mutable std::uint64_t dropped = 0;
};

struct Filter::Test {
  const Condition* condition = nullptr;
  std::vector<Source*> sources;  ///< by the condition's keys
  std::uint64_t dropped = 0;
};

Filter::Filter(const Definition& definition) : definition_(&definition) {
  for (const auto& given : definition.excludes) {
    Exclude exclude;
    for (const auto& [key, wanted] : given) {
      Exclude::Term term{source_of(key), written_value(definition, key, wanted)};
      if (const Axis* axis = term.source->axis(); axis != nullptr && !axis->range) {
        for (const ParameterValue& value : axis->values) {
          term.matches.push_back(means(written_value(definition, key, value), term.wanted, term.source->is_spec()));
        }
      }
      exclude.text += fmt::format("{}{} = {}", exclude.text.empty() ? "" : ", ", key, to_text(term.wanted));
      exclude.terms.push_back(std::move(term));
    }
    exclude.text = fmt::format("exclude {{ {} }}", exclude.text);
    // What the row itself answers goes first.
    std::stable_partition(exclude.terms.begin(), exclude.terms.end(),
                          [](const Exclude::Term& term) { return !term.matches.empty(); });
    excludes_.push_back(std::move(exclude));
  }
  for (const Condition& condition : definition.conditions) {
    Test test{.condition = &condition, .sources = {}};
    for (const std::string& key : condition.keys()) {
      test.sources.push_back(source_of(key));
    }
    tests_.push_back(std::move(test));
  }
}

Filter::~Filter() = default;

Filter::Source* Filter::source_of(const std::string& key) {
  for (const auto& source : sources_) {
    if (source->key() == key) {
      return source.get();
    }
  }
  return sources_.emplace_back(std::make_unique<Source>(*definition_, key)).get();
}

bool Filter::excluded(const Exclude& exclude, const Row& row) const {
  return std::all_of(exclude.terms.begin(), exclude.terms.end(), [&row](const Exclude::Term& term) {
    if (!term.matches.empty()) {
      return static_cast<bool>(term.matches[row.choice[term.source->factor()]]);
    }
    bool failed = false;
    const ParameterValue* value = term.source->value(row, failed);
    return value != nullptr && means(*value, term.wanted, term.source->is_spec());
  });
}

bool Filter::keeps(const Row& row) {
  for (const Exclude& exclude : excludes_) {
    if (excluded(exclude, row)) {
      ++exclude.dropped;
      return false;
    }
  }
  for (Test& test : tests_) {
    bool failed = false;
    const auto lookup = [&](const std::string& key) -> const ParameterValue* {
      for (Source* source : test.sources) {
        if (source->key() == key) {
          return source->value(row, failed);
        }
      }
      return nullptr;
    };
    if (!test.condition->holds(lookup) && !failed) {
      ++test.dropped;
      return false;
    }
  }
  return true;
}

std::string Filter::summary() const {
  std::string text;
  const auto add = [&text](std::uint64_t dropped, const std::string& what) {
    if (dropped > 0) {
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", dropped, what);
    }
  };
  for (const Exclude& exclude : excludes_) {
    add(exclude.dropped, exclude.text);
  }
  for (const Test& test : tests_) {
    add(test.dropped, fmt::format("\"{}\"", test.condition->text()));
  }
  return text;
}

}  // namespace rayreplay::sweep
