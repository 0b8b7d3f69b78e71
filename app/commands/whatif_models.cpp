#include "app/commands/whatif_models.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/output/output_folder.hpp"
#include "app/pictures/heatmap.hpp"
#include "app/report/models_notes.hpp"
#include "app/report/models_report.hpp"
#include "app/report/models_table.hpp"
#include "app/report/models_timeline.hpp"
#include "app/report/schedule_file.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "base/parameters.hpp"
#include "sim/experiment/compare_options.hpp"
#include "sim/experiment/model_list.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint64_t kMaxCostBytes = 16U << 20U;
constexpr std::uint64_t kMaxImageBytes = 256U << 20U;
constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";
constexpr const char* kGroup = "Scheduler models";
constexpr std::string_view kReordering = "ser";

/// The resolved spec of the model that an option names; "": the last one that has warps at all.
std::string detailed_model(const std::string& asked, const char* option, const std::vector<std::string>& models) {
  const auto is_bound = [](const std::string& spec) {
    return scheduler::SchedulerModels::create(spec).model->grouping() == scheduler::Grouping::Bound;
  };
  if (asked.empty()) {
    return *std::find_if_not(models.rbegin(), models.rend(), is_bound);  // plain is there, and no bound
  }
  const std::string spec = scheduler::SchedulerModels::create(asked).spec;
  if (std::find(models.begin(), models.end(), spec) == models.end()) {
    throw Error(ErrorKind::Usage, {"the model is not among those compared", option, "'" + asked + "'",
                                   fmt::format("one of {}", fmt::join(models, " ")), "add it to --models"});
  }
  if (is_bound(spec)) {
    throw Error(ErrorKind::Usage,
                {"the model is a bound: it has no warps", option, "'" + asked + "'", "a model that forms warps", ""});
  }
  return spec;
}

std::vector<NamedPath> model_inputs(const experiment::ModelsConfiguration& configuration,
                                    const scheduler::HintSources& hints) {
  std::vector<NamedPath> inputs;
  if (configuration.machine.find('/') != std::string::npos || configuration.machine.ends_with(".toml")) {
    inputs.push_back({"--machine", configuration.machine});
  }
  for (const auto& [name, hint] : hints) {
    if (hint.origin == scheduler::HintOrigin::File) {
      inputs.push_back({"--hint-file", hint.text});
    }
  }
  return inputs;
}

void warn_of_warps(const trace::Trace& trace, const experiment::Resolved& resolved, const machine::Machine& machine) {
  if (resolved.warp_size != machine.warp_size) {
    console::log(
        fmt::format("rayreplay: warning: warps have {} here, on the machine {} {}{}",
                    counted(resolved.warp_size, "lane"), machine.name, machine.warp_size,
                    trace.header.warp_size == resolved.warp_size
                        ? fmt::format(": the trace's own; --warp-size {} --order z-order would form the machine's",
                                      machine.warp_size)
                        : std::string()));
  }
}

/// A user may ask what SER would bring where there is none, but should know it.
void note_missing_hardware(const std::vector<std::string>& models, const machine::Machine& machine) {
  const bool asked = std::any_of(models.begin(), models.end(),
                                 [](const std::string& spec) { return parse_spec(spec).name == kReordering; });
  if (asked && !machine.reorders) {
    console::log(
        fmt::format("rayreplay: note: {} has no shader execution reordering in hardware; it is modelled as if "
                    "it had, with the charges of machine and model",
                    machine.name));
  }
}

/// A hint acts through a model that names it; one that nobody names would seem to have been applied.
void note_unused_hints(const std::vector<std::string>& models, const scheduler::HintSources& hints) {
  for (const auto& [name, hint] : hints) {
    const bool used = std::any_of(models.begin(), models.end(), [name = name](const std::string& spec) {
      const auto settings = parse_spec(spec).settings;
      return std::find(settings.begin(), settings.end(), std::pair<std::string, std::string>{"hint", name}) !=
             settings.end();
    });
    if (!used) {
      console::log(fmt::format("rayreplay: warning: no model uses the hint '{}': name it, as in --models ser:hint={}",
                               name, name));
    }
  }
}

