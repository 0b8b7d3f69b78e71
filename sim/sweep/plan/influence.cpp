#include "sim/sweep/plan/influence.hpp"

#include <algorithm>

#include "sim/settings/machine_settings.hpp"

namespace rayreplay::sweep {
namespace {

constexpr std::string_view kMachine = "machine.";
constexpr std::string_view kByMachine = "machine";  ///< ExperimentParameter::inherits

bool is_set(const Definition& definition, const std::string& key) {
  return definition.base.has(key) || find_axis(definition, key).axis != nullptr;
}

/// True if completing settings derives `parameter` from `key`.
bool follows(const experiment::ExperimentParameter& parameter, const std::string& key) {
  return parameter.inherits == key || (parameter.inherits == kByMachine && key == experiment::kMachineName) ||
         // The number of SMs bounds the number of withheld SMs.
         (parameter.declared.name == "machine.withheld_sms" && key == "machine.sms");
}

experiment::StageMask readers(const Definition& definition, const std::string& key) {
  const experiment::ExperimentParameter* own = experiment::find_parameter(key);
  experiment::StageMask mask = own == nullptr ? 0 : own->read_by;
  for (const experiment::ExperimentParameter& parameter : experiment::experiment_parameters()) {
    if (follows(parameter, key) && !is_set(definition, parameter.declared.name)) {
      mask |= readers(definition, parameter.declared.name);
    }
  }
  return mask;
}

}  // namespace

std::string key_of_spec(const std::string& key) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  return parameter == nullptr || parameter->model_kind.empty() ? key : parameter->declared.name;
}

experiment::StageMask moved_stages(const Definition& definition, const Axis& axis) {
  return experiment::with_dependents(readers(definition, key_of_spec(axis.key)),
                                     [&definition](const std::string& key) { return may_be_on(definition, key); });
}

bool may_be_on(const Definition& definition, const std::string& key) {
  return find_axis(definition, key).axis != nullptr ||
         (definition.base.has(key) && is_switched_on(definition.base, key));
}

std::vector<std::size_t> deciding_factors(const Definition& definition, const std::string& key) {
  std::vector<std::string> keys = {key_of_spec(key)};
  bool by_machine = false;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(keys[i]);
    if (parameter == nullptr || definition.base.has(keys[i])) {
      continue;
    }
    by_machine = by_machine || keys[i].starts_with(kMachine);
    if (!parameter->inherits.empty() && parameter->inherits != kByMachine) {
      keys.push_back(parameter->inherits);
    }
  }
  std::vector<std::size_t> found;
  for (std::size_t f = 0; f < definition.factors.size(); ++f) {
    const auto& axes = definition.factors[f].axes;
    if (std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) {
          return std::find(keys.begin(), keys.end(), key_of_spec(axis.key)) != keys.end() ||
                 (by_machine && axis.key.starts_with(kMachine));
        })) {
      found.push_back(f);
    }
  }
  return found;
}

}  // namespace rayreplay::sweep
