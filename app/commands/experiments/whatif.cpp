// rayreplay whatif: the effect of other warp packing, or of another scheduler model, on a workload.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/experiments/whatif_memory.hpp"
#include "app/commands/options/opened_trace.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/report/charts/heatmap.hpp"
#include "app/report/context/answers.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/models/path_cells.hpp"
#include "app/report/packings/observed_table.hpp"
#include "app/report/packings/whatif_report.hpp"
#include "app/report/packings/whatif_table.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json.hpp"
#include "base/parameters.hpp"
#include "base/text.hpp"
#include "sim/comparison/model_list.hpp"
#include "sim/engine/stage_settings.hpp"

namespace rayreplay::app {
namespace {

using experiment::ExperimentParameter;
using experiment::Settings;

constexpr std::uint64_t kMaxPublishedBytes = 1U << 20U;
constexpr const char* kPacking = "packing";
constexpr const char* kModel = "scheduler.model";
constexpr const char* kIdentity = "identity";
constexpr const char* kNodeOrder = "bvh.node_order";
constexpr const char* kOutputs = "outputs";
constexpr const char* kMemoryStages = "structure, assignment, simt, model, regrouping, stream, cache, traffic, time";

/// The settings that affect the table of packings.
bool is_of_packings(const ExperimentParameter& parameter) {
  return experiment::is_read(parameter, experiment::stages_named("assignment, simt"));
}

struct WhatifArguments : WhatIfCommon {
  ModelsOptions models;
  std::vector<std::string> swizzles;
  std::string compare;
};

std::string published_text(const report::Context& context, const experiment::WhatIfResult& result,
                           const report::Published& published) {
  const std::string warning = report::workload_warning(context.trace.header, published);
  return fmt::format("\n{}\n{}\n{}\n{}\n{}", text::printable(published.title), text::printable(published.source),
                     text::printable_lines(published.note),
                     warning.empty() ? "" : "warning: " + text::printable(warning) + "\n",
                     output::to_text(report::compare(result, published)));
}

std::string whatif_text(const report::Context& context, const experiment::WhatIfResult& result,
                        const std::optional<report::Published>& published) {
  const output::Table table = report::whatif_table(result, true);
  const std::string answer = report::packing_answer(table);
  return answer + (answer.empty() ? "" : "\n") + report::context_text(context) + "\n" + output::to_text(table) +
         report::path_note(!result.rows.front().paths.empty()) +
         report::observed_text(context.trace, context.trace.launches[context.configuration.launch]) +
         (published ? published_text(context, result, *published) : std::string());
}

/// Usage for keys that have an effect only on memory time and caches. Unknown keys are refused elsewhere.
void require_outputs_read(const WhatifArguments& options) {
  static const experiment::StageMask kRead =
      experiment::stages_named(kModelStages) | experiment::bit(experiment::stage("structure"));
  for (const auto& [flag, key] : options.experiment.given_keys()) {
    const ExperimentParameter* parameter = experiment::find_parameter(key);
    if (parameter != nullptr && !experiment::is_read(*parameter, kRead)) {
      // Segments exclude --outputs; the warps that they are played with are the machine's.
      const bool is_of_segments = key == "schedule.resident_warps" && !options.models.schedule.empty();
      throw Error(
          ErrorKind::Usage,
          {"the key has no effect", flag == "--set" ? flag + " " + key : flag, "",
           is_of_segments ? "--set machine.resident_warps=N" : "--outputs with time or cache beside it",
           is_of_segments ? "name the machine's warps, as scheduler models use them" : "add --outputs time,cache"});
    }
  }
}

/// Flags that only apply to models. Unknown keys are refused elsewhere.
void require_of_packings(const WhatifArguments& options) {
  require_outputs_read(options);
  for (const auto& [flag, key] : options.experiment.given_keys()) {
    const ExperimentParameter* parameter = experiment::find_parameter(key);
    if (parameter != nullptr && !is_of_packings(*parameter)) {
      throw Error(ErrorKind::Usage, {"the option does not apply to packings", flag == "--set" ? flag + " " + key : flag,
                                     "", "--models beside it", "add --models, for example --models plain,ser"});
    }
  }
  options.models.require_none();
}

/// Keys of the structure matter only where rays are counted in it.
void require_structure_read(const WhatifArguments& options, const Settings& asked) {
  constexpr const char* kReplaySteps = "scheduler.replay_steps";
  for (const auto& [flag, key] : options.experiment.given_keys()) {
    if (!experiment::is_read(*experiment::find_parameter(key), experiment::stages_named(kModelStages)) &&
        !asked.flag(kReplaySteps)) {
      throw Error(ErrorKind::Usage, {"the key has no effect", flag == "--set" ? flag + " " + key : flag, "",
                                     std::string(kReplaySteps) + " beside it: visits of rays in the structure",
                                     "add --replay-steps, or leave the key out"});
    }
  }
}

bool may_set_model(const WhatifArguments& options) {
  const auto given = options.experiment.given_keys();
  return std::ranges::any_of(given, [](const auto& one) { return one.second.starts_with(kModel); });
}

/// The model of the settings, with the parameters that are set there.
std::string model_set(const Settings& asked) {
  std::set<std::string, std::less<>> named;
  for (const auto& [name, value] : parse_spec(asked.text(kModel)).settings) {
    named.insert(name);
  }
  const std::string prefix = std::string(kModel) + ":";
  for (const auto& [key, setting] : asked.all()) {
    if (key.starts_with(prefix)) {
      named.insert(key.substr(prefix.size()));
    }
  }
  const ModelSpec all = parse_spec(experiment::complete(asked, experiment::NamedInput::Elsewhere).text(kModel));
  std::string spec = all.name;
  for (const auto& [name, value] : all.settings) {
    if (named.contains(name)) {
      spec += fmt::format("{}{}={}", spec == all.name ? ':' : ',', name, value);
    }
  }
  return spec;
}

/// Moves the model that `--set` sets from the settings into the list. A file's does not count: experiments of
/// `rayreplay run` name one, and packings are compared for them too.
void take_model(const WhatifArguments& options, Settings& asked, std::vector<std::string>& models) {
  if (asked.where(kModel) == "--set") {
    models.push_back(model_set(asked));
    asked = experiment::of_keys(asked,
                                [](const ExperimentParameter& parameter) { return parameter.declared.name != kModel; });
    return;
  }
  for (const auto& [flag, key] : options.experiment.given_keys()) {
    if (key.starts_with(std::string(kModel) + ":")) {
      const std::string parameter = key.substr(std::string_view(kModel).size() + 1);
      throw Error(ErrorKind::Usage,
                  {"a parameter is set and its scheduler model is not", flag + " " + key, "",
                   fmt::format("--set {}=NAME beside it", kModel),
                   fmt::format("add it, or write the parameter into the spec: --models NAME:{}=VALUE", parameter)});
    }
  }
}

/// Usage for several orders of nodes: only comparisons in memory time and caches (--outputs) have rows for them.
void set_node_order(const WhatifArguments& options, Settings& asked) {
  const std::vector<std::string>& given = options.experiment.given_variants(kNodeOrder);
  const char* const flag = "--node-order";
  if (given.size() > 1) {
    throw Error(ErrorKind::Usage, {"several orders of nodes are compared in memory", flag, "",
                                   "--outputs with time or cache beside them", "add --outputs time,cache"});
  }
  if (!given.empty()) {
    asked.set(kNodeOrder, given.front(), flag);
  }
}

/// `packings`: specs to compare; empty: all of them.
int compare_packings(const WhatifArguments& options, const Settings& settings,
                     const std::vector<std::string>& packings) {
  // Reports all errors that do not need the trace before it is read.
  const pictures::Colormap colormap = pictures::parse_colormap(options.colormap);
  std::vector<NamedPath> inputs = options.experiment.inputs(options.path, settings);
  for (const std::string& file : options.swizzles) {
    inputs.push_back({"--swizzle", file});
  }
  inputs.push_back({"--image", options.image});
  inputs.push_back({"--compare", options.compare});
  require_distinct({{"--output", options.output.path}, {"--report", options.report}}, inputs);
  options.output.check();
  if (!options.report.empty()) {
    output::require_folder_writable(options.report, options.output.force, report::report_folder());
  }
  const std::string image = options.image.empty() ? std::string() : read_png(options.image);
  std::optional<report::Published> published;
  if (!options.compare.empty()) {
    published = report::parse_published(read_text_file(options.compare, kMaxPublishedBytes), options.compare);
  }

  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  OpenedTrace opened(options.path, settings, accelerator.get());
  const trace::Trace& trace = opened.trace();
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, true, packings, options.swizzles);
  Settings told = experiment::of_keys(options.experiment.read_of(settings, &resolved, kModelStages), is_of_packings);
  told.set(kPacking, packings.size() == 1 ? packings.front() : kIdentity, "");
  if (options.print_config) {
    options.output.write(report::whatif_toml(told, packings, options.swizzles));
    return 0;
  }
  if (published) {
    const std::string warning = report::workload_warning(trace.header, *published);
    if (!warning.empty()) {
      console::warn("{}", warning);
    }
  }
  experiment::WhatIfWanted wanted{packings, options.swizzles};
  // A launch of one row has no useful picture.
  const trace::LaunchSize size = trace.launches[resolved.launch].size;
  wanted.pixel_maps = !options.report.empty() && size.height > 1;
  if (wanted.pixel_maps) {
    pictures::require_drawable(size.width, size.height, options.path);
  }
  experiment::Workbench bench = opened.bench();
  const experiment::WhatIfResult result = experiment::what_if(bench, opened.open(), wanted);

