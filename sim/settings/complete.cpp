// Complete settings: `complete`.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/machine/contradictions.hpp"
#include "sim/machine/latency_order.hpp"
#include "sim/settings/defaults.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/settings.hpp"
#include "sim/settings/spec_completion.hpp"
#include "sim/settings/value.hpp"

namespace rayreplay::experiment {

/// Fills in settings; values that are known to be valid are not checked again.
class Completer {
 public:
  using Values = std::map<std::string, Setting, std::less<>>;

  /// All declared keys at their defaults, with the figures of `machine`.
  static Values standard(const std::string& machine) {
    Values values;
    for (const ExperimentParameter& parameter : experiment_parameters()) {
      if (!parameter.is_open) {
        ParameterValue value = parameter.declared.default_value;
        if (!parameter.model_kind.empty() && parameter.declared.name != "workload") {
          value = completed_text(parameter, std::get<std::string>(value));
        }
        values[parameter.declared.name] = {std::move(value), ""};
      }
    }
    values[kMachineName].value = machine;
    for (auto& [key, value] : machine_values(known_machine(machine))) {
      values[key].value = std::move(value);
    }
    inherit(values, {});
    return values;
  }

  static void inherit(Values& values, const Values& given) {
    for (const auto& [key, from] : inheritance()) {
      if (given.find(*key) == given.end()) {
        values.find(*key)->second.value = values.find(*from)->second.value;
      }
    }
  }

  static Settings finish(Values values) {
    Settings result;
    result.values_ = std::move(values);
    return result;
  }

