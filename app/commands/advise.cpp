// rayreplay advise: which coherence hint would raise SIMT efficiency most?
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/device_option.hpp"
#include "app/commands/options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/report/advise_table.hpp"
#include "app/report/context.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "sim/experiment/advise.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint32_t kMostCandidates = 100'000;
constexpr std::size_t kRowsOfText = 20;

struct Options {
  std::string path;
  experiment::AdviseOptions advise;
  std::vector<std::string> hints;
  std::vector<std::string> hint_files;
  std::string machine;
  ExperimentOptions experiment;
  DeviceOption device;
  FormatOption format;
  OutputOption output;
};

void add_hint(std::pair<std::string, scheduler::HintSource> hint, scheduler::HintSources& hints) {
  if (!hints.emplace(hint.first, std::move(hint.second)).second) {
    throw Error(ErrorKind::Usage, {"two hints have one name", "--hint", "'" + hint.first + "'", "", "rename one"});
  }
}

std::vector<std::pair<std::string, std::string>> context_of(const experiment::AdviseResult& result) {
  return {{"model", result.model},
          {"bits", std::to_string(result.bits)},
          {"evaluated", std::to_string(result.evaluated)},
          {"rejected", std::to_string(result.rejected)}};
}

int act(const Options& given) {
  const output::Format format = given.format.format();
  const experiment::Configuration configuration = given.experiment.configuration();
  experiment::AdviseOptions options = given.advise;
  std::vector<NamedPath> inputs = given.experiment.inputs(given.path, configuration);
  for (const std::string& text : configuration.compared.hints) {
    add_hint(scheduler::parse_hint(text), options.hints);
  }
  for (const std::string& text : given.hints) {
    add_hint(scheduler::parse_hint(text), options.hints);
  }
  std::vector<std::string> hint_files = configuration.compared.hint_files;
  hint_files.insert(hint_files.end(), given.hint_files.begin(), given.hint_files.end());
  for (const std::string& text : hint_files) {
    auto hint = scheduler::parse_hint_file(text);
    inputs.push_back({"--hint-file", hint.second.text});
    add_hint(std::move(hint), options.hints);
  }
  require_distinct({{"--output", given.output.path}}, inputs);
  given.output.check();
  const std::unique_ptr<kernels::Accelerator> accelerator = given.device.open();
  options.accelerator = accelerator.get();
  if (!given.machine.empty()) {
    const machine::Machine chosen = machine::load_machine(given.machine);
    options.machine = machine::facts(chosen, chosen.resident_warps);
  }

  keep_freed_memory();
  const trace::Trace trace = load_trace(given.path);
  const experiment::Resolved resolved = experiment::resolve(configuration, trace);
  const std::unique_ptr<Progress> progress = console::make_progress();
  options.progress = progress.get();
  const experiment::AdviseResult result = experiment::advise(trace, resolved, options);
  log_not_captured(trace.header);
  console::log(fmt::format("rayreplay: {} in {:.1f} s", counted(result.evaluated + result.rejected, "candidate"),
                           result.seconds));
  const report::Context context{given.path, trace, resolved, context_of(result), true, accelerator.get()};
  switch (format) {
    case output::Format::Table:
      given.output.write(report::context_text(context) + "\n" +
                         output::to_text(report::advise_table(result, kRowsOfText)) + report::advise_notes(result));
      break;
    case output::Format::Csv:
      given.output.write(output::to_csv(report::with_context(report::advise_table(result, 0), context)));
      break;
    case output::Format::Json: {
      nlohmann::ordered_json document = report::context_json(context, "rayreplay.advise/1");
      document["rows"] = to_json(report::advise_table(result, 0));
      given.output.write(json_text(document, 2) + "\n");
      break;
    }
  }
  return 0;
}

}  // namespace

void add_advise_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("advise", "Which coherence hint would raise SIMT efficiency most?");
  command->group("Experiments");
  auto options = std::make_shared<Options>();
  add_trace_file(*command, options->path)->required();
  constexpr const char* kSearch = "Search";
  command->add_option("--bits", options->advise.bits, "Most bits of a hint")
      ->type_name("N")
      ->check(CLI::Range(1U, scheduler::kMostHintBits))
      ->capture_default_str()
      ->group(kSearch);
  command->add_option("--candidates", options->advise.candidates, "Most formulas to try, your own aside")
      ->type_name("N")
      ->check(CLI::Range(0U, kMostCandidates))
      ->capture_default_str()
      ->group(kSearch);
  command->add_option("--model", options->advise.model, "Scheduler model that sorts by hints")
      ->type_name("SPEC")
      ->capture_default_str()
      ->group(kSearch);
  command->add_option("--machine", options->machine, "Machine, for models whose scope is an SM [one SM]")
      ->type_name("NAME|FILE")
      ->group(kSearch);
  command->add_option("--hint", options->hints, "A hint of your own, as material:4=material%16; may be repeated")
      ->type_name("NAME:BITS=FORMULA")
      ->allow_extra_args(false)
      ->group(kSearch);
  command->add_option("--hint-file", options->hint_files, "The same, one number per ray from a file; may be repeated")
      ->type_name("NAME:BITS=FILE")
      ->allow_extra_args(false)
      ->group(kSearch);
  options->experiment.add_placement_to(*command);
  options->experiment.add_replay_to(*command);
  options->device.add_to(*command);
  options->format.add_to(*command);
  options->output.add_to(*command, "Where to write the result; - is standard output");
  command->callback([&session, options] { session.action = [options] { return act(*options); }; });
}

}  // namespace rayreplay::app