  log_not_captured(trace.header);
  const report::Context context{options.path, trace, resolved, {}, true, accelerator.get(), &told};
  if (!options.report.empty()) {
    report::write_report({options.report, options.output.force, image, colormap, packings}, context, result, published);
  }
  options.output.write_result({[&] { return whatif_text(context, result, published); },
                               [&] { return report::with_context(report::whatif_table(result, true), context); },
                               [&] { return report::whatif_json(context, result, published); }});
  if (!options.report.empty()) {
    console::tell("wrote the report {}/index.html", options.report);
  }
  return 0;
}

/// Usage for options that only the comparison of packings has.
void require_none_of_packings(const WhatifArguments& options, const char* beside) {
  for (const auto& [option, given] : {std::pair{"--swizzle", !options.swizzles.empty()},
                                      std::pair{"--compare, which is about packings", !options.compare.empty()}}) {
    if (given) {
      throw Error(ErrorKind::Usage, {fmt::format("the option does not go with {}", beside), option, "",
                                     "scheduler models, or packings", "use two runs"});
    }
  }
}

/// A repeated flag's specs, or the one that the settings have.
std::vector<std::string> variants_or_set(const WhatifArguments& options, const char* key, const Settings& asked) {
  std::vector<std::string> specs = options.experiment.variants(key, asked);
  if (specs.empty()) {
    specs.push_back(experiment::complete(asked, experiment::NamedInput::Elsewhere).text(key));
  }
  return specs;
}

int act_in_memory(const WhatifArguments& options, std::vector<std::string> models) {
  require_none_of_packings(options, "--outputs");
  Settings asked = options.experiment.asked(options.path);
  take_model(options, asked, models);
  asked = experiment::of_keys(asked, [&options](const ExperimentParameter& parameter) {
    const std::string& key = parameter.declared.name;
    return (options.experiment.reads(parameter) || key == "trace" || key == "workload") && key != kModel &&
           key != kOutputs;
  });
  const MemoryVariants variants{experiment::resolve_models(models), variants_or_set(options, kPacking, asked),
                                variants_or_set(options, kNodeOrder, asked), experiment::parameters_given(models)};
  return compare_in_memory(options, options.models, std::move(asked), variants);
}

int act(const WhatifArguments& options) {
  std::vector<std::string> models = options.models.listed();
  const std::vector<std::string>& flagged = options.experiment.given_variants(kModel);
  models.insert(models.end(), flagged.begin(), flagged.end());
  if (const experiment::MemoryOutputs outputs = options.models.memory_outputs(); outputs.cache || outputs.time) {
    return act_in_memory(options, std::move(models));
  }
  if (!options.models.break_even.empty()) {
    throw Error(ErrorKind::Usage, {"the option is of memory time", "--break-even",
                                   fmt::format("'{}'", fmt::join(options.models.break_even, "', '")),
                                   "time among --outputs", "add --outputs time"});
  }
  if (models.empty() && !may_set_model(options)) {
    require_of_packings(options);  // before errors of these options' values
  }
  Settings asked = options.experiment.asked(options.path);
  take_model(options, asked, models);
  if (models.empty()) {
    require_of_packings(options);
  }
  std::vector<std::string> packings = options.experiment.variants(kPacking, asked);
  set_node_order(options, asked);
  if (models.empty()) {
    const Settings settings = experiment::complete(asked, experiment::NamedInput::Elsewhere);
    if (packings.empty() && settings.text(kPacking) != kIdentity) {
      packings.push_back(settings.text(kPacking));
    }
    return compare_packings(options, settings, packings);
  }
  if (packings.size() > 1) {
    throw Error(ErrorKind::Usage, {"the option does not go with --models", "several --packing", "",
                                   "scheduler models, or packings", "use two runs, or add --outputs time"});
  }
  require_none_of_packings(options, "--models");
  require_outputs_read(options);
  require_structure_read(options, asked);
  if (!packings.empty()) {
    asked.set(kPacking, packings.front(), experiment::find_parameter(kPacking)->flag);
  }
  return compare_models(options, options.models, experiment::complete(asked, experiment::NamedInput::Elsewhere),
                        models);
}

void declare(CLI::App& command, WhatifArguments& options) {
  add_trace_file(command, options.path)->required();
  TakenKeys taken{kMemoryStages};
  taken.without = {"scheduler.file"};
  taken.variants = {{kPacking, "all of them"}, {kModel, "none"}, {kNodeOrder, "one"}};
  options.experiment.add_to(command, std::move(taken));
  add_plain(command, "--swizzle", options.swizzles, "FILE",
            "Swizzle file of your own to try beside packings, may be repeated", "Warps")
      ->allow_extra_args(false);
  options.models.add_to(command);
  options.device.add_to(command);
  options.output.add_to(command);
  command.add_flag("--print-config", options.print_config, "Print the resolved configuration (TOML) and stop")
      ->group("Output");
  add_plain(command, "--compare", options.compare, "FILE", "Published figures (TOML) to print beside ours", "Output");
  add_plain(command, "--report", options.report, "DIR", "Folder to write: one HTML page, pictures, data", "Report");
  add_plain(command, "--image", options.image, "FILE", "The rendered picture (PNG), to show in the report", "Report");
  add_value(command, "--colormap", options.colormap, "NAME", "viridis or plasma", "Report");
}

}  // namespace

void add_whatif_command(CLI::App& root, Session& session) {
  add_command(root, session, {"whatif", "Experiments", "What would other warp packing, or another scheduler, do?"},
              declare, act);
}

}  // namespace rayreplay::app
