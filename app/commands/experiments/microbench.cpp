// rayreplay microbench: checks the models against known answers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "base/output_file.hpp"
#include "capture/import/memory_trace.hpp"
#include "capture/trace/writer.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/machine/shader_names.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/metrics.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::app {
namespace {

using experiment::Settings;
using workloads::KnownAnswer;
using workloads::Workloads;

constexpr const char* kWorkload = "workload";
constexpr const char* kOutputs = "outputs";
/// Keys that the command sets itself.
constexpr std::array<std::string_view, 3> kOwnKeys = {"trace", kWorkload, kOutputs};
constexpr int kWrongAnswers = 1;  ///< exit code

struct MicrobenchArguments {
  std::vector<std::string> specs;
  std::vector<std::string> settings;
  std::string machine;
  bool list = false;
  std::string written;
  bool force = false;
  FormatOption format;
  DeviceOption device;
};

/// A known answer, with its experiment.
struct Question {
  std::string workload;  ///< resolved spec
  KnownAnswer known;
  Settings settings;        ///< complete
  bool is_changed = false;  ///< by --set, so that the answer is unknown
  std::string unasked{};    ///< why this workload is skipped under --set
};

enum class Verdict : std::uint8_t { Ok, Wrong, NotKnown, Skipped, Failed };

struct Answered {
  Verdict verdict = Verdict::Failed;
  double found = std::numeric_limits<double>::quiet_NaN();
  std::string error;
};

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok:
      return "ok";
    case Verdict::Wrong:
      return "wrong";
    case Verdict::NotKnown:
      return "not known";
    case Verdict::Skipped:
      return "skipped";
    case Verdict::Failed:
      break;
  }
  return "failed";
}

/// True if a key that affects `stage` has a non-default value.
bool differ(const Settings& one, const Settings& other, experiment::Stage stage) {
  const auto has_other = [stage](const Settings& first, const Settings& second) {
    return std::ranges::any_of(first.all(), [&](const auto& entry) {
      const auto& [key, setting] = entry;
      const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
      const experiment::StageMask read_by = parameter == nullptr ? 0 : parameter->read_by;
      return (experiment::with_dependents(read_by) & experiment::bit(stage)) != 0 &&
             (!second.has(key) || second.at(key) != setting.value);
    });
  };
  return has_other(one, other) || has_other(other, one);
}

void require_settable(const std::string& assignment) {
  const std::string key = assignment.substr(0, assignment.find('='));
  const std::string name = key.substr(0, key.find(':'));
  if (std::ranges::find(kOwnKeys, name) != kOwnKeys.end()) {
    throw Error(ErrorKind::Usage, {"microbench sets this key itself", "--set", "'" + key + "'", "a key of a model",
                                   "name workloads as arguments: rayreplay microbench divergence:degree=2"});
  }
  if (name == "stream.image_layout" || name == "stream.shader_accesses") {
    throw Error(
        ErrorKind::Usage,
        {"microbenchmarks have no accesses of shaders, so this key changes nothing", "--set", "'" + key + "'",
         "a key of a model", "capture an application with --profile memory, and give the key to rayreplay cache"});
  }
}

/// The machine of the experiments: the answers of workloads of warps are those on it.
machine::Machine machine_asked(const MicrobenchArguments& given) {
  Settings settings;
  settings.set(kWorkload, Workloads::names().front(), kWorkload);
  for (const std::string& assignment : given.settings) {
    if (assignment.starts_with("machine.")) {
      settings.set_text(assignment, "--set");
    }
  }
  return experiment::machine_of(complete(settings));
}

/// The settings of a known answer; of a workload of warps on the machine that is asked.
Settings known_settings(const std::string& workload, const KnownAnswer& known, workloads::WorkloadKind kind,
                        const MicrobenchArguments& given) {
  Settings settings;
  settings.set(kWorkload, workload, kWorkload);
  settings.set(kOutputs, experiment::find_metric(known.metric).output, kWorkload);
  for (const std::string& assignment : given.settings) {
    if (kind == workloads::WorkloadKind::Warps && assignment.starts_with("machine.")) {
      settings.set_text(assignment, "--set");
    }
  }
  for (const auto& [key, value] : known.settings) {
    settings.set(key, value, kWorkload);
  }
  return settings;
}

