// rayreplay cache: memory traffic of a launch, or of an imported memory trace, through caches.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/histogram_option.hpp"
#include "app/commands/options/opened_trace.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/commands/options/wait_notice.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/report/cache/cache_file.hpp"
#include "app/report/cache/cache_pictures.hpp"
#include "app/report/cache/cache_report.hpp"
#include "app/report/cache/cache_table.hpp"
#include "app/report/charts/heatmap.hpp"
#include "app/report/export/output_folder.hpp"
#include "app/report/memory/memory_timeline.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/keep_memory.hpp"
#include "base/output_file.hpp"
#include "capture/import/memory_trace.hpp"
#include "sim/caching/cache.hpp"
#include "sim/caching/memory_export.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/regrouping.hpp"
#include "sim/engine/stages/reuse.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/engine/stages/structure.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::app {
namespace {

using experiment::CacheOptions;
using experiment::CacheResult;
using experiment::ExperimentParameter;
using experiment::Settings;

constexpr std::string_view kElementsEnd = ".cache.h5";
constexpr const char* kCommand = "cache";
constexpr const char* kDistances = "cache.distances";

/// True if the key applies to an imported memory trace, which has its own order and SMs.
bool is_of_imported(const ExperimentParameter& parameter) {
  const std::string& key = parameter.declared.name;
  return experiment::is_read(parameter, experiment::stages_named("reuse")) || key == experiment::kMachineName ||
         key == "stream.coalesce" ||
         std::ranges::any_of(experiment::shorthands(), [&key](const experiment::Shorthand& level) {
           return std::ranges::find(level.keys, key) != level.keys.end();
         });
}

struct CacheArguments {
  std::string path;
  SettingsOptions experiment;
  bool requests = false;
  CLI::Option* elements_option = nullptr;
  std::string elements;
  std::string histograms;
  bool evictions = false;
  bool guess_labels = false;
  bool groups = false;
  std::string timeline;
  std::string exported;
  bool export_text = false;
  std::string report;
  std::string colormap = "viridis";
  DeviceOption device;
  ResultOption output;
};

std::string elements_path(const CacheArguments& options) {
  if (options.elements_option->count() == 0) {
    return "";
  }
  if (!options.elements.empty()) {
    return options.elements;
  }
  std::error_code error;
  const auto status = std::filesystem::status(options.path, error);
  if (options.path == "-" || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                              !std::filesystem::is_directory(status))) {
    throw Error(ErrorKind::Usage, {"the file of elements has no default name, because the trace is not a file",
                                   "--elements", "'" + options.path + "'", "a name", "add --elements FILE"});
  }
  return std::filesystem::path(options.path).replace_extension(kElementsEnd).string();
}

CacheOptions make_options(const CacheArguments& given, const Settings& settings, const HistogramChoice& histograms) {
  CacheOptions options = experiment::cache_of(settings);
  if (histograms.parts.elements && given.elements_option->count() == 0) {
    throw Error(ErrorKind::Usage, {"histograms by element need a file", "--histograms", "no file of elements",
                                   "--elements", "add --elements"});
  }
  if ((histograms.launches || histograms.parts.any()) && !options.distances) {
    throw Error(ErrorKind::Usage, {"histograms of reuse distances require reuse distances",
                                   "--histograms, " + experiment::place_of(settings.where(kDistances), kDistances),
                                   fmt::format("'{}' without distances", given.histograms), "one of them",
                                   "leave --no-distances or --histograms out"});
  }
  for (const auto& [key, level] :
       {std::pair{"cache.l1.model", &options.caches.l1}, {"cache.l2.model", &options.caches.l2}}) {
    const std::string& model = settings.text(key);
    if (given.evictions && level->bytes > 0 && !memory::CacheModels::create(model).model->exact()) {
      throw Error(ErrorKind::Usage, {"the cache model evicts no lines", experiment::place_of(settings.where(key), key),
                                     "'" + model + "' with --evictions", "an exact model, such as lru",
                                     "leave --evictions out, or take another model"});
    }
  }
  options.histograms = histograms.parts;
  options.evictions = given.evictions;
  options.guess_labels = given.guess_labels;
  const bool file = given.elements_option->count() > 0;
  options.elements = file || given.groups;
  options.pixels = file || !given.report.empty();
  options.request_sums = given.requests;
  return options;
}

