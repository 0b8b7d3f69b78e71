#include "app/commands/experiments/whatif_models.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/options/opened_trace.hpp"
#include "app/console/console.hpp"
#include "app/report/charts/heatmap.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/models/models_notes.hpp"
#include "app/report/models/models_report.hpp"
#include "app/report/models/models_table.hpp"
#include "app/report/models/models_timeline.hpp"
#include "app/report/models/schedule_file.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "sim/comparison/model_list.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/model.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint64_t kMaxImageBytes = 256U << 20U;
constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";
constexpr const char* kModelsGroup = "Scheduler models";
constexpr std::string_view kReordering = "ser";
constexpr std::uint32_t kAnySms = std::numeric_limits<std::uint32_t>::max();  // more than a model can withhold

void warn_of_warps(const trace::Trace& trace, const experiment::Resolved& resolved, const machine::Machine& machine) {
  if (resolved.warp_size != machine.warp_size) {
    console::warn("warps have {} here, on the machine {} {}{}", counted(resolved.warp_size, "lane"), machine.name,
                  machine.warp_size,
                  trace.header.warp_size == resolved.warp_size
                      ? fmt::format(": the trace's own; --warp-size {} --order z-order would form the machine's",
                                    machine.warp_size)
                      : std::string());
  }
}

/// SER on hardware without it is a legitimate question, but deserves a note.
void note_missing_hardware(const std::vector<std::string>& models, const machine::Machine& machine) {
  const bool asked = std::any_of(models.begin(), models.end(),
                                 [](const std::string& spec) { return parse_spec(spec).name == kReordering; });
  if (asked && !machine.reorders) {
    console::note(
        "{} has no shader execution reordering in hardware; it is modelled as if "
        "it had, with the charges of machine and model",
        machine.name);
  }
}

/// The models' SMs that shade are fewer than --sms suggests.
void note_cut_withheld(const std::vector<std::string>& models, const experiment::Settings& settings) {
  const std::optional<std::uint32_t> own = experiment::cut_withheld(settings);
  const bool read = std::ranges::any_of(models, [](const std::string& spec) {
    const auto created = scheduler::SchedulerModels::create(spec);
    return created.model->charges({.sms = kAnySms, .withheld_sms = 1}).withheld_sms !=
           created.model->charges({.sms = kAnySms, .withheld_sms = 0}).withheld_sms;
  });
  if (own && read) {
    const std::int64_t sms = settings.integer("machine.sms");
    console::note("{} withholds {} while it reorders: cut to {}, since the machine has {}",
                  settings.text("machine.name"), counted(*own, "SM"), sms - 1,
                  counted(static_cast<std::uint64_t>(sms), "SM"));
  }
}

/// A hint has an effect only through a model that names it; an unnamed one would appear to be applied.
void note_unused_hints(const std::vector<std::string>& models, const scheduler::HintSources& hints) {
  for (const auto& [name, hint] : hints) {
    const bool used = std::any_of(models.begin(), models.end(), [name = name](const std::string& spec) {
      const auto settings = parse_spec(spec).settings;
      return std::find(settings.begin(), settings.end(), std::pair<std::string, std::string>{"hint", name}) !=
             settings.end();
    });
    if (!used) {
      console::warn("no model uses the hint '{}': name it, as in --models ser:hint={}", name, name);
    }
  }
}

/// Users who recorded SMs expect these to be used.
void note_unused_sms(const experiment::CompareResult& result, const trace::Launch& launch) {
  for (const experiment::CompareRow& row : result.rows) {
    if (row.sm_source == scheduler::SmSource::StartRank && launch.groups.size() > 0) {
      console::note(
          "{}: the captured SMs are not used, warps go to the SMs in the order in which they start: the capture lacks "
          "some warp's SM, has one SM for all, or has SMs beyond the {} that shade on {}",
          report::short_spec(row.model), result.machine.sms - row.charges.withheld_sms, result.machine.name);
    }
  }
}

