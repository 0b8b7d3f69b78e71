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

/// A parameter of a completed spec, with the type that its model declares; none if the model has no such parameter.
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

/// The PARAM of KEY:PARAM.
std::optional<ParameterValue> seen(const experiment::Settings& complete, const std::string& key, SpecForm form) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  if (parameter->model_kind.empty() || (form == SpecForm::Whole && key == parameter->declared.name)) {
    return complete.has(key) ? std::optional(complete.at(key)) : std::nullopt;
  }
  const std::string& name = parameter->declared.name;
  if (key == name) {
    return name_in(complete.at(key));
  }
  return parameter_of(parameter->model_kind, complete.text(name), key.substr(name.size() + 1));
}

bool means(const ParameterValue& value, const ParameterValue& wanted) {
  return same_value(value, wanted) || to_text(value) == to_text(wanted);
}

bool holds_spec(const std::string& key) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  return !parameter->model_kind.empty() && parameter->declared.name == key;
}

/// "random" matches the model with any parameters, "random:seed=2" one configuration of it.
SpecForm form_of(const std::string& key, const ParameterValue& wanted) {
  return holds_spec(key) && to_text(wanted).find(':') != std::string::npos ? SpecForm::Whole : SpecForm::Name;
}

/// A row with an unknown model is kept: it gets the error.
ParameterValue resolved_or_as_it_is(const std::string& key, const ParameterValue& value) {
  try {
    return resolved_spec(key, value, "");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    return value;
  }
}

/// True if an axis or the base sets "KEY:PARAM".
bool sets_part_of(const Definition& definition, const std::string& key) {
  const auto is_part = [prefix = key + ":"](const std::string& other) { return other.starts_with(prefix); };
  return std::ranges::any_of(axis_keys(definition), is_part) ||
         std::ranges::any_of(definition.base.all(), [&](const auto& setting) { return is_part(setting.first); });
}

}  // namespace

/// Where one key's value comes from.
class Filter::Source {
 public:
  Source(const Definition& definition, std::string key, SpecForm form)
      : definition_(&definition), key_(std::move(key)), form_(form) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(key_);
    if (parameter == nullptr) {
      experiment::unknown_key(key_, "");
    }
    const bool is_spec = holds_spec(key_);
    const bool is_part = !parameter->model_kind.empty() && !is_spec;
    for (std::size_t f = 0; f < definition.factors.size(); ++f) {
      for (const Axis& axis : definition.factors[f].axes) {
        if (axis.key == key_) {
          axis_ = &axis;
          factor_ = f;
        }
      }
    }
    // "KEY:PARAM" on its own axis changes the completed spec.
    const bool is_changed = is_spec && form == SpecForm::Whole && sets_part_of(definition, key_);
    if (axis_ != nullptr && !is_changed) {
      for (const ParameterValue& value : axis_->values) {
        names_.push_back(!is_spec                  ? written_value(definition, key_, value)
                         : form == SpecForm::Whole ? resolved_or_as_it_is(key_, value)
                                                   : ParameterValue(name_in(value)));
      }
    }
    from_row_ = axis_ != nullptr && !is_part && !is_changed;
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
  [[nodiscard]] SpecForm form() const {
    return form_;
  }
  /// By choice; empty if the row alone does not decide the value, and for continuous ranges.
  [[nodiscard]] const std::vector<ParameterValue>& names() const {
    return names_;
  }
  [[nodiscard]] std::size_t factor() const {
    return factor_;
  }

  /// Null: no value. `failed`: the row cannot be completed.
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
      scratch_ = seen(experiment::complete(settings_of(*definition_, row)), key_, form_);
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
  SpecForm form_;
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
    std::vector<bool> matches{};  ///< by choice, if the key is an axis of listed values
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
      const ParameterValue written = written_value(definition, key, wanted);
      exclude.text += fmt::format("{}{} = {}", exclude.text.empty() ? "" : ", ", key, to_text(written));
      const SpecForm form = form_of(key, written);
      Exclude::Term term{source_of(key, form), form == SpecForm::Whole ? resolved_or_as_it_is(key, written) : written};
      for (const ParameterValue& value : term.source->names()) {
        term.matches.push_back(means(value, term.wanted));
      }
      exclude.terms.push_back(std::move(term));
    }
    exclude.text = fmt::format("exclude {{ {} }}", exclude.text);
    // Conditions that the row answers without completion are checked first.
    std::stable_partition(exclude.terms.begin(), exclude.terms.end(),
                          [](const Exclude::Term& term) { return !term.matches.empty(); });
    excludes_.push_back(std::move(exclude));
  }
  for (const Condition& condition : definition.conditions) {
    Test test{.condition = &condition, .sources = {}};
    for (const std::string& key : condition.keys()) {
      test.sources.push_back(source_of(key, SpecForm::Name));
    }
    tests_.push_back(std::move(test));
  }
}

Filter::~Filter() = default;

Filter::Source* Filter::source_of(const std::string& key, SpecForm form) {
  for (const auto& source : sources_) {
    if (source->key() == key && source->form() == form) {
      return source.get();
    }
  }
  return sources_.emplace_back(std::make_unique<Source>(*definition_, key, form)).get();
}

bool Filter::excluded(const Exclude& exclude, const Row& row) const {
  return std::all_of(exclude.terms.begin(), exclude.terms.end(), [&row](const Exclude::Term& term) {
    if (!term.matches.empty()) {
      return static_cast<bool>(term.matches[row.choice[term.source->factor()]]);
    }
    bool failed = false;
    const ParameterValue* value = term.source->value(row, failed);
    return value != nullptr && means(*value, term.wanted);
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