/// The settings that affect the result, with values chosen automatically.
Settings told_settings(const CacheArguments& given, Settings settings, const CacheResult& result,
                       const experiment::Resolved* resolved) {
  settings.set("cache.reuse_engine", result.options.reuse_engine, "");
  if (resolved == nullptr) {
    return experiment::of_keys(settings, is_of_imported);
  }
  settings.set("bvh.builder", result.builder, "");
  settings.set("bvh.leaf_size", std::int64_t{0}, "");  // part of the builder's spec
  settings.set("schedule.distribution", result.schedule, "");
  settings.set("schedule.resident_warps", std::int64_t{result.options.interleaving.resident_warps}, "");
  Settings told = given.experiment.read_of(settings, resolved);
  if (experiment::regroups(settings)) {
    return told;
  }
  // Under the model plain nothing else of the scheduler models has an effect.
  return experiment::of_keys(told, [&settings](const ExperimentParameter& parameter) {
    const std::string& key = parameter.declared.name;
    return key == "scheduler.model" ||
           (experiment::is_read(parameter, experiment::stages_named("structure, assignment, stream, reuse")) &&
            experiment::stream_uses_key(settings, key));
  });
}

/// Notes on sums by pixel of an imported trace: missing data, and pixels that share a row.
void log_frame(const CacheResult& result) {
  if (result.scheduled || !result.options.pixels) {
    return;
  }
  if (result.size.threads() == 0) {
    console::log(
        "rayreplay: note: no sums by pixel: the memory trace does not say how large the frame is ('frame WIDTH "
        "HEIGHT')");
    return;
  }
  if (result.beyond_frame > 0) {
    console::warn(
        "in no sum by pixel: {} of lanes to elements of a frame buffer behind pixel {} of the frame ({} x {})",
        counted(result.beyond_frame, "access", "accesses"), result.size.threads() - 1, result.size.width,
        result.size.height);
  }
  const auto buffers =
      std::ranges::count(result.allocations.rows(), memory::DataKind::FrameBuffer, &memory::Allocation::kind);
  if (buffers > 1) {
    console::warn(
        "the memory trace has {} frame buffers: a pixel's sums are those of its element in all of them together",
        buffers);
  }
}

/// Note on distances that a model needs although they were turned off.
void log_distances(const CacheResult& result) {
  if (result.options.distances) {
    return;
  }
  for (const memory::LevelResult& level : result.analysis.levels) {
    if (level.histogram.accesses() > 0) {
      console::note("reuse distances of the {} are computed anyway: its model {} needs them",
                    report::kLevelNames[static_cast<std::size_t>(&level - result.analysis.levels.data())], level.model);
    }
  }
}

void log_result(const CacheResult& result) {
  for (const std::string& line : describe(result.ignored)) {
    console::warn("ignored: {}", line);
  }
  if (result.tally.ignored_rays > 0) {
    console::warn("ignored: {} of {}: no direction, not finite, or t_min above t_max", result.tally.ignored_rays,
                  counted(result.tally.rays, "ray"));
  }
  if (result.tally.unobserved > 0) {
    console::warn("not in the trace, and counted as not accepted: {} that shaders decide on",
                  counted(result.tally.unobserved, "candidate"));
  }
  if (result.analysis.unallocated > 0) {
    console::warn("outside every allocation, and counted as unallocated: {} of {}", result.analysis.unallocated,
                  counted(result.analysis.requests, "request"));
  }
  if (!result.guesses.empty()) {
    console::warn("the kinds of data of {} are guesses from their traffic, not labels of the trace",
                  counted(result.guesses.size(), "allocation"));
  } else if (result.options.guess_labels) {
    console::note("no labels were guessed: every allocation has one");
  }
  if (!result.scheduled && result.analysis.transactions == 0) {
    console::warn("the memory trace has no records: every result is zero");
  }
  log_frame(result);
  log_distances(result);
  if (!result.schedule_note.empty()) {
    console::note("schedule {}: {}", parse_spec(result.schedule).name, result.schedule_note);
  }
  if (result.scheduled && result.warp_size != result.machine.warp_size) {
    console::warn("warps have {} here, on the machine {} {}", counted(result.warp_size, "lane"), result.machine.name,
                  result.machine.warp_size);
  }
  if (result.stream_s > 0) {
    console::tell("{:.1f} million transactions in {:.2f} s, {:.2f} s of them in the caches",
                  static_cast<double>(result.analysis.transactions) / 1e6, result.stream_s, result.analysis_s);
  }
}