/// The spec with all parameters; errors have the option's name.
std::string resolved_at(const std::string& spec, const char* option) {
  try {
    return scheduler::SchedulerModels::create(spec).spec;
  } catch (const Error& error) {
    ErrorInfo info = error.info();
    info.where = info.where.empty() ? option : fmt::format("{}: {}", option, info.where);
    throw Error(error.kind(), info);
  }
}

}  // namespace

bool is_bound(const std::string& spec) {
  return scheduler::SchedulerModels::create(spec).model->grouping() == scheduler::Grouping::Bound;
}

std::string detailed_model(const ModelFile& file, const std::vector<std::string>& named,
                           const std::vector<std::string>& models) {
  if (file.path->empty()) {
    return "";
  }
  if (file.model->empty()) {
    const auto last = std::find_if_not(named.rbegin(), named.rend(), is_bound);
    if (last == named.rend()) {
      throw Error(ErrorKind::Usage,
                  {"no model that was asked for has warps", file.option, fmt::format("{}", fmt::join(named, " ")),
                   "a model that forms warps",
                   fmt::format("add one to --models, or take the baseline: {} plain", file.model_option)});
    }
    return scheduler::SchedulerModels::create(*last).spec;
  }
  const std::string spec = resolved_at(*file.model, file.model_option);
  if (std::find(models.begin(), models.end(), spec) == models.end()) {
    std::vector<std::string> shown;
    for (const std::string& model : models) {
      shown.push_back(report::short_spec(model));
    }
    const std::string near = nearest(*file.model, shown);
    throw Error(ErrorKind::Usage,
                {"the model is not among those compared", file.model_option, "'" + *file.model + "'",
                 fmt::format("one of {}", fmt::join(shown, " ")),
                 near.empty() ? "add it to --models" : "add it to --models, or did you mean '" + near + "'?"});
  }
  if (is_bound(spec)) {
    throw Error(ErrorKind::Usage, {"the model is a bound: it has no warps", file.model_option, "'" + *file.model + "'",
                                   "a model that forms warps", "name another one of --models"});
  }
  return spec;
}

void require_owners(const ModelsOptions& options) {
  for (const auto& [option, owner, wrong] :
       {std::tuple{"--timeline-model", "--timeline", !options.timeline_model.empty() && options.timeline.empty()},
        std::tuple{"--segments-model", "--segments", !options.schedule_model.empty() && options.schedule.empty()}}) {
    if (wrong) {
      throw Error(ErrorKind::Usage, {"the option has nothing to act on", option, "",
                                     fmt::format("{} FILE beside it", owner), fmt::format("add {} FILE", owner)});
    }
  }
}

void note_machine(const trace::Trace& trace, const experiment::Resolved& resolved, const experiment::Settings& settings,
                  const std::vector<std::string>& models) {
  const experiment::CompareOptions compare = experiment::compare_of(settings);
  warn_of_warps(trace, resolved, compare.machine);
  note_missing_hardware(models, compare.machine);
  note_cut_withheld(models, settings);
  note_unused_hints(models, compare.hints);
}

std::string read_png(const std::string& path) {
  std::string bytes = read_text_file(path, kMaxImageBytes);
  if (!bytes.starts_with(kPngSignature)) {
    throw Error(ErrorKind::Input, {"the picture is not a PNG file", path, "", "the picture that was rendered", ""});
  }
  return bytes;
}