Question make_question(const std::string& workload, const KnownAnswer& known, workloads::WorkloadKind kind,
                       const MicrobenchArguments& given) {
  const std::string& output = experiment::find_metric(known.metric).output;
  Settings settings = known_settings(workload, known, kind, given);
  if (!known.unknown.empty()) {
    return {workload, known, std::move(settings), false, known.unknown};
  }
  const Settings as_known = complete(settings);
  if (given.settings.empty()) {
    return {workload, known, as_known, false};
  }
  for (const std::string& assignment : given.settings) {
    settings.set_text(assignment, "--set");
  }
  const Settings changed = complete(settings);
  return {workload, known, changed, differ(as_known, changed, experiment::stage(output))};
}

/// Specs of the command line, or every generator's examples; with --machine those whose answers are the machine's.
std::vector<std::string> chosen_specs(const MicrobenchArguments& given) {
  if (!given.specs.empty()) {
    return given.specs;
  }
  std::vector<std::string> specs;
  for (const std::string& name : Workloads::names()) {
    const auto model = Workloads::create(name).model;
    if (!given.machine.empty() && model->kind() != workloads::WorkloadKind::Warps) {
      continue;
    }
    const std::vector<std::string> examples = model->examples();
    specs.insert(specs.end(), examples.begin(), examples.end());
  }
  return specs;
}

std::vector<Question> make_questions(const MicrobenchArguments& given) {
  std::vector<Question> questions;
  const machine::Machine machine = machine_asked(given);
  for (const std::string& spec : chosen_specs(given)) {
    const Workloads::Created created = Workloads::create(spec);
    for (const KnownAnswer& known : created.model->answers(machine)) {
      questions.push_back(make_question(created.spec, known, created.model->kind(), given));
    }
  }
  return questions;
}

/// A shader that --set names: the key, the name, and the affected stages.
struct NamedShader {
  std::string key, name;
  experiment::StageMask read_by = 0;
};

std::vector<NamedShader> named_shaders(const MicrobenchArguments& given) {
  Settings settings;
  for (const std::string& assignment : given.settings) {
    settings.set_text(assignment, "--set");
  }
  std::vector<NamedShader> shaders;
  for (const auto& [key, setting] : settings.all()) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
    if (parameter != nullptr && parameter->is_open) {
      const std::size_t prefix = parameter->declared.name.size() - 1;  // "costs.*"
      shaders.push_back({key, key.substr(prefix), experiment::with_dependents(parameter->read_by)});
    }
  }
  return shaders;
}

/// A workload without a shader that --set names is skipped, because its experiment would fail. A shader that no
/// workload has is an error.
void leave_out_strangers(std::vector<Question>& questions, const MicrobenchArguments& given) {
  const std::vector<NamedShader> shaders = named_shaders(given);
  if (shaders.empty()) {
    return;
  }
  std::map<std::string, std::vector<trace::Shader>> by_workload;
  for (const Question& question : questions) {
    if (!by_workload.contains(question.workload)) {
      const auto model = Workloads::create(question.workload).model;
      by_workload[question.workload] =
          model->kind() == workloads::WorkloadKind::Rays ? model->make_trace().shaders : std::vector<trace::Shader>();
    }
  }
  std::vector<std::string> known;
  for (const auto& [workload, all] : by_workload) {
    for (const trace::Shader& shader : all) {
      known.insert(known.end(), {shader.name, trace::to_string(shader.stage)});
    }
  }
  for (const NamedShader& shader : shaders) {
    bool wanted = false, found = false;
    for (Question& question : questions) {
      const std::vector<trace::Shader>& all = by_workload[question.workload];
      const experiment::Stage stage = experiment::stage(experiment::find_metric(question.known.metric).output);
      if ((shader.read_by & experiment::bit(stage)) == 0 || !question.unasked.empty()) {
        continue;
      }
      wanted = true;
      bool has = false;
      for (std::size_t id = 0; id < all.size(); ++id) {
        has = has || machine::match_rank(shader.name, all[id], id) > 0;
      }
      found = found || has;
      if (!has) {
        question.unasked = fmt::format("it has no shader '{}'", shader.name);
      }
    }
    if (wanted && !found) {
      const std::string near = nearest(shader.name, known);
      throw Error(ErrorKind::Usage,
                  {"none of the workloads has this shader", "--set " + shader.key, "'" + shader.name + "'",
                   "a shader's name, stage or id", near.empty() ? "" : "did you mean '" + near + "'?"});
    }
  }
}