 private:
  /// Pairs of a key and the key that it inherits its value from.
  static const std::vector<std::pair<const std::string*, const std::string*>>& inheritance() {
    static const std::vector<std::pair<const std::string*, const std::string*>> list = [] {
      std::vector<std::pair<const std::string*, const std::string*>> result;
      for (const ExperimentParameter& parameter : experiment_parameters()) {
        if (!parameter.inherits.empty() && parameter.inherits != "machine") {
          result.emplace_back(&parameter.declared.name, &parameter.inherits);
        }
      }
      return result;
    }();
    return list;
  }
};

namespace {

using Values = Completer::Values;

[[noreturn]] void rethrow_at(const Error& error, const std::string& where, std::string_view key) {
  ErrorInfo info = error.info();
  const std::string place = place_of(where, key);
  info.where = info.where.empty() || info.where == place ? place : fmt::format("{}: {}", place, info.where);
  throw Error(error.kind(), info);
}

/// The defaults of a machine, made once.
const Values& standard_values(const Settings& settings) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Values>, std::less<>> made;
  const std::string& machine = settings.text(kMachineName);
  const std::scoped_lock lock(mutex);
  if (const auto found = made.find(machine); found != made.end()) {
    return *found->second;
  }
  try {
    return *made.emplace(machine, std::make_unique<const Values>(Completer::standard(machine))).first->second;
  } catch (const Error& error) {
    rethrow_at(error, settings.where(kMachineName), kMachineName);
  }
}

void require_input(const Settings& settings) {
  const std::string& trace = settings.text("trace");
  const std::string& workload = settings.text("workload");
  if (trace.empty() && workload.empty()) {
    throw Error(ErrorKind::Usage, {"the experiment has no input", "", "", "a trace or a workload",
                                   "set trace = \"t.rrt\" (or --set trace=t.rrt)"});
  }
  if (!trace.empty() && !workload.empty()) {
    throw Error(ErrorKind::Usage,
                {"the experiment has two inputs", place_of(settings.where("workload"), "workload"),
                 fmt::format("workload '{}' and trace '{}'{}", workload, trace,
                             settings.where("trace").empty() ? "" : " (" + settings.where("trace") + ")"),
                 "a trace or a workload", "leave one out, or set it to \"\""});
  }
}

/// Replaces or adds one parameter of "name:key=value".
std::string with_parameter(const std::string& spec, const std::string& name, const std::string& value) {
  const ModelSpec parsed = parse_spec(spec);
  std::string result = parsed.name;
  char separator = ':';
  bool replaced = false;
  for (const auto& [key, old] : parsed.settings) {
    result += fmt::format("{}{}={}", separator, key, key == name ? value : old);
    replaced = replaced || key == name;
    separator = ',';
  }
  return replaced ? result : result + fmt::format("{}{}={}", separator, name, value);
}

/// Applies set parameters to the key's spec and completes it.
void complete_spec(const ExperimentParameter& parameter, const Values& given, Setting& setting) {
  const std::string& key = parameter.declared.name;
  const std::string prefix = key + ":";
  const auto first = given.lower_bound(prefix);
  auto last = first;
  if (std::get<std::string>(setting.value).empty() && first != given.end() && first->first.starts_with(prefix)) {
    throw Error(ErrorKind::Usage,
                {"a parameter is set and its model is not", place_of(first->second.where, first->first),
                 to_text(first->second.value), fmt::format("{} = NAME beside it", key),
                 fmt::format("set {} to the name of a model, or leave the parameter out", key)});
  }
  try {
    std::string spec = std::get<std::string>(setting.value);
    for (; last != given.end() && last->first.starts_with(prefix); ++last) {
      spec = with_parameter(spec, last->first.substr(prefix.size()), to_text(last->second.value));
    }
    setting.value = completed_text(parameter, spec);
  } catch (const Error& error) {
    // An error of a single parameter is reported first; then one of their combination.
    for (auto it = first; it != last; ++it) {
      try {
        static_cast<void>(
            completed_text(parameter, with_parameter(std::get<std::string>(setting.value),
                                                     it->first.substr(prefix.size()), to_text(it->second.value))));
      } catch (const Error& of_one) {
        rethrow_at(of_one, it->second.where, it->first);
      }
    }
    rethrow_at(error, setting.where, key);
  }
}

/// Usage if steps_per_ray is set together with replay_steps. Its default value is not an error, because complete
/// settings, which may be completed again, hold both keys.
void check_steps(const Values& values, const Values& given) {
  constexpr const char* kSteps = "scheduler.steps_per_ray";
  constexpr const char* kReplay = "scheduler.replay_steps";
  const auto steps = given.find(kSteps);
  if (steps == given.end() || !std::get<bool>(values.find(kReplay)->second.value) ||
      steps->second.value == find_parameter(kSteps)->declared.default_value) {
    return;
  }
  throw Error(ErrorKind::Usage, {"steps are either given or counted",
                                 fmt::format("{}, {}", place_of(steps->second.where, kSteps), kReplay), "both",
                                 "one of the two", "leave one out"});
}

void check_withheld(Values& values, const Values& given) {
  const std::int64_t sms = std::get<std::int64_t>(values.find("machine.sms")->second.value);
  Setting& withheld = values.find("machine.withheld_sms")->second;
  if (std::get<std::int64_t>(withheld.value) < sms) {
    return;
  }
  if (given.find("machine.withheld_sms") != given.end()) {
    throw Error(ErrorKind::Usage,
                {"the machine withholds all of its SMs", place_of(withheld.where, "machine.withheld_sms"),
                 to_text(withheld.value), fmt::format("less than machine.sms = {}", sms), ""});
  }
  withheld.value = sms - 1;
}

void check_latencies(const Values& values) {
  const auto number = [&values](const char* key) { return std::get<std::int64_t>(values.find(key)->second.value); };
  const auto cycles = [&](const char* key) { return static_cast<std::uint32_t>(number(key)); };
  const auto fault = machine::latency_fault({.has_l1 = number("machine.l1_bytes") > 0,
                                             .has_l2 = number("machine.l2_bytes") > 0,
                                             .l1 = cycles("machine.l1_latency_cycles"),
                                             .l2 = cycles("machine.l2_latency_cycles"),
                                             .dram = cycles("machine.dram_latency_cycles")});
  if (!fault) {
    return;
  }
  constexpr const char* kPrefix = "machine.";
  std::string places;
  for (const std::string_view one : {fault->nearer, fault->farther}) {
    const std::string key = kPrefix + std::string(one);
    if (const std::string& where = values.find(key)->second.where; !where.empty()) {
      places += (places.empty() ? "" : "; ") + place_of(where, key);
    }
  }
  throw Error(ErrorKind::Usage, machine::error_of(*fault, kPrefix, std::move(places)));
}

void check_unit_rates(const Values& values) {
  constexpr const char* kBoxes = "machine.rt_boxes_per_cycle";
  constexpr const char* kTriangles = "machine.rt_triangles_per_cycle";
  const bool has_boxes = std::get<double>(values.find(kBoxes)->second.value) > 0;
  const bool has_triangles = std::get<double>(values.find(kTriangles)->second.value) > 0;
  if (has_boxes != has_triangles) {
    const char* const given = has_boxes ? kBoxes : kTriangles;
    throw Error(ErrorKind::Usage, {"only one of the rates of the ray-tracing unit is given",
                                   place_of(values.find(given)->second.where, given), fmt::format("only {}", given),
                                   fmt::format("{} and {}, or none of them", kBoxes, kTriangles),
                                   fmt::format("set {} too", has_boxes ? kTriangles : kBoxes)});
  }
}

void check_contradictions(const Values& values) {
  constexpr const char* kPrefix = "machine.";
  const auto value = [&values](const char* key) -> const ParameterValue& {
    return values.find(std::string(kPrefix) + key)->second.value;
  };
  machine::Machine machine;
  machine.software_traversal = std::get<bool>(value("software_traversal"));
  machine.rt_rays = static_cast<std::uint32_t>(std::get<std::int64_t>(value("rt_rays")));
  machine.rt_boxes_per_cycle = std::get<double>(value("rt_boxes_per_cycle"));
  machine.rt_triangles_per_cycle = std::get<double>(value("rt_triangles_per_cycle"));
  machine.reorders = std::get<bool>(value("reorders"));
  machine.withheld_sms = static_cast<std::uint32_t>(std::get<std::int64_t>(value("withheld_sms")));
  const auto found = machine::contradiction(machine);
  if (!found) {
    return;
  }
  std::string places;
  for (const std::string_view one : {found->flag, found->number}) {
    const std::string key = kPrefix + std::string(one);
    if (const std::string& where = values.find(key)->second.where; !where.empty()) {
      places += (places.empty() ? "" : "; ") + place_of(where, key);
    }
  }
  throw Error(ErrorKind::Usage, machine::error_of(*found, kPrefix, std::move(places)));
}

}  // namespace

