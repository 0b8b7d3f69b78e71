// rayreplay advise: the coherence hints that raise SIMT efficiency most.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/opened_trace.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/console.hpp"
#include "app/report/context/context.hpp"
#include "app/report/models/advise_table.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "sim/engine/shader_accesses.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/advice.hpp"
#include "sim/machine/machine.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint32_t kMaxCandidates = 100'000;
constexpr std::size_t kRowsOfText = 20;

struct AdviseArguments {
  std::string path;
  double transaction_cycles = experiment::kTransactionCycles;
  CLI::Option* transaction_cycles_given = nullptr;
  experiment::AdviseOptions advise;
  SettingsOptions experiment;
  DeviceOption device;
  ResultOption output;
};

constexpr const char* kModel = "scheduler.model";
/// Facts about the machine for a model whose scope is an SM.
constexpr std::array kMachineKeys = {experiment::kMachineName, "machine.sms", "machine.resident_warps",
                                     "machine.withheld_sms"};

/// The requested model as a spec. A default `hint` is left out, because the advisor chooses the hint.
std::string asked_model(const experiment::Settings& asked) {
  ModelSpec spec = parse_spec(asked.text(kModel));
  const std::string prefix = std::string(kModel) + ":";
  for (const auto& [key, setting] : asked.all()) {
    if (key.starts_with(prefix)) {
      spec.settings.emplace_back(key.substr(prefix.size()), to_text(setting.value));
    }
  }
  for (const Parameter& parameter : scheduler::SchedulerModels::describe(spec.name).parameters) {
    if (parameter.name == "hint") {
      std::erase(spec.settings, std::pair{parameter.name, to_text(parameter.default_value)});
    }
  }
  std::string text = spec.name;
  for (const auto& [name, value] : spec.settings) {
    text += fmt::format("{}{}={}", text.size() == spec.name.size() ? ":" : ",", name, value);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> context_of(const experiment::AdviseResult& result) {
  std::vector<std::pair<std::string, std::string>> context = {{"model", result.model},
                                                              {"bits", std::to_string(result.bits)},
                                                              {"weights", result.weights()},
                                                              {"evaluated", std::to_string(result.evaluated)},
                                                              {"rejected", std::to_string(result.rejected)}};
  if (result.by_address) {
    context.emplace_back("score", report::score_text(result));
  }
  return context;
}

int act(const AdviseArguments& given) {
  const experiment::Settings asked = given.experiment.asked(given.path);
  const experiment::Settings settings = experiment::complete(asked, experiment::NamedInput::Elsewhere);
  experiment::AdviseOptions options = given.advise;
  options.model = asked_model(asked);
  static_cast<void>(experiment::hints_of(settings));
  require_distinct({{"--output", given.output.path}}, given.experiment.inputs(given.path, settings));
  given.output.check();
  const std::unique_ptr<Accelerator> accelerator = given.device.open();
  if (std::ranges::any_of(kMachineKeys, [&asked](const char* key) { return asked.has(key); })) {
    const machine::Machine chosen = experiment::machine_of(settings);
    options.machine = machine::facts(chosen, chosen.resident_warps);
  }

  keep_freed_memory();
  OpenedTrace opened(given.path, settings, accelerator.get());
  const trace::Trace& trace = opened.trace();
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, true);
  experiment::Workbench bench = opened.bench();
  const experiment::Experiment chosen = opened.open();
  const std::vector<std::string> notes = experiment::shader_access_notes(chosen);
  const experiment::AdviseResult result = experiment::advise_hints(
      bench, chosen, options,
      given.transaction_cycles_given->count() > 0 ? std::optional(given.transaction_cycles) : std::nullopt);
  log_not_captured(trace.header);
  console::tell("{} in {:.1f} s", counted(result.evaluated + result.rejected, "candidate"), result.seconds);
  const experiment::Settings told = given.experiment.read_of(settings, &resolved);
  const report::Context context{given.path, trace, resolved, context_of(result), true, accelerator.get(), &told};
  given.output.write_result({[&] {
                               std::string lines;
                               for (const std::string& note : notes) {
                                 lines += fmt::format("{:<9}{}\n", "shaders", note);
                               }
                               return report::context_text(context) + lines + report::advise_answer(result) + "\n" +
                                      output::to_text(report::advise_table(result, kRowsOfText)) +
                                      report::advise_notes(result);
                             },
                             [&] { return report::with_context(report::advise_table(result, 0), context); },
                             [&] {
                               nlohmann::ordered_json document = report::context_json(context, "rayreplay.advise/1");
                               document["configuration"]["shader_notes"] = notes;
                               document["address_costs"] = report::score_json(result);
                               document["verdict"] = report::advise_verdict(result);
                               document["rows"] = to_json(report::advise_table(result, 0));
                               return document;
                             }});
  return 0;
}

void declare(CLI::App& command, AdviseArguments& options) {
  add_trace_file(command, options.path)->required();
  constexpr const char* kSearch = "Search";
  add_value(command, "--bits", options.advise.bits, "N", "Most bits of a hint", kSearch)
      ->check(CLI::Range(1U, scheduler::kMaxHintBits));
  add_value(command, "--candidates", options.advise.candidates, "N",
            "Maximum number of formulas to try, without your own", kSearch)
      ->check(CLI::Range(0U, kMaxCandidates));
  options.transaction_cycles_given =
      add_value(command, "--transaction-cycles", options.transaction_cycles, "CYCLES",
                "What a transaction of a shader's access costs an SM, beside issue slots, in the score of hints",
                kSearch)
          ->check(CLI::Range(0.0, experiment::kMostTransactionCycles));
  TakenKeys taken{"advice"};
  taken.defaults = {{kModel, options.advise.model}};
  options.experiment.add_to(command, std::move(taken));
  options.device.add_to(command);
  options.output.add_to(command);
}

}  // namespace

void add_advise_command(CLI::App& root, Session& session) {
  add_command(root, session, {"advise", "Experiments", "Which coherence hint would raise SIMT efficiency most?"},
              declare, act);
}

}  // namespace rayreplay::app