/// Files and folders that a run writes; checks before the run.
struct Outputs {
  pictures::Colormap colormap = pictures::Colormap::Viridis;
  std::string elements;
};

Outputs check_outputs(const CacheArguments& options, const Settings& settings) {
  Outputs outputs{pictures::parse_colormap(options.colormap), elements_path(options)};
  require_file_name(outputs.elements, "--elements");
  require_file_name(options.timeline, "--timeline");
  require_distinct({{"--output", options.output.path},
                    {"--report", options.report},
                    {"--elements", outputs.elements},
                    {"--timeline", options.timeline},
                    {"--export", options.exported}},
                   options.experiment.inputs(options.path, settings));
  if (options.exported == "-" && options.output.path == "-") {
    throw Error(ErrorKind::Usage, {"the memory trace and the result cannot both go to standard output",
                                   "--export and --output", "'-'", "a file for one of them", "add --output FILE"});
  }
  options.output.check();
  for (const std::string& file : {outputs.elements, options.timeline, options.exported}) {
    if (!file.empty() && file != "-") {
      OutputOption{file, options.output.force}.check();
    }
  }
  if (!options.report.empty()) {
    output::require_folder_writable(options.report, options.output.force, report::cache_folder());
  }
  return outputs;
}

void write(const CacheArguments& options, const Outputs& outputs, const report::CacheContext& context,
           report::CacheFile* elements) {
  log_result(context.result);
  if (!options.report.empty() && report::is_one_row(context.result)) {
    console::note("{}", report::kNoPicturesOfOneRow);
  }
  if (elements != nullptr) {
    elements->commit(context);
  }
  if (!options.report.empty()) {
    report::write_cache_report({options.report, options.output.force, outputs.colormap}, context);
  }
  if (!options.timeline.empty()) {
    report::write_memory_timeline(options.timeline, options.output.force, *context.history, context.result.machine,
                                  parse_spec(context.result.model).name);
  }
  options.output.write_result({[&] { return report::cache_text(context); },
                               [&] { return report::cache_csv_rows(context); },
                               [&] { return report::cache_json(context); }});
  for (const auto& [what, path] : {std::pair{"elements", outputs.elements}, std::pair{"memory trace", options.exported},
                                   std::pair{"timeline", options.timeline},
                                   std::pair{"report", options.report.empty() ? "" : options.report + "/index.html"}}) {
    if (!path.empty()) {
      console::tell("wrote the {} {}", what, path);
    }
  }
}

/// Machine, structure and schedule of an imported trace were fixed at its recording.
void require_imported_options(const CacheArguments& options) {
  if (!options.exported.empty()) {
    throw Error(ErrorKind::Usage,
                {"an imported memory trace cannot be exported again", "--export", "'" + options.path + "'",
                 "a trace of a launch (.rrt)", "rayreplay import turns one form into the other"});
  }
  const auto refuse = [&options](const std::string& option) {
    throw Error(ErrorKind::Usage, {"the option does not apply to an imported memory trace", option,
                                   "'" + options.path + "'", "a trace of a launch (.rrt)", "leave it out"});
  };
  if (!options.timeline.empty()) {
    refuse("--timeline");
  }
  for (const auto& [option, key] : options.experiment.given_keys()) {
    if (!is_of_imported(*experiment::find_parameter(key))) {
      refuse(option == "--set" ? option + " " + key : option);
    }
  }
}

/// Keys of a file that do not apply here and differ from their defaults.
void log_unused_keys(const CacheArguments& options, const Settings& settings) {
  std::vector<std::string> unused;
  const Settings without = experiment::complete({}, experiment::NamedInput::Elsewhere);
  for (const auto& [key, setting] : settings.all()) {
    const ExperimentParameter& parameter = *experiment::find_parameter(key);
    if (!setting.where.empty() && !setting.where.starts_with("--") && options.experiment.reads(parameter) &&
        !is_of_imported(parameter) && setting.value != without.at(key)) {
      unused.push_back(experiment::place_of(setting.where, key));
    }
  }
  if (!unused.empty()) {
    console::warn("what does not apply to an imported memory trace is not used: {}", fmt::join(unused, "; "));
  }
}