void ModelsOptions::add_to(CLI::App& command) {
  const auto add = [&command](const char* name, auto& value, const char* text, const char* type) {
    return add_plain(command, name, value, type, text, kModelsGroup);
  };
  add("--models", lists_, "Compare scheduler models instead of packings: specs between commas, or all; may be repeated",
      "LIST")
      ->allow_extra_args(false);
  add("--outputs", outputs,
      "What to compare: model (the default), time (memory time), cache, between commas; model with cache adds time",
      "LIST");
  add("--break-even", break_even,
      "Of memory time: keys, between commas, whose value at break-even is searched for; KEY=LOW..HIGH gives the range",
      "KEYS")
      ->allow_extra_args(false);
  command.add_flag("--no-break-even", no_break_even, "Do not solve for the shader cost from which a model pays")
      ->group(kModelsGroup);
  command
      .add_flag("--no-sensitivity", no_sensitivity,
                "Do not vary the numbers of the time model: no verdict over their ranges")
      ->group(kModelsGroup);
  add("--timeline", timeline, "Perfetto trace to write: SMs and warps over time", "FILE");
  add("--timeline-model", timeline_model, "Model to show there [the last one that has warps]", "SPEC");
  add("--segments", schedule, "HDF5 file to write: which segments ran together, where and when", "FILE");
  add("--segments-model", schedule_model, "Model to write there [the last one that has warps]", "SPEC");
}

void ModelsOptions::require_none() const {
  for (const auto& [option, is_given] : {std::pair{"--no-break-even", no_break_even},
                                         {"--no-sensitivity", no_sensitivity},
                                         {"--timeline", !timeline.empty()},
                                         {"--timeline-model", !timeline_model.empty()},
                                         {"--segments", !schedule.empty()},
                                         {"--segments-model", !schedule_model.empty()}}) {
    if (is_given) {
      throw Error(ErrorKind::Usage, {"the option does not apply to packings", option, "", "--models beside it",
                                     "add --models, for example --models plain,ser"});
    }
  }
}

experiment::MemoryOutputs ModelsOptions::memory_outputs() const {
  experiment::MemoryOutputs wanted;
  for (const std::string& word : list_items(outputs.empty() ? "model" : outputs, ',')) {
    bool* const output = word == "model"   ? &wanted.model
                         : word == "cache" ? &wanted.cache
                         : word == "time"  ? &wanted.time
                                           : nullptr;
    if (output == nullptr) {
      throw Error(ErrorKind::Usage, {"this command does not have the output", "--outputs", "'" + word + "'",
                                     "model, time, cache, between commas", "see rayreplay run for others"});
    }
    if (*output) {
      throw Error(ErrorKind::Usage,
                  {"an output is named twice", "--outputs", "'" + word + "'", "each output once", "leave one out"});
    }
    *output = true;
  }
  return wanted;
}

namespace {

/// Whether "all" is an item of the list.
bool has_all(const std::string& list) {
  return ("," + list + ",").find(",all,") != std::string::npos;
}

}  // namespace

std::vector<std::string> ModelsOptions::listed() const {
  std::vector<std::string> models;
  for (const std::string& list : lists_) {
    const auto specs = experiment::split_model_list(list, scheduler::SchedulerModels::names());
    // `all` beside a model is a list with that model; the same words twice are more likely an error of writing.
    for (std::size_t i = 0; i < specs.size() && !has_all(list); ++i) {
      if (std::find(specs.begin(), specs.begin() + static_cast<std::ptrdiff_t>(i), specs[i]) !=
          specs.begin() + static_cast<std::ptrdiff_t>(i)) {
        throw Error(ErrorKind::Usage,
                    {"a model is given twice, and one row would stand for both", "--models", "'" + specs[i] + "'",
                     "each model once", "leave one out, or change a parameter"});
      }
    }
    models.insert(models.end(), specs.begin(), specs.end());
  }
  return models;
}