/// Options that say something about what was not asked for.
void require_owners(const ModelsOptions& options) {
  for (const auto& [option, owner, wrong] :
       {std::tuple{"--timeline-model", "--timeline", !options.timeline_model.empty() && options.timeline.empty()},
        std::tuple{"--schedule-model", "--schedule", !options.schedule_model.empty() && options.schedule.empty()}}) {
    if (wrong) {
      throw Error(ErrorKind::Usage, {"the option has nothing to act on", option, "",
                                     fmt::format("{} FILE beside it", owner), fmt::format("add {} FILE", owner)});
    }
  }
}

/// Users who recorded SMs expect them to be used.
void note_unused_sms(const experiment::CompareResult& result, const trace::Launch& launch) {
  for (const experiment::CompareRow& row : result.rows) {
    if (row.sm_source == scheduler::SmSource::StartRank && launch.groups.size() > 0) {
      console::log(fmt::format(
          "rayreplay: note: {}: not by the captured SMs but by the order in which warps start, modulo SMs: the capture "
          "lacks some warp's SM, or has SMs beyond the {} that shade on {}",
          report::short_spec(row.model), result.machine.sms - row.charges.withheld_sms, result.machine.name));
    }
  }
}

std::string render(const report::ModelsContext& models, output::Format format) {
  switch (format) {
    case output::Format::Json:
      return json_text(report::models_json(models), 2) + "\n";
    case output::Format::Csv:
      return report::models_csv(models);
    case output::Format::Table:
      break;
  }
  return report::models_text(models);
}

}  // namespace

std::string read_png(const std::string& path) {
  std::string bytes = read_file(path, kMaxImageBytes);
  if (!bytes.starts_with(kPngSignature)) {
    throw Error(ErrorKind::Input, {"the picture is not a PNG file", path, "", "the picture that was rendered", ""});
  }
  return bytes;
}

void ModelsOptions::add_to(CLI::App& command) {
  const auto add = [&command](const char* name, auto& value, const char* text, const char* type) {
    return command.add_option(name, value, text)->type_name(type)->group(kGroup);
  };
  add("--models", models_,
      "Compare scheduler models instead of packings: specs between commas, or all; may be repeated", "LIST")
      ->allow_extra_args(false);
  add("--machine", machine_, "Machine to estimate time on: a shipped one's name, or a TOML file [rtx4090]",
      "NAME|FILE");
  add("--hint", hints_, "Coherence hint that models may name: a formula over the pending call, may be repeated",
      "NAME:BITS=FORMULA")
      ->allow_extra_args(false);
  add("--hint-file", hint_files_, "Coherence hint from a file, flat uint32 by ray, may be repeated", "NAME:BITS=FILE")
      ->allow_extra_args(false);
  add("--shader-cost", shader_costs_, "Instructions of a call [and cycles it takes alone], by stage, name or id",
      "SHADER=N[:CYCLES],...")
      ->allow_extra_args(false);
  add("--shader-costs", shader_costs_file_, "The same from a TOML file with a table [shader_costs]", "FILE");
  add("--cost-source", cost_source_, "Costs of the other shaders: default, spirv or captured [default]", "NAME");
  add("--registers", registers_, "Registers of a thread: decides how many warps an SM holds [64]", "N");
  add("--start-packing", start_packing_, "How threads are packed when they start, for all models [identity]", "SPEC");
  add("--cycles-per-instruction", cycles_per_instruction_, "Latency where only instructions are known [6]", "X");
  add("--steps", steps_, "Steps of a ray through the acceleration structure [24]", "X");
  command
      .add_flag("--replay-steps", replay_steps_,
                "Count every ray's steps in a rebuilt structure instead (the trace needs geometry)")
      ->group(kGroup);
  command.add_flag("--no-break-even", no_break_even, "Do not solve for the shader cost from which a model pays")
      ->group(kGroup);
  add("--timeline", timeline, "Perfetto trace to write: SMs and warps over time", "FILE");
  add("--timeline-model", timeline_model, "Model to show there [the last one]", "SPEC");
  add("--schedule", schedule, "HDF5 file to write: which segments ran together, where and when", "FILE");
  add("--schedule-model", schedule_model, "Model to write there [the last one]", "SPEC");
}

