// rayreplay completion: completes commands, options, keys of experiments and names of models in bash, and in zsh after
// bashcompinit. The words come from the declared commands, the table of keys and the registries.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/command.hpp"
#include "app/console/console.hpp"
#include "base/registry.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/settings/parameter_table.hpp"

namespace rayreplay::app {
namespace {

/// The part of the script that does not depend on the words. bash splits words at `=` and `:`, so the function reads
/// the line itself, and removes from the results what stands before the last `=` or `:`.
constexpr const char* kFunction = R"(_rayreplay() {
  local line=${COMP_LINE:0:COMP_POINT} command=rayreplay previous= word list= key
  local token=${line##*[[:space:]]}
  local -a given
  read -ra given <<< "${line%"$token"}"
  for word in "${given[@]:1}"; do
    if [[ -n ${_rayreplay_options["$command $word"]+set} ]]; then command="$command $word"; fi
    previous=$word
  done
  if [[ $previous == --set && $token == *=* ]]; then
    key=${token%%=*}
    list=$(printf "$key=%s " ${_rayreplay_values[$key]})
  elif [[ $previous == --set ]]; then
    list=$(printf '%s= ' "${!_rayreplay_values[@]}")
  elif [[ $previous == -* && -n ${_rayreplay_flags[$previous]} ]]; then
    list=${_rayreplay_values[${_rayreplay_flags[$previous]}]}
  elif [[ $previous == --format ]]; then
    list='table json csv'
  elif [[ $previous == --residual ]]; then
    list='ratio difference'
  elif [[ $previous == --fit ]]; then
    for key in "${!_rayreplay_values[@]}"; do
      if [[ $key == machine.* && -z ${_rayreplay_values[$key]} ]]; then list+=" $key"; fi
    done
  elif [[ $token == -* ]]; then
    list="${_rayreplay_options[$command]} ${_rayreplay_options[rayreplay]}"
  elif [[ $token == */* ]]; then
    list=
  else
    list=${_rayreplay_words[$command]}
  fi
  COMPREPLY=($(compgen -W "$list" -- "$token"))
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2> /dev/null; fi
  COMPREPLY=("${COMPREPLY[@]#"${token%"${token##*[=:]}"}"}")
}
complete -o bashdefault -o default -F _rayreplay rayreplay
)";

using Words = std::vector<std::string>;
using WordTable = std::map<std::string, Words>;

Words models_of(const std::string& kind) {
  Words names;
  for (const ModelDescription& model : all_models()) {
    if (kind.empty() || model.kind == kind) {
      names.push_back(model.name);
    }
  }
  if (kind.empty() || kind == "machine") {
    std::ranges::copy(machine::shipped_machines(), std::back_inserter(names));
  }
  return names;
}

/// Options and subcommands of `app` and of all below it, by "rayreplay results best".
void add_words(const CLI::App& app, const std::string& path, WordTable& options, WordTable& words) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      options[path].push_back("--" + name);
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    words[path].push_back(below->get_name());
    add_words(*below, path + " " + below->get_name(), options, words);
  }
}

/// Values that a key can have, where they are names.
Words values_of(const experiment::ExperimentParameter& parameter) {
  if (parameter.declared.name == "machine.name") {
    return models_of("machine");
  }
  if (!parameter.model_kind.empty()) {
    return models_of(parameter.model_kind);
  }
  return parameter.is_switch() ? Words{"true", "false"} : parameter.declared.choices;
}

/// An associative array of bash. No word holds a quote or a space.
std::string array(const std::string& name, const WordTable& table) {
  std::string text = fmt::format("declare -gA _rayreplay_{}=(\n", name);
  for (const auto& [key, words] : table) {
    text += fmt::format("  ['{}']='{}'\n", key, fmt::join(words, " "));
  }
  return text + ")\n";
}

std::string script(const CLI::App& root) {
  WordTable options;
  WordTable words;
  WordTable values;
  WordTable flags;
  add_words(root, "rayreplay", options, words);
  words["rayreplay describe"] = models_of("");
  for (const ModelDescription& model : all_models()) {
    std::string kind = model.kind;
    std::ranges::replace(kind, ' ', '-');
    if (std::ranges::find(words["rayreplay list"], kind) == words["rayreplay list"].end()) {
      words["rayreplay list"].push_back(kind);
    }
  }
  words["rayreplay list"].insert(words["rayreplay list"].end(), {"machine", "keys", "metrics"});
  words["rayreplay completion"] = {"bash"};
  for (const experiment::ExperimentParameter& parameter : experiment::experiment_parameters()) {
    if (!parameter.is_open) {
      values[parameter.declared.name] = values_of(parameter);
      if (!parameter.flag.empty()) {
        flags[parameter.flag] = {parameter.declared.name};
      }
    }
  }
  for (const experiment::Metric& metric : experiment::all_metrics()) {
    if (Words& outputs = values["outputs"]; std::ranges::find(outputs, metric.output) == outputs.end()) {
      outputs.push_back(metric.output);
    }
  }
  return array("options", options) + array("words", words) + array("values", values) + array("flags", flags) +
         kFunction;
}

}  // namespace

void add_completion_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("completion", "Print a shell's completion script: source <(…)");
  command->group("Models");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash; zsh reads it after bashcompinit")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  command->callback([&root, &session] {
    session.action = [&root] {
      console::print(script(root));
      return 0;
    };
  });
}

}  // namespace rayreplay::app