/// "divergence:degree=4": only non-default parameters.
std::string short_spec(const std::string& resolved) {
  const ModelSpec spec = parse_spec(resolved);
  std::string text = spec.name;
  for (const Parameter& parameter : Workloads::describe(spec.name).parameters) {
    for (const auto& [key, value] : spec.settings) {
      if (key == parameter.name && value != to_text(parameter.default_value)) {
        text.append(text == spec.name ? ":" : ",").append(key).append("=").append(value);
      }
    }
  }
  return text;
}

/// The error of settings with which the experiment cannot begin; empty: it can.
std::optional<Error> refusal_of(experiment::Evaluator& evaluator, const Settings& complete) {
  try {
    evaluator.check(complete);
    return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) {
      throw;
    }
    return error;
  }
}

/// The first error of experiments that cannot begin, if they are most of those that the settings given affect. It says
/// how many they are.
std::optional<Error> refusal_of_most(experiment::Evaluator& evaluator, const std::vector<Question>& questions) {
  std::optional<Error> first;
  std::string first_workload;
  std::size_t affected = 0, refused = 0;
  for (const Question& question : questions) {
    if (!question.unasked.empty()) {
      continue;
    }
    std::optional<Error> refusal = refusal_of(evaluator, question.settings);
    affected += question.is_changed || refusal ? 1U : 0U;
    refused += refusal ? 1U : 0U;
    if (refusal && !first) {
      first = std::move(refusal);
      first_workload = short_spec(question.workload);
    }
  }
  if (2 * refused <= affected) {
    return std::nullopt;
  }
  ErrorInfo info = first->info();
  if (refused > 1) {
    info.found += fmt::format("; of {} that the settings affect {} cannot begin, the first of {}",
                              counted(affected, "experiment"), refused, first_workload);
  }
  return Error(first->kind(), info);
}

/// Throws before any experiment begins: where the machine contradicts itself, which would fail each workload of warps,
/// and where most of the experiments that the settings affect cannot begin, which would be as many rows with one error.
/// Fewer experiments that fail are rows beside the others.
void require_experiments(experiment::Evaluator& evaluator, const std::vector<Question>& questions,
                         const MicrobenchArguments& given) {
  const auto of_warps = std::ranges::find_if(questions, [](const Question& question) {
    return question.unasked.empty() &&
           Workloads::create(question.workload).model->kind() == workloads::WorkloadKind::Warps;
  });
  if (of_warps != questions.end()) {
    evaluator.check(
        complete(known_settings(of_warps->workload, of_warps->known, workloads::WorkloadKind::Warps, given)));
  }
  if (const std::optional<Error> error = refusal_of_most(evaluator, questions)) {
    throw *error;
  }
}

Answered judge(const Question& question, const experiment::Outcome& outcome) {
  if (outcome.failure) {
    return {Verdict::Failed, std::numeric_limits<double>::quiet_NaN(), format_error(outcome.failure->info)};
  }
  const auto metric = std::ranges::find(outcome.metrics, question.known.metric, &std::pair<std::string, double>::first);
  if (metric == outcome.metrics.end()) {
    return {Verdict::Failed, std::numeric_limits<double>::quiet_NaN(), "the experiment has no such metric"};
  }
  if (question.is_changed) {
    return {Verdict::NotKnown, metric->second, ""};
  }
  return {agrees(question.known, metric->second) ? Verdict::Ok : Verdict::Wrong, metric->second, ""};
}

/// True if an experiment without the key gets this value by default.
bool is_default(const std::string& key, const std::string& value) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  return parameter != nullptr && parameter->inherits.empty() && to_text(parameter->declared.default_value) == value;
}

std::string settings_text(const KnownAnswer& known) {
  std::string text;
  for (const auto& [key, value] : known.settings) {
    if (is_default(key, value)) {
      continue;
    }
    text.append(text.empty() ? "" : " ").append(key).append("=").append(value);
  }
  return text;
}

