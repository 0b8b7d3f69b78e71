#include "sim/sweep/plan/filter.hpp"

#include <algorithm>
#include <map>
#include <optional>
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
  return !experiment::find_parameter(key)->model_kind.empty() && key_of_spec(key) == key;
}

/// "random" matches the model with any parameters, "random:seed=2" one configuration of it.
SpecForm form_of(const std::string& key, const ParameterValue& wanted) {
  return holds_spec(key) && to_text(wanted).find(':') != std::string::npos ? SpecForm::Whole : SpecForm::Name;
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
      : definition_(&definition), key_(std::move(key)), form_(form), place_(find_axis(definition, key_)) {
    if (experiment::find_parameter(key_) == nullptr) {
      experiment::unknown_key(key_, "");
    }
    const bool is_spec = holds_spec(key_);
    // "KEY:PARAM" on its own axis changes the completed spec.
    const bool is_changed = is_spec && form == SpecForm::Whole && sets_part_of(definition, key_);
    if (place_.axis != nullptr && !is_changed) {
      for (const ParameterValue& value : place_.axis->values) {
        names_.push_back(!is_spec                  ? written_value(definition, key_, value)
                         : form == SpecForm::Whole ? known_spec(key_, value)
                                                   : ParameterValue(name_in(value)));
      }
    }
    from_row_ = place_.axis != nullptr && !is_changed && key_of_spec(key_) == key_;
    if (!from_row_) {
      deciding_ = deciding_factors(definition, key_);
    }
  }

  [[nodiscard]] const std::string& key() const {
    return key_;
  }
  [[nodiscard]] SpecForm form() const {
    return form_;
  }
  /// True if an axis lists the values, in the form asked for.
  [[nodiscard]] bool is_listed() const {
    return !names_.empty();
  }
  [[nodiscard]] const ParameterValue* listed(const Row& row) const {
    return &names_[row.choice[place_.factor]];
  }

  /// Null: no value. `failed`: the row cannot be completed.
  const ParameterValue* value(const Row& row, bool& failed) {
    if (from_row_) {
      if (!place_.axis->range) {
        return listed(row);
      }
      number_ = value_at(*place_.axis, place_.factor, row);
      return &number_;
    }
    std::vector<double> at;
    for (const std::size_t factor : deciding_) {
      at.push_back(is_continuous(factor) ? row.number[factor] : row.choice[factor]);
    }
    auto known = known_.find(at);
    if (known == known_.end()) {
      std::optional<ParameterValue> found;
      try {
        found = seen(experiment::complete(settings_of(*definition_, row)), key_, form_);
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::Internal) {
          throw;
        }
        failed = true;
        return nullptr;
      }
      if (found) {
        found = written_value(*definition_, key_, *found);
      }
      if (std::ranges::any_of(deciding_, [this](std::size_t factor) { return is_continuous(factor); })) {
        known_.clear();  // drawn numbers rarely repeat
      }
      known = known_.emplace(std::move(at), std::move(found)).first;
    }
    return known->second ? &*known->second : nullptr;
  }

 private:
  [[nodiscard]] bool is_continuous(std::size_t factor) const {
    return definition_->factors[factor].axes.front().range.has_value();
  }

  const Definition* definition_;
  std::string key_;
  SpecForm form_;
  AxisPlace place_;
  bool from_row_ = false;
  std::vector<ParameterValue> names_;  ///< by choice; empty if the axis alone does not decide, and for ranges
  std::vector<std::size_t> deciding_;
  std::map<std::vector<double>, std::optional<ParameterValue>> known_;  ///< by the row's place on `deciding_`
  ParameterValue number_;
};

struct Filter::Exclude {
  std::vector<std::pair<Source*, ParameterValue>> terms;
  std::string text;
  std::uint64_t dropped = 0;
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
      exclude.terms.emplace_back(source_of(key, form), form == SpecForm::Whole ? known_spec(key, written) : written);
    }
    exclude.text = fmt::format("exclude {{ {} }}", exclude.text);
    // Terms that the row answers without completion are checked first.
    std::ranges::stable_partition(exclude.terms, [](const auto& term) { return term.first->is_listed(); });
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

bool Filter::keeps(const Row& row) {
  for (Exclude& exclude : excludes_) {
    if (std::ranges::all_of(exclude.terms, [&row](const auto& term) {
          const auto& [source, wanted] = term;
          bool failed = false;
          const ParameterValue* value = source->is_listed() ? source->listed(row) : source->value(row, failed);
          return value != nullptr && means(*value, wanted);
        })) {
      ++exclude.dropped;
      return false;
    }
  }
  for (Test& test : tests_) {
    bool failed = false;
    const auto lookup = [&](const std::string& key) {
      return (*std::ranges::find(test.sources, key, &Source::key))->value(row, failed);
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