int run_imported(const CacheArguments& given, const Outputs& outputs, const Settings& settings, CacheOptions options) {
  require_imported_options(given);
  log_unused_keys(given, settings);
  keep_freed_memory();
  const std::unique_ptr<Progress> progress = console::make_progress();
  options.progress = progress.get();
  std::unique_ptr<report::CacheFile> elements;
  if (options.elements) {
    elements = std::make_unique<report::CacheFile>(outputs.elements, given.output.force);
    options.take_elements = [&](std::uint32_t, const std::vector<memory::ElementRow>& rows) { elements->append(rows); };
  }
  if (options.histograms.elements) {
    options.take_element_distances = [&](const std::vector<memory::ElementDistances>& rows) { elements->take(rows); };
  }
  const CacheResult result = experiment::run_cache_imported(given.path, options, tell_wait);
  const Settings told = told_settings(given, settings, result, nullptr);
  write(given, outputs, {given.path, result, told, nullptr, options.accelerator->records()}, elements.get());
  return 0;
}

/// Reuse distances of every launch, each with empty caches; launch `done` has them already.
std::vector<report::LaunchDistances> launch_distances(OpenedTrace& opened, const CacheResult& done,
                                                      std::uint32_t done_launch) {
  std::vector<report::LaunchDistances> all;
  const auto add = [&all](std::uint32_t launch, const CacheResult& result) {
    report::LaunchDistances& one = all.emplace_back();
    one.launch = launch;
    for (std::size_t level = 0; level < memory::kLevels; ++level) {
      one.levels[level] = result.analysis.levels[level].histogram;
    }
  };
  experiment::Workbench bench = opened.bench();
  for (std::uint32_t launch = 0; launch < opened.trace().launches.size(); ++launch) {
    if (launch == done_launch) {
      add(launch, done);
      continue;
    }
    opened.set_launch(launch, "--histograms");
    CacheOptions options = experiment::cache_of(opened.settings());
    add(launch, experiment::analyse_caches(bench, opened.open(), options));
  }
  opened.set_launch(done_launch, "");
  return all;
}

int run_launch(const CacheArguments& given, const Outputs& outputs, Settings asked, CacheOptions options,
               bool by_launch) {
  keep_freed_memory();
  OpenedTrace opened(given.path, std::move(asked), options.accelerator);
  const trace::Trace& trace = opened.trace();
  const Settings& settings = opened.settings();
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, false);
  const trace::LaunchSize size = trace.launches[resolved.launch].size;
  if (!given.report.empty() && size.height > 1) {
    pictures::require_drawable(size.width, size.height, given.path);
  }
  experiment::Workbench bench = opened.bench();
  const experiment::Experiment experiment = opened.open();
  experiment::check_output(experiment::stage("stream"), experiment);
  for (const std::string& note : experiment::notes_on(experiment::stage("stream"), experiment)) {
    console::note("{}", note);
  }
  std::shared_ptr<const experiment::Structure> built;  // kept until the run, so that it is built once
  std::unique_ptr<report::CacheFile> elements;
  report::ElementSums sums;
  if (options.elements) {
    built = experiment::structure(bench, experiment);
    options.take_elements = [&](std::uint32_t, const std::vector<memory::ElementRow>& rows) {
      if (elements != nullptr) {
        elements->append(rows);
      }
      if (given.groups) {
        sums.add(rows);
      }
    };
  }
  if (!outputs.elements.empty()) {
    elements = std::make_unique<report::CacheFile>(outputs.elements, given.output.force);
    elements->take(built->bvh);
  }
  if (options.histograms.elements) {
    options.take_element_distances = [&](const std::vector<memory::ElementDistances>& rows) { elements->take(rows); };
  }
  std::unique_ptr<experiment::MemoryExport> exported;
  if (!given.exported.empty()) {
    options.make_raw = [&](const CacheResult& result) {
      exported = std::make_unique<experiment::MemoryExport>(
          given.exported, given.export_text ? import::TraceForm::Text : import::TraceForm::Binary, given.output.force,
          experiment::memory_trace_header(result));
      return exported.get();
    };
  }
  std::optional<machine::TimeHistory> history;
  if (experiment::has_memory_time(settings) && !(given.timeline.empty() && given.report.empty())) {
    options.interleaving.history = &history.emplace(experiment::stream_machine(settings).sms);
  }
  const CacheResult result = experiment::analyse_caches(bench, experiment, options);
  if (exported != nullptr) {
    exported->commit();
  }
  log_not_captured(trace.header);
  const Settings told = told_settings(given, settings, result, &resolved);
  const std::vector<report::LaunchDistances> launches =
      by_launch ? launch_distances(opened, result, resolved.launch) : std::vector<report::LaunchDistances>();
  const report::Context context{given.path, trace, resolved, {}, false, options.accelerator};
  const std::vector<report::ElementGroup> groups =
      given.groups
          ? report::group_elements(sums, built->bvh, trace, trace.launches[resolved.launch], result.allocations)
          : std::vector<report::ElementGroup>();
  write(given, outputs,
        {given.path, result, told, &context, context.stages(), launches, groups, history ? &*history : nullptr},
        elements.get());
  return 0;
}