output::Table make_table(const std::vector<Question>& questions, const std::vector<Answered>& answers) {
  constexpr int kDecimals = 6;
  output::Table table;
  table.columns = {{"workload", "workload"},
                   {"metric", "metric"},
                   {"relation", "is"},
                   {"expected", "expected", output::Show::Plain, kDecimals},
                   {"tolerance", "tolerance", output::Show::Plain, kDecimals},
                   {"found", "found", output::Show::Plain, kDecimals},
                   {"verdict", "verdict"},
                   {"settings", "under"},
                   {"because", "because", output::Show::Plain, 0, true},
                   {"spec", "spec", output::Show::Plain, 0, true},
                   {"error", "error", output::Show::Plain, 0, true}};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const KnownAnswer& known = questions[i].known;
    const Answered& answer = answers[i];
    // The known answer holds under other settings, so it is not shown beside the result.
    const bool shown = answer.verdict != Verdict::NotKnown && answer.verdict != Verdict::Skipped;
    table.rows.push_back(
        {short_spec(questions[i].workload), known.metric,
         std::string(known.relation == workloads::Relation::AtMost ? "at most" : "equal"),
         shown ? output::Cell(known.value) : output::Cell(), shown ? output::Cell(known.tolerance) : output::Cell(),
         std::isnan(answer.found) ? output::Cell() : output::Cell(answer.found), std::string(to_string(answer.verdict)),
         settings_text(known), known.because, questions[i].workload, answer.error});
  }
  return table;
}

std::string render(const output::Table& table, const std::string& device, const MicrobenchArguments& given) {
  const auto document = [&] {
    return nlohmann::ordered_json{{"schema", "rayreplay.microbench/1"},
                                  {"tool", {{"name", "rayreplay"}, {"version", RAYREPLAY_VERSION}}},
                                  {"device", device},
                                  {"set", given.settings},
                                  {"rows", to_json(table)}};
  };
  return output::render({[&] { return output::to_text(table); }, [&] { return table; }, document},
                        given.format.format());
}

const char* to_string(workloads::WorkloadKind kind) {
  return kind == workloads::WorkloadKind::Rays ? "rays" : kind == workloads::WorkloadKind::Memory ? "memory" : "warps";
}

output::Table list_table(const MicrobenchArguments& given) {
  const machine::Machine machine = machine_asked(given);
  output::Table table;
  table.columns = {{"name", "name"},
                   {"kind", "kind"},
                   {"summary", "summary"},
                   {"metrics", "known metrics"},
                   {"examples", "examples", output::Show::Plain, 0, true}};
  for (const std::string& name : Workloads::names()) {
    const auto model = Workloads::create(name).model;
    std::vector<std::string> metrics;
    for (const std::string& spec : model->examples()) {
      for (const KnownAnswer& known : Workloads::create(spec).model->answers(machine)) {
        if (std::ranges::find(metrics, known.metric) == metrics.end()) {
          metrics.push_back(known.metric);
        }
      }
    }
    table.rows.push_back({name, std::string(to_string(model->kind())), Workloads::describe(name).summary,
                          fmt::format("{}", fmt::join(metrics, ", ")),
                          fmt::format("{}", fmt::join(model->examples(), " "))});
  }
  return table;
}

/// Writes the workload as a file for other commands.
int write_workload(const MicrobenchArguments& given) {
  if (given.specs.size() != 1) {
    throw Error(ErrorKind::Usage,
                {"a file holds one workload", "--output", fmt::format("{} workloads", given.specs.size()), "one",
                 "name one: rayreplay microbench divergence:degree=2 -o t.rrt"});
  }
  if (!given.settings.empty()) {
    throw Error(ErrorKind::Usage, {"a workload's file does not contain settings", "--set and --output", "both",
                                   "one of them", "give the settings to the command that reads the file"});
  }
  require_file_name(given.written, "--output");
  require_writable(given.written, given.force);
  const Workloads::Created created = Workloads::create(given.specs.front());
  if (created.model->kind() == workloads::WorkloadKind::Warps) {
    throw Error(ErrorKind::Usage,
                {"no file holds warps and their work", "--output", "'" + created.spec + "'",
                 "a workload of rays or of memory instructions",
                 "use it as an experiment's workload, rayreplay sweep with workload = \"" + created.spec + "\""});
  }
  if (created.model->kind() == workloads::WorkloadKind::Memory) {
    const workloads::MemoryWorkload made = created.model->make_memory();
    const auto writer = import::create_memory_trace(given.written, import::TraceForm::Binary, given.force, made.header);
    writer->append(made.records);
    writer->commit();
  } else {
    trace::WriteOptions options;
    options.overwrite = given.force;
    static_cast<void>(trace::write(created.model->make_trace(), given.written, options));
  }
  console::tell("wrote {} to {}", created.spec, given.written);
  return 0;
}

