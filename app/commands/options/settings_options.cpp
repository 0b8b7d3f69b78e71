#include "app/commands/options/settings_options.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/list_items.hpp"
#include "base/text.hpp"
#include "sim/sweep/definition/paths.hpp"

namespace rayreplay::app {
namespace {

using experiment::ExperimentParameter;
using experiment::Settings;

constexpr const char* kExperimentGroup = "Experiment";

bool has(const std::vector<std::string>& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The key's help entry; null: none.
const std::string* said_of(const Pairs& pairs, const std::string& key) {
  const auto found = std::ranges::find(pairs, key, &Pairs::value_type::first);
  return found == pairs.end() ? nullptr : &found->second;
}

/// The help text after a flag. `own`: the command's default, if not "".
std::string help_of(const ExperimentParameter& parameter, const std::string& own) {
  const Parameter& declared = parameter.declared;
  if (parameter.is_switch()) {
    return fmt::format("{} = {}: {}", declared.name, !std::get<bool>(declared.default_value), declared.text);
  }
  const std::string value = !own.empty()                 ? own
                            : parameter.is_open          ? ""
                            : parameter.inherits.empty() ? to_text(declared.default_value)
                                                         : "the machine's";
  return fmt::format("{}: {}{}", declared.name, declared.text, value.empty() ? "" : " [" + value + "]");
}

/// Stages that one of `stages` takes because a switch is on, and that are not among them.
experiment::StageMask conditional_of(experiment::StageMask stages, const experiment::IsOn& is_on) {
  experiment::StageMask found = 0;
  for (std::size_t i = 0; i < experiment::stage_count(); ++i) {
    const auto one = static_cast<experiment::Stage>(i);
    if ((stages & experiment::bit(one)) != 0) {
      found |= experiment::taken_by(one, is_on) & ~experiment::taken_by(one, [](const std::string&) { return false; });
    }
  }
  return found & ~stages;
}

/// "A=1,B=2": values of an open table. A part without '=' belongs to the name that follows, which has commas.
/// The last '=' counts: a shader's name may hold others.
void set_open(Settings& settings, const ExperimentParameter& parameter, const std::vector<std::string>& lists) {
  const std::string table = parameter.declared.name.substr(0, parameter.declared.name.size() - 1);
  const auto refuse = [&parameter](const std::string& found) {
    throw Error(ErrorKind::Usage, {"a cost is not of the form SHADER=VALUE", parameter.flag, fmt::format("'{}'", found),
                                   parameter.type, ""});
  };
  std::map<std::string, std::string> given;  // items by name
  for (const std::string& list : lists) {
    std::string item;
    for (const std::string& part : list_items(list, ',')) {
      if (part.empty()) {
        refuse(list);
      }
      item += (item.empty() ? "" : ",") + part;
      if (part.find('=') == std::string::npos) {
        continue;
      }
      const auto equals = item.rfind('=');
      if (equals == 0) {
        refuse(item);
      }
      const std::string name = item.substr(0, equals);
      if (const auto [other, is_new] = given.try_emplace(name, item); !is_new) {
        throw Error(ErrorKind::Usage,
                    {"a shader has two costs", parameter.flag, fmt::format("'{}' and '{}'", other->second, item),
                     "one cost for each shader", "leave one out"});
      }
      settings.set(table + name, item.substr(equals + 1), parameter.flag);
      item.clear();
    }
    if (!item.empty()) {
      refuse(item);
    }
  }
}

}  // namespace

void SettingsOptions::add_to(CLI::App& command, TakenKeys taken) {
  command_ = command.get_name();
  taken_ = std::move(taken);
  stages_ = experiment::stages_named(taken_.stages);
  conditional_ = conditional_of(stages_, [](const std::string&) { return true; });
  add_plain(command, "--config", files_, "FILE",
            "Experiment (TOML), as rayreplay run takes it; may be repeated. Options given here win over it",
            kExperimentGroup)
      ->allow_extra_args(false);
  add_plain(command, "--set", assignments_, "KEY=VALUE", "Value of a key; may be repeated. See rayreplay list keys",
            kExperimentGroup)
      ->allow_extra_args(false);
  for (const ExperimentParameter& parameter : experiment::experiment_parameters()) {
    if (!parameter.flag.empty() && reads(parameter)) {
      flags_.push_back({&parameter, nullptr, said_of(taken_.variants, parameter.declared.name) != nullptr});
      add_flag(command, flags_.back());
    }
  }
  for (const experiment::Shorthand& shorthand : experiment::shorthands()) {
    if ((shorthand.read_by & stages_) != 0) {
      flags_.push_back({nullptr, &shorthand});
      add_flag(command, flags_.back());
    }
  }
}

void SettingsOptions::add_flag(CLI::App& command, Flag& flag) const {
  if (flag.shorthand != nullptr) {
    flag.option = add_plain(command, flag.shorthand->flag, flag.values, flag.shorthand->type, flag.shorthand->text,
                            flag.shorthand->group)
                      ->expected(1);
    return;
  }
  const ExperimentParameter& parameter = *flag.parameter;
  const std::string* own = said_of(flag.is_variant ? taken_.variants : taken_.defaults, parameter.declared.name);
  const std::string text = help_of(parameter, own == nullptr ? "" : *own);
  if (parameter.is_switch()) {
    flag.option = command.add_flag(parameter.flag, flag.on, text);
  } else {
    flag.option = command.add_option(parameter.flag, flag.values, text)->type_name(parameter.type);
    if (flag.is_variant || parameter.is_open || parameter.separator != '\0') {
      flag.option->description(text + "; may be repeated")->allow_extra_args(false);
    } else {
      flag.option->expected(1);
    }
  }
  flag.option->group(parameter.group);
}

void SettingsOptions::set(Settings& settings, const Flag& flag) {
  const ExperimentParameter& parameter = *flag.parameter;
  const std::string& key = parameter.declared.name;
  if (parameter.is_switch()) {
    // "--flag=false" asks for the default.
    settings.set(key, std::get<bool>(parameter.declared.default_value) != flag.on, parameter.flag);
  } else if (parameter.is_open) {
    set_open(settings, parameter, flag.values);
  } else {
    std::string text;
    for (const std::string& item : flag.values) {
      text += (text.empty() ? std::string() : std::string(1, parameter.separator)) + item;
    }
    settings.set(key, text, parameter.flag);
  }
}

Settings SettingsOptions::asked(const std::string& trace_file) const {
  Settings settings;
  for (const auto& [key, value] : taken_.defaults) {
    settings.set(key, value, "");
  }
  for (const std::string& file : files_) {
    const Settings read = experiment::parse_experiment(read_text_file(file, kMaxExperimentBytes), file,
                                                       std::filesystem::path(file).parent_path().string());
    for (const auto& [key, setting] : read.all()) {
      settings.set(key, setting.value, setting.where);
    }
  }
  std::set<std::string> set_keys;
  for (const std::string& assignment : assignments_) {
    settings.set_text(assignment, "--set");
    const std::string key = assignment.substr(0, assignment.find('='));
    if (const ExperimentParameter* parameter = experiment::find_parameter(key);
        parameter != nullptr && !reads(*parameter)) {
      throw Error(ErrorKind::Usage, {"the command does not read the key", "--set", "'" + key + "'",
                                     "a key that rayreplay " + command_ + " reads", "leave it out"});
    }
    set_keys.insert(key);
  }
  for (const Flag& flag : flags_) {
    if (flag.option->count() == 0 || flag.parameter == nullptr) {
      continue;
    }
    if (set_keys.contains(flag.parameter->declared.name)) {
      throw Error(ErrorKind::Usage, {"a key is set twice", flag.parameter->flag + " and --set",
                                     "'" + flag.parameter->declared.name + "'", "one of the two", "leave one out"});
    }
    if (!flag.is_variant) {
      set(settings, flag);
    }
  }
  // Parameters that a shorthand omits have the values of the others.
  for (const Flag& flag : flags_) {
    if (flag.shorthand == nullptr || flag.option->count() == 0) {
      continue;
    }
    for (const std::string& key : flag.shorthand->keys) {
      if (set_keys.contains(key)) {
        throw Error(ErrorKind::Usage, {"a key is set twice", flag.shorthand->flag + " and --set", "'" + key + "'",
                                       "one of the two", "leave one out"});
      }
    }
    set_shorthand(settings, *flag.shorthand, flag.values.front());
  }
  // A name that is not UTF-8 can be opened, but cannot be a setting.
  settings.set("trace", text::invalid_at(trace_file) == text::kAllValid ? trace_file : std::string(), "");
  // The command's trace replaces the input of files, with its parameters.
  Settings kept;
  for (const auto& [key, setting] : settings.all()) {
    if (!key.starts_with("workload:") || setting.where == "--set") {
      kept.set(key, setting.value, setting.where);
    }
  }
  kept.set("workload", std::string(), "");
  return kept;
}

const std::vector<std::string>& SettingsOptions::given_variants(const std::string& key) const {
  const auto is_flag = [&key](const Flag& flag) {
    return flag.parameter != nullptr && flag.parameter->declared.name == key;
  };
  return std::ranges::find_if(flags_, is_flag)->values;
}

std::vector<std::string> SettingsOptions::variants(const std::string& key, const Settings& base) const {
  std::vector<std::string> specs;
  for (const std::string& value : given_variants(key)) {
    Settings one = base;
    one.set(key, value, experiment::find_parameter(key)->flag);
    std::string spec = experiment::complete(one, experiment::NamedInput::Elsewhere).text(key);
    if (!has(specs, spec)) {
      specs.push_back(std::move(spec));
    }
  }
  return specs;
}

std::vector<std::pair<std::string, std::string>> SettingsOptions::given_keys() const {
  std::vector<std::pair<std::string, std::string>> given;
  for (const Flag& flag : flags_) {
    if (flag.option->count() == 0) {
      continue;
    }
    if (flag.parameter != nullptr) {
      given.emplace_back(flag.parameter->flag, flag.parameter->declared.name);
    } else {
      given.emplace_back(flag.shorthand->flag, flag.shorthand->keys.front());
    }
  }
  for (const std::string& assignment : assignments_) {
    given.emplace_back("--set", assignment.substr(0, assignment.find('=')));
  }
  return given;
}

bool SettingsOptions::reads(const ExperimentParameter& parameter, experiment::StageMask stages) const {
  const std::string& key = parameter.declared.name;
  return (experiment::is_read(parameter, stages) || has(taken_.also, key)) && !has(taken_.without, key);
}

Settings SettingsOptions::read_of(const Settings& settings, const experiment::Resolved* resolved,
                                  const std::string& stages) const {
  const experiment::StageMask mask = stages.empty() ? stages_ : experiment::stages_named(stages);
  const experiment::StageMask on = mask | conditional_of(mask, [&settings](const std::string& key) {
                                     return experiment::is_switched_on(settings, key);
                                   });
  Settings read =
      experiment::of_keys(settings, [&](const ExperimentParameter& parameter) { return reads(parameter, on); });
  if (resolved != nullptr) {
    read.set("warp_size", std::int64_t{resolved->warp_size}, "");
    read.set("order", resolved->order, "");
  }
  return read;
}

std::vector<NamedPath> SettingsOptions::inputs(const std::string& trace_file, const Settings& settings) const {
  std::vector<NamedPath> result = {{"the trace", trace_file}};
  for (const std::string& file : files_) {
    result.push_back({"--config", file});
  }
  for (const auto& [key, setting] : settings.all()) {
    const ExperimentParameter& parameter = *experiment::find_parameter(key);
    if (reads(parameter)) {
      for (const std::string& path : sweep::paths_in(key, setting.value)) {
        result.push_back({parameter.flag.empty() ? key : parameter.flag, path});
      }
    }
  }
  return result;
}

}  // namespace rayreplay::app