Settings complete(const Settings& settings, NamedInput input) {
  if (input == NamedInput::Needed) {
    require_input(settings);
  }
  const Values& given = settings.all();
  Values values = standard_values(settings);
  std::vector<const ExperimentParameter*> specs;
  for (const auto& [key, setting] : given) {
    const ExperimentParameter* parameter = find_parameter(key);
    if (parameter == nullptr) {
      throw Error(ErrorKind::Internal, {"settings hold a key that is not declared", setting.where, key, "", ""});
    }
    const bool is_key = parameter->is_open || parameter->declared.name == key;
    if (is_key) {
      values.insert_or_assign(key, setting);
    }
    if (std::holds_alternative<std::string>(parameter->declared.default_value) && !parameter->is_open &&
        (specs.empty() || specs.back() != parameter)) {
      specs.push_back(parameter);
    }
  }
  Completer::inherit(values, given);
  check_withheld(values, given);
  check_unit_rates(values);
  check_contradictions(values);
  check_latencies(values);
  check_steps(values, given);
  for (const ExperimentParameter* parameter : specs) {
    complete_spec(*parameter, given, values.find(parameter->declared.name)->second);
  }
  return Completer::finish(std::move(values));
}

void check_text(const Settings& settings, const std::string& key) {
  if (key == kMachineName) {
    static_cast<void>(standard_values(settings));
    return;
  }
  Setting setting{settings.at(key), settings.where(key)};
  complete_spec(*find_parameter(key), settings.all(), setting);
}

}  // namespace rayreplay::experiment