int compare_models(const WhatIfCommon& common, const ModelsOptions& options, experiment::Settings given,
                   const std::vector<std::string>& named) {
  // Reports all errors that do not need the trace before it is read.
  const pictures::Colormap colormap = pictures::parse_colormap(common.colormap);
  experiment::CompareOptions compare = experiment::compare_of(given);
  compare.models = experiment::resolve_models(named);
  compare.given_parameters = experiment::parameters_given(named);
  const std::vector<std::string> models = compare.models;
  const machine::Machine& machine = compare.machine;
  require_owners(options);
  const std::string timeline_model =
      detailed_model({"--timeline", &options.timeline, "--timeline-model", &options.timeline_model}, named, models);
  const std::string schedule_model =
      detailed_model({"--segments", &options.schedule, "--segments-model", &options.schedule_model}, named, models);
  std::vector<NamedPath> inputs = common.experiment.inputs(common.path, given);
  inputs.push_back({"--image", common.image});
  require_distinct({{"--output", common.output.path},
                    {"--report", common.report},
                    {"--timeline", options.timeline},
                    {"--segments", options.schedule}},
                   inputs);
  const bool force = common.output.force;
  common.output.check();
  for (const NamedPath& file : {NamedPath{"--timeline", options.timeline}, NamedPath{"--segments", options.schedule}}) {
    if (!file.path.empty()) {
      require_file_name(file.path, file.option);
      OutputOption{file.path, force}.check();
    }
  }
  if (!common.report.empty()) {
    output::require_folder_writable(common.report, force, report::models_folder());
  }
  const std::string image = common.image.empty() ? std::string() : read_png(common.image);
  const std::unique_ptr<Accelerator> accelerator = common.device.open();

  keep_freed_memory();
  OpenedTrace opened(common.path, std::move(given), accelerator.get());
  const trace::Trace& trace = opened.trace();
  const experiment::Settings& settings = opened.settings();
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, true, {"identity"}, {});
  const experiment::Settings told = common.experiment.read_of(settings, &resolved, kModelStages);
  const report::Context context{common.path, trace, resolved, {}, true, accelerator.get(), &told};
  if (common.print_config) {
    common.output.write(report::models_toml(told, models));
    return 0;
  }
  experiment::check_output(experiment::stage("model"), opened.open());
  note_machine(trace, resolved, settings, compare.models);
  for (const std::string& note : experiment::notes_on(experiment::stage("model"), opened.open())) {
    console::note("{}", note);
  }
  const trace::LaunchSize size = trace.launches[resolved.launch].size;
  if (!common.report.empty()) {
    pictures::require_drawable(size.width, size.height, common.path);
  }
  std::vector<report::SmMap> maps;
  compare.break_even = !options.no_break_even;
  compare.sensitivity = !options.no_sensitivity;
  compare.response = !common.report.empty();
  if (!common.report.empty() || !options.timeline.empty() || !options.schedule.empty()) {
    compare.observe = [&](const experiment::CompareRow& row) {
      if (!common.report.empty()) {
        maps.push_back(report::make_sm_map(row, size));
      }
      if (!options.timeline.empty() && row.model == timeline_model) {
        report::write_timeline(options.timeline, force, row, machine, opened.progress());
      }
      if (!options.schedule.empty() && row.model == schedule_model) {
        report::write_schedule(options.schedule, force, row, trace, resolved, machine, opened.progress());
      }
    };
  }
  experiment::Workbench bench = opened.bench();
  const experiment::CompareResult result = experiment::compare_models(bench, opened.open(), compare);

  log_not_captured(trace.header);
  note_unused_sms(result, trace.launches[resolved.launch]);
  if (const std::string note = report::few_warps_note(result); !note.empty()) {
    console::note("{}", note);
  }
  const report::ModelsContext answer{context, result, told, compare.hints};
  if (!common.report.empty()) {
    report::write_models_report({common.report, force, image, colormap}, answer, maps);
  }
  common.output.write_result({[&] { return report::models_text(answer); }, [&] { return report::models_rows(answer); },
                              [&] { return report::models_json(answer); }});
  for (const auto& [what, path] : {std::pair{"timeline", options.timeline}, std::pair{"schedule", options.schedule},
                                   std::pair{"report", common.report.empty() ? "" : common.report + "/index.html"}}) {
    if (!path.empty()) {
      console::tell("wrote the {} {}", what, path);
    }
  }
  return 0;
}

}  // namespace rayreplay::app