void ModelsOptions::require_none() const {
  const std::vector<std::pair<const char*, bool>> given = {
      {"--machine", machine_.has_value()},
      {"--hint", !hints_.empty()},
      {"--hint-file", !hint_files_.empty()},
      {"--shader-cost", !shader_costs_.empty()},
      {"--shader-costs", !shader_costs_file_.empty()},
      {"--cost-source", cost_source_.has_value()},
      {"--registers", registers_.has_value()},
      {"--start-packing", start_packing_.has_value()},
      {"--cycles-per-instruction", cycles_per_instruction_.has_value()},
      {"--steps", steps_.has_value()},
      {"--replay-steps", replay_steps_},
      {"--no-break-even", no_break_even},
      {"--timeline", !timeline.empty()},
      {"--timeline-model", !timeline_model.empty()},
      {"--schedule", !schedule.empty()},
      {"--schedule-model", !schedule_model.empty()},
  };
  for (const auto& [option, is_given] : given) {
    if (is_given) {
      throw Error(ErrorKind::Usage, {"the option says nothing about packings", option, "", "--models beside it",
                                     "add --models, for example --models plain,ser"});
    }
  }
}

void ModelsOptions::apply_to(experiment::ModelsConfiguration& configuration) const {
  if (!models_.empty()) {
    configuration.models.clear();
    for (const std::string& list : models_) {
      const auto specs = experiment::split_model_list(list, scheduler::SchedulerModels::names());
      configuration.models.insert(configuration.models.end(), specs.begin(), specs.end());
    }
  }
  configuration.machine = machine_.value_or(configuration.machine);
  if (!hints_.empty()) {
    configuration.hints = hints_;
  }
  if (!hint_files_.empty()) {
    configuration.hint_files = hint_files_;
  }
  if (!shader_costs_file_.empty()) {
    configuration.shader_costs =
        machine::parse_shader_costs(read_file(shader_costs_file_, kMaxCostBytes), shader_costs_file_);
  }
  for (const std::string& list : shader_costs_) {
    const auto costs = experiment::parse_shader_cost_list(list);
    configuration.shader_costs.insert(configuration.shader_costs.end(), costs.begin(), costs.end());
  }
  if (steps_ && replay_steps_) {
    throw Error(ErrorKind::Usage, {"steps are either given or counted", "--steps, --replay-steps", "both",
                                   "one of the two", "leave one out"});
  }
  configuration.cost_source = cost_source_.value_or(configuration.cost_source);
  configuration.registers_per_thread = registers_.value_or(configuration.registers_per_thread);
  configuration.steps_per_ray = steps_.value_or(configuration.steps_per_ray);
  configuration.start_packing = start_packing_.value_or(configuration.start_packing);
  configuration.cycles_per_instruction = cycles_per_instruction_.value_or(configuration.cycles_per_instruction);
  configuration.replay_steps = replay_steps_ || configuration.replay_steps;
}

