#include "sim/sweep/plan/check_specs.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "sim/sweep/plan/influence.hpp"

namespace rayreplay::sweep {
namespace {

struct Choice {
  ParameterValue value;
  std::string where;
};

/// A key, or one parameter of its model, with all values that the sweep gives it.
struct Member {
  std::string key;
  std::vector<Choice> choices;
};

Member member_of(const Axis& axis) {
  Member member{.key = axis.key, .choices = {}};
  for (std::size_t i = 0; i < axis.values.size(); ++i) {
    member.choices.push_back({axis.values[i], axis.places.empty() ? axis.where : axis.places[i]});
  }
  if (axis.range) {
    for (const double end : {axis.range->low, axis.range->high}) {
      member.choices.push_back(
          {axis.range->whole ? ParameterValue(static_cast<std::int64_t>(end)) : ParameterValue(end), axis.where});
    }
  }
  return member;
}

/// One key with models, and the parameters of these models.
class Family {
 public:
  explicit Family(std::string key) : key_(std::move(key)) {}

  void add(Member member) {
    (member.key == key_ ? specs_ : parameters_).push_back(std::move(member));
  }

  void check() {
    if (specs_.empty()) {
      specs_.push_back({key_, {{experiment::find_parameter(key_)->declared.default_value, ""}}});
    }
    for (const Choice& spec : specs_.front().choices) {
      Attempts attempts(*this);
      if (!attempts.succeed(spec, nullptr, nullptr)) {
        attempts.fail();
      }
    }
    for (const Member& parameter : parameters_) {
      for (const Choice& choice : parameter.choices) {
        Attempts attempts(*this);
        if (std::ranges::none_of(specs_.front().choices,
                                 [&](const Choice& spec) { return attempts.succeed(spec, &parameter, &choice); })) {
          attempts.fail();
        }
      }
    }
  }

 private:
  /// Attempts to use one value, and their most helpful error.
  class Attempts {
   public:
    explicit Attempts(const Family& family) : family_(&family) {}

    /// Tries the spec with one value of a parameter, or none: first alone, then with values of its other parameters.
    bool succeed(const Choice& spec, const Member* parameter, const Choice* choice) {
      const std::vector<std::string> declared = family_->declared_by(spec);
      const bool takes = parameter == nullptr || has(declared, *parameter);
      if (attempt(spec, parameter, choice, {}, 0, takes)) {
        return true;
      }
      std::vector<const Member*> others;
      std::size_t longest = 0;
      for (const Member& other : family_->parameters_) {
        if (&other != parameter && has(declared, other)) {
          others.push_back(&other);
          longest = std::max(longest, other.choices.size());
        }
      }
      constexpr std::size_t kMostAttempts = 4096;
      for (std::size_t i = 0; takes && i < std::min(longest, kMostAttempts); ++i) {
        if (attempt(spec, parameter, choice, others, i, takes)) {
          return true;
        }
      }
      return false;
    }

    [[noreturn]] void fail() const {
      throw Error(*error_);
    }

   private:
    [[nodiscard]] bool has(const std::vector<std::string>& declared, const Member& parameter) const {
      return std::ranges::find(declared, parameter.key.substr(family_->key_.size() + 1)) != declared.end();
    }

    bool attempt(const Choice& spec, const Member* parameter, const Choice* choice,
                 const std::vector<const Member*>& others, std::size_t index, bool takes) {
      try {
        experiment::Settings settings;
        settings.set(family_->key_, spec.value, spec.where);
        for (const Member* other : others) {
          const Choice& its = other->choices[index % other->choices.size()];
          settings.set(other->key, its.value, its.where);
        }
        if (parameter != nullptr) {
          settings.set(parameter->key, choice->value, choice->where);
        }
        experiment::check_text(settings, family_->key_);
        return true;
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::Internal) {
          throw;
        }
        // Of several models, one with the parameter says what is wrong with its value; a similar name comes next.
        const int rank = takes ? 2 : error.info().fix.empty() ? 0 : 1;
        if (!error_ || rank > rank_) {
          error_ = error;
          rank_ = rank;
        }
        return false;
      }
    }

    const Family* family_;
    std::optional<Error> error_;
    int rank_ = 0;
  };

  /// Names of the parameters of the spec's model.
  [[nodiscard]] std::vector<std::string> declared_by(const Choice& spec) const {
    const std::string text = to_text(spec.value);
    const std::string name = text.substr(0, text.find(':'));
    const std::string& kind = experiment::find_parameter(key_)->model_kind;
    std::vector<std::string> names;
    for (const ModelDescription& model : all_models()) {
      if (model.kind == kind && model.name == name) {
        std::ranges::transform(model.parameters, std::back_inserter(names), &Parameter::name);
      }
    }
    return names;
  }

  std::string key_;
  std::vector<Member> specs_;  ///< one at most
  std::vector<Member> parameters_;
};

bool is_text(const experiment::ExperimentParameter& parameter) {
  return !parameter.is_open && std::holds_alternative<std::string>(parameter.declared.default_value);
}

}  // namespace

void check_specs(const Definition& definition) {
  std::map<std::string, Family> families;
  const auto add = [&families](Member member) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(member.key);
    const bool is_empty =
        std::ranges::all_of(member.choices, [](const Choice& choice) { return to_text(choice.value).empty(); });
    if (is_text(*parameter) && !is_empty) {
      const std::string key = key_of_spec(member.key);
      families.try_emplace(key, key).first->second.add(std::move(member));
    }
  };
  for (const Factor& factor : definition.factors) {
    for (const Axis& axis : factor.axes) {
      add(member_of(axis));
    }
  }
  for (const auto& [key, setting] : definition.base.all()) {
    if (find_axis(definition, key).axis == nullptr) {
      add({key, {{setting.value, setting.where}}});
    }
  }
  for (auto& [key, family] : families) {
    family.check();
  }
}

}  // namespace rayreplay::sweep