void log_verdicts(const std::vector<Question>& questions, const std::vector<Answered>& answers) {
  const auto count = [&answers](Verdict verdict) { return std::ranges::count(answers, verdict, &Answered::verdict); };
  std::string text = fmt::format("rayreplay: {} of {} answers as known", count(Verdict::Ok), answers.size());
  for (const Verdict verdict : {Verdict::Wrong, Verdict::NotKnown, Verdict::Skipped, Verdict::Failed}) {
    if (count(verdict) > 0) {
      text += fmt::format(", {} {}", count(verdict), to_string(verdict));
    }
  }
  console::log(text);
  const auto first = std::ranges::find(answers, Verdict::Failed, &Answered::verdict);
  if (first != answers.end()) {
    const Question& question = questions[static_cast<std::size_t>(first - answers.begin())];
    console::tell("{}, {}: {}", short_spec(question.workload), question.known.metric, first->error);
  }
  if (const auto failed = count(Verdict::Failed); failed > 1) {
    console::tell("{} failed, so the exit code is {}; --format json has the error of each",
                  counted(static_cast<std::size_t>(failed) - 1, "more experiment"), kWrongAnswers);
  }
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].verdict == Verdict::Skipped) {
      std::string reason = fmt::format("{}: skipped, {}", short_spec(questions[i].workload), answers[i].error);
      if (std::ranges::find(reasons, reason) == reasons.end()) {
        reasons.push_back(std::move(reason));
        console::tell("{}", reasons.back());
      }
    }
  }
}

int act(const MicrobenchArguments& asked) {
  MicrobenchArguments given = asked;
  if (!given.machine.empty()) {
    given.settings.push_back(std::string(experiment::kMachineName) + "=" + given.machine);
  }
  static_cast<void>(given.format.format());
  if (given.list) {
    console::print(output::render(list_table(given), given.format.format()));
    return 0;
  }
  if (!given.written.empty()) {
    return write_workload(given);
  }
  for (const std::string& assignment : given.settings) {
    require_settable(assignment);
  }
  keep_freed_memory();
  std::vector<Question> questions = make_questions(given);
  leave_out_strangers(questions, given);
  std::vector<Settings> configurations;
  for (const Question& question : questions) {
    if (question.unasked.empty()) {
      configurations.push_back(question.settings);
    }
  }
  experiment::Evaluator evaluator({});
  require_experiments(evaluator, questions, given);
  const std::unique_ptr<Accelerator> accelerator = given.device.open();
  const std::unique_ptr<Progress> progress = console::make_progress();
  const std::vector<experiment::Outcome> outcomes =
      evaluator.evaluate(configurations, accelerator.get(), progress.get());
  std::vector<Answered> answers;
  answers.reserve(questions.size());
  auto next = outcomes.begin();
  for (const Question& question : questions) {
    answers.push_back(question.unasked.empty()
                          ? judge(question, *next++)
                          : Answered{Verdict::Skipped, std::numeric_limits<double>::quiet_NaN(), question.unasked});
  }
  std::vector<std::string> devices;
  for (const experiment::Outcome& outcome : outcomes) {
    if (!outcome.device.empty() && std::ranges::find(devices, outcome.device) == devices.end()) {
      devices.push_back(outcome.device);
    }
  }
  console::print(render(make_table(questions, answers), fmt::format("{}", fmt::join(devices, "; ")), given));
  log_verdicts(questions, answers);
  const bool good = std::ranges::none_of(answers, [](const Answered& answer) {
    return answer.verdict == Verdict::Wrong || answer.verdict == Verdict::Failed;
  });
  return good ? 0 : kWrongAnswers;
}

void declare(CLI::App& command, MicrobenchArguments& options) {
  command
      .add_option("workload", options.specs,
                  "Workloads [every generator at a few points; with --machine those of memory time]")
      ->type_name("SPEC");
  command.add_option("--set", options.settings, "Change a key of the experiments, may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--machine", options.machine, "Check memory time on this machine: a shipped one's name, or a file")
      ->type_name("NAME");
  command.add_flag("--list", options.list, "List the generators and what is known of them");
  options.device.add_to(command);
  options.format.add_to(command);
  add_plain(command, "-o,--output", options.written, "FILE",
            "Write the workload itself, for other commands: a trace (.rrt) or a memory trace (.rrm)", "Output");
  add_force(command, options.force);
}

}  // namespace

void add_microbench_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"microbench", "Experiments", "Check the models against synthetic workloads with known answers"}, declare,
              act);
}

}  // namespace rayreplay::app