int compare_models(const WhatIfCommon& common, const ModelsOptions& options, experiment::Configuration configuration) {
  // Everything that can be wrong without the trace is found before it is read.
  const output::Format format = common.format.format();
  const pictures::Colormap colormap = pictures::parse_colormap(common.colormap);
  experiment::CompareOptions compare = experiment::compare_options(configuration.compared);
  const machine::Machine machine = machine::load_machine(compare.machine);
  require_owners(options);
  const std::string timeline_model = detailed_model(options.timeline_model, "--timeline-model", compare.models);
  const std::string schedule_model = detailed_model(options.schedule_model, "--schedule-model", compare.models);
  configuration.compared.start_packing = compare.start_packing;
  configuration.packings = {"identity"};
  configuration.swizzles.clear();
  std::vector<NamedPath> inputs = common.experiment.inputs(common.path, configuration);
  inputs.push_back({"--image", common.image});
  const std::vector<NamedPath> more = model_inputs(configuration.compared, compare.hints);
  inputs.insert(inputs.end(), more.begin(), more.end());
  require_distinct({{"--output", common.output.path},
                    {"--report", common.report},
                    {"--timeline", options.timeline},
                    {"--schedule", options.schedule}},
                   inputs);
  const bool force = common.output.force;
  common.output.check();
  for (const NamedPath& file : {NamedPath{"--timeline", options.timeline}, NamedPath{"--schedule", options.schedule}}) {
    if (!file.path.empty()) {
      require_file_name(file.path, file.option);
      OutputOption{file.path, force}.check();
    }
  }
  if (!common.report.empty()) {
    output::require_folder_writable(common.report, force, report::models_folder());
  }
  const std::string image = common.image.empty() ? std::string() : read_png(common.image);
  const std::unique_ptr<kernels::Accelerator> accelerator = common.device.open();
  compare.accelerator = accelerator.get();

  keep_freed_memory();
  const trace::Trace trace = load_trace(common.path);
  if (configuration.warp_size == 0 && trace.header.warp_size == 0) {
    configuration.warp_size = machine.warp_size;
  }
  const experiment::Resolved resolved = experiment::resolve(configuration, trace);
  const report::Context context{common.path, trace, resolved, {}, true, accelerator.get()};
  if (common.print_config) {
    common.output.write(report::models_toml(context, configuration.compared));
    return 0;
  }
  warn_of_warps(trace, resolved, machine);
  note_missing_hardware(compare.models, machine);
  note_unused_hints(compare.models, compare.hints);
  const trace::LaunchSize size = trace.launches[resolved.launch].size;
  if (!common.report.empty()) {
    pictures::require_drawable(size.width, size.height, common.path);
  }
  const std::unique_ptr<Progress> progress = console::make_progress();
  std::vector<report::SmMap> maps;
  compare.progress = progress.get();
  compare.break_even = !options.no_break_even;
  compare.response = !common.report.empty();
  if (!common.report.empty() || !options.timeline.empty() || !options.schedule.empty()) {
    compare.observe = [&](const experiment::CompareRow& row) {
      if (!common.report.empty()) {
        maps.push_back(report::make_sm_map(row, size));
      }
      if (!options.timeline.empty() && row.model == timeline_model) {
        report::write_timeline(options.timeline, force, row, machine, progress.get());
      }
      if (!options.schedule.empty() && row.model == schedule_model) {
        report::write_schedule(options.schedule, force, row, trace, resolved, machine, progress.get());
      }
    };
  }
  const experiment::CompareResult result = experiment::compare(trace, common.path, resolved, compare);

  log_not_captured(trace.header);
  note_unused_sms(result, trace.launches[resolved.launch]);
  if (const std::string note = report::few_warps_note(result); !note.empty()) {
    console::log("rayreplay: note: " + note);
  }
  const report::ModelsContext models{context, result, configuration.compared, compare.hints};
  if (!common.report.empty()) {
    report::write_models_report({common.report, force, image, colormap}, models, maps);
  }
  common.output.write(render(models, format));
  for (const auto& [what, path] : {std::pair{"timeline", options.timeline}, std::pair{"schedule", options.schedule},
                                   std::pair{"report", common.report.empty() ? "" : common.report + "/index.html"}}) {
    if (!path.empty()) {
      console::log(fmt::format("rayreplay: wrote the {} {}", what, path));
    }
  }
  return 0;
}

}  // namespace rayreplay::app