int act(const CacheArguments& given) {
  // Reports all errors that do not need the trace before it is read.
  Settings settings = given.experiment.settings(given.path);
  const HistogramChoice histograms = histograms_of(given.histograms, settings);
  CacheOptions options = make_options(given, settings, histograms);
  const Outputs outputs = check_outputs(given, settings);
  const std::unique_ptr<Accelerator> accelerator = given.device.open();
  options.accelerator = accelerator.get();
  if (import::is_memory_trace(given.path)) {
    if (given.groups) {
      throw Error(ErrorKind::Usage, {"a memory trace has no structure and no triangles", "--element-groups",
                                     "'" + given.path + "'", "a trace of a launch (.rrt)", "leave it out"});
    }
    if (histograms.launches) {
      throw Error(ErrorKind::Usage, {"a memory trace has no launches", "--histograms", "'launch'",
                                     "kind, window=N, element", "leave it out"});
    }
    return run_imported(given, outputs, settings, options);
  }
  if (given.guess_labels) {
    throw Error(ErrorKind::Usage, {"a trace of rays has labels", "--guess-labels", "'" + given.path + "'",
                                   "a memory trace of another tool", "leave it out"});
  }
  experiment::require_regrouping(settings, false);
  require_known_trace(given.path);
  if (!given.timeline.empty() && !experiment::has_memory_time(settings)) {
    throw Error(ErrorKind::Usage,
                {"the timeline is of memory time", "--timeline", "'" + settings.text("schedule.time") + "'",
                 "--time memory beside it", "add --time memory"});
  }
  return run_launch(given, outputs, settings, options, histograms.launches);
}

void declare(CLI::App& command, CacheArguments& options) {
  add_plain(command, "trace", options.path, "TRACE", "Trace file (.rrt), or a memory trace of another tool", "Input")
      ->required();
  options.experiment.add_to(command, {"structure, assignment, regrouping, stream, reuse"});
  command.add_flag("--requests", options.requests, "Also hit rates over requests (lanes)")->group("Output");
  options.elements_option =
      add_plain(command, "--elements", options.elements, "[FILE]",
                "Also write sums of every node, face, instance and pixel (HDF5) [TRACE with .cache.h5]", "Output")
          ->expected(0, 1);
  add_plain(command, "--histograms", options.histograms, "PARTS",
            "Also reuse distances of parts: kind, window=N, launch, element (a list; the last into --elements)",
            "Output");
  command
      .add_flag("--element-groups", options.groups,
                "Also hit rates by the depth of nodes, and the projected size and facing of triangles")
      ->group("Output");
  command
      .add_flag("--evictions", options.evictions,
                "Also misses by the kind of data that missed and the kind whose access evicted the line")
      ->group("Output");
  command
      .add_flag(
          "--guess-labels", options.guess_labels,
          "Memory traces: guess the kind of data of allocations without a label (kind 'other') from their traffic")
      ->group("Input");
  add_plain(command, "--timeline", options.timeline, "FILE",
            "Also write a Perfetto trace of memory time: misses, MSHRs in use, bandwidth, warps", "Output");
  CLI::Option* exported =
      add_plain(command, "--export", options.exported, "FILE",
                "Also write the warps' memory instructions as a memory trace (docs/memory-traces.md)", "Output");
  command.add_flag("--export-text", options.export_text, "Write that memory trace in its text form")
      ->needs(exported)
      ->group("Output");
  options.device.add_to(command);
  options.output.add_to(command);
  add_plain(command, "--report", options.report, "DIR", "Folder to write: one HTML page, pictures, data", "Report");
  add_value(command, "--colormap", options.colormap, "NAME", "viridis or plasma", "Report");
}

}  // namespace

void add_cache_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {kCommand, "Experiments", "Where do the bytes come from? Caches, reuse distances, traffic"}, declare,
              act);
}

}  // namespace rayreplay::app
