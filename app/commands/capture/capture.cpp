// rayreplay capture: runs an application with the capture layer, and converts the recording to a trace.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/capture/alternation.hpp"
#include "app/commands/capture/capture_end.hpp"
#include "app/commands/capture/capture_report.hpp"
#include "app/commands/capture/capture_timing.hpp"
#include "app/commands/capture/insert_ser.hpp"
#include "app/commands/capture/layer_environment.hpp"
#include "app/commands/capture/shader_folder.hpp"
#include "app/commands/capture/spool_place.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/child.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/file_descriptor.hpp"
#include "base/output_file.hpp"
#include "base/shell_word.hpp"
#include "base/temporary.hpp"
#include "capture/layer/options/options.hpp"
#include "capture/spool/guest_files.hpp"
#include "capture/spool/writer.hpp"
#include "scheduler-models/swizzle_file.hpp"

namespace rayreplay::app {
namespace {

namespace fs = std::filesystem;

struct CaptureArguments {
  std::vector<std::string> program;
  std::map<std::string, std::string> settings;  ///< by name in the option table
  OutputOption output;
  FormatOption format;
  bool keep_spool = false;
  std::optional<std::vector<layer::ListedModule>> modules;  ///< of the folder that --shaders names
  AlternationOptions alternation;
};

std::string flag_of(const layer::Option& option) {
  std::string flag = std::string("--") + option.name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

/// The layer takes the formula of a hint as a program.
void compile_hint(CaptureArguments& options) {
  if (std::string& given = options.settings["insert_ser"]; !given.empty()) {
    given = ser_setting(given);
  }
}

/// The layer's interpretation of the options.
layer::Options checked_settings(const CaptureArguments& options) {
  layer::Options result;
  for (const layer::Option& option : layer::option_table()) {
    const auto set = options.settings.find(option.name);
    if (set != options.settings.end() && !set->second.empty() && !layer::set_option(result, option.name, set->second)) {
      const bool counted_from_1 =
          std::strcmp(option.name, "profile_memory_sample") == 0 || std::strcmp(option.name, "every") == 0;
      throw Error(ErrorKind::Usage,
                  {"the value cannot be read", flag_of(option), "'" + set->second + "'",
                   counted_from_1 ? "a whole number of 1 or more: 1 takes every thread, N those whose "
                                    "id is a multiple of N"
                                  : option.text,
                   ""});
    }
  }
  for (const layer::Option& option : layer::option_table()) {
    const auto set = options.settings.find(option.name);
    const char* value = std::getenv(option.variable);
    const bool counts = value != nullptr && *value != '\0' && std::strcmp(option.name, "spool") != 0 &&
                        (set == options.settings.end() || set->second.empty());
    layer::Options ignored;
    if (counts && !layer::set_option(ignored, option.name, value)) {
      throw Error(ErrorKind::Usage, {"the variable's value cannot be read", option.variable, fmt::format("'{}'", value),
                                     option.text, "correct it, or unset it"});
    }
  }
  return result;
}

/// Without events no trace is written, so counts would be made and thrown away.
void require_events(const layer::Options& all) {
  if (!all.record && (all.profile_blocks || all.profile_branches || all.profile_loads || all.profile_paths ||
                      all.profile_values || all.profile_memory)) {
    throw Error(ErrorKind::Usage,
                {"with --record off there is no trace that could hold a profile", "--profile", "--record off",
                 "a profile with events, or --record off alone",
                 all.profile_paths || all.profile_memory
                     ? "leave --record off out: paths and accesses belong to calls, which are events"
                     : "leave --record off out, and add --memory 64KiB: counts are whole, and few events are kept"});
  }
}

/// Usage for an option of counters that the profile does not have.
void require_profile(const CaptureArguments& options) {
  const layer::Options all = layer::resolve([&](const char* variable) -> const char* {
    for (const layer::Option& option : layer::option_table()) {
      const auto set = options.settings.find(option.name);
      if (std::strcmp(option.variable, variable) == 0 && set != options.settings.end() && !set->second.empty()) {
        return set->second.c_str();
      }
    }
    return std::getenv(variable);
  });
  const auto require = [&](const char* name, const char* flag, bool used, const char* profile) {
    if (const auto set = options.settings.find(name); set != options.settings.end() && !set->second.empty() && !used) {
      throw Error(ErrorKind::Usage, {"the option has no effect on this profile", flag, "",
                                     fmt::format("--profile {}", profile), "add it, or leave the option out"});
    }
  };
  require("block_counters", "--block-counters", all.profile_blocks, "blocks");
  require("profile_memory_sample", "--profile-memory-sample", all.profile_memory, "memory");
  require("profile_stages", "--profile-stages",
          all.profile_blocks || all.profile_branches || all.profile_loads || all.profile_values, "blocks");
  require("profile_value_slots", "--profile-value-slots", all.profile_values, "values");
  require("profile_proven", "--profile-proven", all.profile_branches || all.profile_loads, "branches,loads");
  require_events(all);
}

void check_outputs(const CaptureArguments& options, bool record) {
  if (record == options.output.path.empty()) {
    throw Error(ErrorKind::Usage,
                record ? ErrorInfo{"a trace to write is needed", "--output", "", "", "-o t.rrt"}
                       : ErrorInfo{"without events there is no trace to write", "--output", options.output.path, "",
                                   "leave -o out: with --record off the times of the launches are printed"});
  }
}

/// The program as PATH finds it; unchanged if it is not found.
std::string found_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const char* variable = std::getenv("PATH");
  const std::string folders = variable == nullptr ? "/bin:/usr/bin" : variable;
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    // An empty name is the working folder.
    const fs::path file = fs::path(folders.substr(begin, end - begin)) / name;
    std::error_code error;
    if (fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0) {
      return file.string();
    }
    begin = end + 1;
  }
  return name;
}

/// The trace must not replace the program, a file among its arguments, or an input of the layer; the spool's folder,
/// which is emptied, must not contain any of them.
void check_inputs(const CaptureArguments& options) {
  if (options.output.path.empty()) {
    return;
  }
  std::vector<NamedPath> inputs = {{"the program", found_program(options.program.front())}};
  for (const layer::Option& option : layer::option_table()) {
    if (option.type != layer::OptionType::Path || std::strcmp(option.name, "spool") == 0) {
      continue;
    }
    const auto set = options.settings.find(option.name);
    if (set != options.settings.end() && !set->second.empty()) {
      inputs.push_back({flag_of(option), set->second});
    } else if (const char* value = std::getenv(option.variable); value != nullptr) {
      inputs.push_back({option.variable, value});
    }
  }
  const char* settings = std::getenv("RAYREPLAY_CAPTURE_SETTINGS");
  inputs.push_back({"the layer's settings", settings != nullptr ? settings : "vk_layer_settings.txt"});
  require_distinct({{"the spool of --output", options.output.path + ".spool"}}, inputs);
  for (std::size_t i = 1; i < options.program.size(); ++i) {
    inputs.push_back({"the program's arguments", options.program[i]});
  }
  require_distinct({{"--output", options.output.path}}, inputs);
}

/// The program's working folder may differ from ours.
void make_absolute(std::string& path) {
  if (!path.empty()) {
    path = fs::absolute(path).string();
  }
}

/// The layer reads only flat files of a known size. Errors are reported before the program starts; the layer itself
/// could only skip the swizzle.
void prepare_swizzle(const layer::Options& settings, const fs::path& spool, CaptureArguments& options) {
  if (settings.swizzle.empty()) {
    return;
  }
  const std::optional<trace::LaunchSize> own = scheduler::swizzle_size(settings.swizzle);
  if (!own && settings.swizzle_width == 0) {
    throw Error(
        ErrorKind::Usage,
        {"the size of the launches that the swizzle is for is not known", settings.swizzle, "a file without a size", "",
         "give --swizzle-size WIDTHxHEIGHT, or a swizzle in HDF5 (rayreplay swizzle -o s.h5)"});
  }
  const trace::LaunchSize size =
      settings.swizzle_width == 0
          ? *own
          : trace::LaunchSize{settings.swizzle_width, settings.swizzle_height, settings.swizzle_depth};
  const scheduler::Swizzle swizzle = scheduler::read_swizzle(settings.swizzle, size);
  const fs::path flat = spool / kFlatSwizzle;
  scheduler::write_swizzle(flat, swizzle, size, "", "", true);
  options.settings["swizzle"] = flat.string();
  options.settings["swizzle_size"] = fmt::format("{}x{}x{}", size.width, size.height, size.depth);
}

int fail(const CaptureFacts& facts) {
  const CaptureFailure failure = why_nothing(facts);
  console::tell("error: {}", format_error(failure.info));
  return failure.code;
}

/// The facts known before a spool is read.
CaptureFacts facts_of(const CaptureArguments& options, bool record, const console::ChildEnd& end) {
  CaptureFacts facts;
  facts.program = options.program.front();
  facts.end = end;
  facts.record = record;
  return facts;
}

int nothing_traced(const ingest::IngestResult& result, CaptureFacts facts) {
  for (const ingest::SpoolSummary& spool : result.spools) {
    facts.add(spool);
    for (const std::string& note : spool.notes) {
      console::log("  " + note);
    }
  }
  return fail(facts);
}

/// Called when nothing in the spool is needed any more, before the results are printed: a failure of printing must not
/// leave the spool behind.
void settle_spool(const fs::path& spool, const std::vector<fs::path>& files, const CaptureArguments& options) {
  if (options.keep_spool) {
    console::tell("the spool is kept in {}", spool.string());
  } else {
    remove_spool(spool, files);
  }
}

/// Finds modules of --shaders that the application did not use: the layer has not read their files.
void find_unused(const CaptureArguments& options, Timings& timings) {
  if (!options.modules) {
    return;
  }
  timings.not_asked_for.emplace();
  for (const layer::ListedModule& module : *options.modules) {
    if (std::find(timings.replaced.begin(), timings.replaced.end(), module.module) == timings.replaced.end()) {
      timings.not_asked_for->push_back(module.module);
    }
  }
}

void report_replaced(const CaptureArguments& options, const Timings& timings) {
  if (!options.modules) {
    return;
  }
  const std::vector<std::string>& left = *timings.not_asked_for;
  console::log(fmt::format("  shaders: {} of {} in {} replaced the application's own{}{}",
                           options.modules->size() - left.size(), counted(options.modules->size(), "module"),
                           options.settings.at("shaders"), left.empty() ? "" : "; not used: ", fmt::join(left, ", ")));
}

/// The spools of a run without events.
int report_times(const std::vector<fs::path>& files, const fs::path& spool, const CaptureArguments& options,
                 output::Format format, const CaptureFacts& given) {
  Timings timings = read_timings(files);
  find_unused(options, timings);
  report_replaced(options, timings);
  for (const std::string& fault : timings.faults) {
    console::tell("{}", fault);
  }
  for (const std::string& note : timings.notes) {
    console::log("  " + note);
  }
  settle_spool(spool, files, options);
  if (timings.launches.empty()) {
    CaptureFacts facts = timings.facts;
    facts.program = given.program;
    facts.end = given.end;
    facts.record = false;
    facts.notes = timings.notes.size();
    return fail(facts);
  }
  if (!given.end->succeeded()) {
    console::tell("{}; the times until then follow", end_text(*given.end));
  }
  print_timings(timings, format);
  return given.end->succeeded() ? 0 : kApplicationFailed;
}

/// If the layer could not write everything, the written part becomes a trace, but the command fails.
int finish_incomplete(const std::vector<fs::path>& files, const fs::path& spool, const CaptureArguments& options,
                      bool record, const std::vector<SpoolFailure>& failures, const console::ChildEnd& end) {
  log_failures(failures);
  console::tell("the recording is kept in {}", shell_word(spool.string()));
  if (!end.succeeded()) {
    console::tell("{}", end_text(end));
  }
  const output::Format format = options.format.format();
  if (!record) {
    const Timings timings = read_timings(files);
    if (!timings.launches.empty()) {
      print_timings(timings, format);
    }
    return static_cast<int>(ErrorKind::Output);
  }
  const std::unique_ptr<Progress> progress = console::make_progress();
  ingest::IngestOptions how;
  how.overwrite = options.output.force;
  how.progress = progress.get();
  const ingest::IngestResult result = ingest::ingest(files, options.output.path, how);
  log_traces(result);
  if (has_traces(result)) {
    print_launches(result, format);
  }
  return static_cast<int>(ErrorKind::Output);
}

/// The spools of a run with events.
int make_traces(const std::vector<fs::path>& files, const fs::path& spool, const CaptureArguments& options,
                output::Format format, const CaptureFacts& facts) {
  ingest::IngestResult result;
  try {
    const std::unique_ptr<Progress> progress = console::make_progress();
    ingest::IngestOptions how;
    how.overwrite = options.output.force;
    how.progress = progress.get();
    result = ingest::ingest(files, options.output.path, how);
  } catch (...) {
    console::tell("the recording is kept: rayreplay ingest {} -o {}", shell_word(spool.string()),
                  shell_word(options.output.path));
    throw;
  }
  const bool failed = !facts.end->succeeded();
  if (failed && has_traces(result)) {
    console::tell("{}; the trace has its recording up to then", end_text(*facts.end));
  } else if (failed && !result.traces.empty()) {
    console::tell("{}", end_text(*facts.end));
  }
  log_traces(result);
  if (result.traces.empty()) {
    settle_spool(spool, files, options);
    return nothing_traced(result, facts);
  }
  if (!has_traces(result)) {
    console::tell("the recording is kept in {}", shell_word(spool.string()));
    throw no_launch(options.output.path);
  }
  settle_spool(spool, files, options);
  print_launches(result, format);
  return failed ? kApplicationFailed : 0;
}

/// Runs the program; removes the spool's folder if it cannot be started.
console::ChildEnd run_under_layer(CaptureArguments options, const layer::Options& settings, const fs::path& spool) {
  try {
    prepare_swizzle(settings, spool, options);
    return console::run_child(options.program, layer_environment(options.settings, spool));
  } catch (...) {
    remove_spool(spool, {});
    throw;
  }
}

/// The options of the changed runs, as a user writes them. Usage where nothing can be compared.
std::string change_of(const CaptureArguments& options, const layer::Options& settings) {
  std::vector<std::string> words;
  for (const char* name : {"shaders", "swizzle"}) {
    if (const auto set = options.settings.find(name); set != options.settings.end() && !set->second.empty()) {
      words.push_back(fmt::format("--{} {}", name, set->second));
    }
  }
  if (settings.insert_ser) {
    const std::string& given = options.settings.at("insert_ser");
    words.push_back(given == "none" ? "--insert-ser" : fmt::format("--insert-ser='{}'", given));
  }
  if (settings.record) {
    throw Error(ErrorKind::Usage, {"runs are compared by their times alone", "--alternate", "events are recorded too",
                                   "--record off", "add --record off, and leave -o out"});
  }
  if (words.empty()) {
    throw Error(ErrorKind::Usage, {"there is nothing to compare the program with", "--alternate", "",
                                   "--shaders, --insert-ser or --swizzle", "add one of them"});
  }
  if (*options.alternation.asked < 2 || *options.alternation.asked > 10000) {
    throw Error(ErrorKind::Usage, {"a confidence interval needs two pairs of runs or more", "--alternate",
                                   std::to_string(*options.alternation.asked), "2 to 10000", ""});
  }
  return fmt::format("{}", fmt::join(words, " "));
}

/// Usage for options of a comparison without one.
void require_alternation(const CaptureArguments& options) {
  if (options.alternation.asked) {
    return;
  }
  const bool warm = options.alternation.warm_up != AlternationOptions{}.warm_up;
  if (warm || !options.alternation.pictures.empty()) {
    throw Error(ErrorKind::Usage, {"the option belongs to a comparison of runs", warm ? "--warm-up" : "--picture", "",
                                   "--alternate N", "add it, or leave the option out"});
  }
}

/// One run for its times; a failure of the run is its exit code.
std::optional<int> run_for_times(const CaptureArguments& options, const layer::Options& settings, Timings& timings) {
  const fs::path spool = make_spool_folder("", false);
  const console::ChildEnd end = run_under_layer(options, settings, spool);
  const std::vector<fs::path> files = spools_in(spool);
  if (const auto failures = spool_failures(spool); !failures.empty()) {
    log_failures(failures);
    console::tell("the recording is kept in {}", shell_word(spool.string()));
    return static_cast<int>(ErrorKind::Output);
  }
  timings = read_timings(files);
  remove_spool(spool, files);
  if (timings.launches.empty()) {
    CaptureFacts facts = timings.facts;
    facts.program = options.program.front();
    facts.end = end;
    facts.record = false;
    facts.notes = timings.notes.size();
    return fail(facts);
  }
  if (!end.succeeded()) {
    console::tell("error: {}, so its times are not compared", end_text(end));
    return kApplicationFailed;
  }
  return std::nullopt;
}

/// The program with and without the options that change it, in turn.
int alternate(const CaptureArguments& changed, const layer::Options& settings, const std::string& change,
              output::Format format) {
  CaptureArguments own = changed;
  layer::Options own_settings = settings;
  for (const char* name : {"shaders", "swizzle", "swizzle_size", "insert_ser"}) {
    own.settings[name].clear();
  }
  own_settings.swizzle.clear();
  Alternation alternation(changed.alternation, changed.program.front(), change);
  alternation.check_pictures(changed.output.force);
  const std::uint32_t runs = 2 * *changed.alternation.asked;
  std::vector<std::string> notes;
  for (std::uint32_t number = 0; number < runs; ++number) {
    const bool is_own = Alternation::kind_of(number) == RunKind::Own;
    alternation.remove_pictures();
    Timings timings;
    if (const auto code = run_for_times(is_own ? own : changed, is_own ? own_settings : settings, timings)) {
      return *code;
    }
    if (!is_own) {
      find_unused(changed, timings);
      if (number == 1) {
        report_replaced(changed, timings);
        alternation.require_change(settings, timings);
      }
      for (const std::string& note : timings.notes) {
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
          console::log("  " + note);
          notes.push_back(note);
        }
      }
    }
    alternation.add(is_own ? RunKind::Own : RunKind::Changed, timings);
    console::log(fmt::format("run {} of {}, {}: {:.3f} ms a launch", number + 1, runs,
                             is_own ? "the program's own" : change, alternation.runs().back().milliseconds));
  }
  console::print(output::render(alternation.result(notes), format));
  return alternation.differs(RunKind::Changed) && !alternation.differs(RunKind::Own) ? kPicturesDiffer : 0;
}

int act(const CaptureArguments& given) {
  CaptureArguments options = given;  // paths become absolute
  const output::Format format = options.format.format();
  compile_hint(options);
  const layer::Options settings = checked_settings(options);
  require_profile(options);
  require_alternation(options);
  const std::string change = options.alternation.asked ? change_of(given, settings) : "";
  check_outputs(options, settings.record);
  check_inputs(options);
  make_absolute(options.settings["trigger_file"]);
  if (!settings.shaders.empty()) {
    options.modules = check_shader_folder(settings.shaders);
    make_absolute(options.settings["shaders"]);
  }
  if (settings.record) {
    require_writable(options.output.path, options.output.force);
  }
  if (options.alternation.asked) {
    return alternate(options, settings, change, format);
  }
  const fs::path spool = make_spool_folder(options.output.path, options.output.force);
  const console::ChildEnd end = run_under_layer(options, settings, spool);
  const CaptureFacts facts = facts_of(options, settings.record, end);
  const std::vector<fs::path> files = spools_in(spool);
  if (const auto failures = spool_failures(spool); !failures.empty()) {
    return finish_incomplete(files, spool, options, settings.record, failures, end);
  }
  if (files.empty()) {
    remove_spool(spool, {});
    return fail(facts);
  }
  return settings.record ? make_traces(files, spool, options, format, facts)
                         : report_times(files, spool, options, format, facts);
}

void declare(CLI::App& command, CaptureArguments& options) {
  command.add_option("program", options.program, "Program and arguments, behind --")->type_name("PROGRAM")->required();
  for (const layer::Option& option : layer::option_table()) {
    if (std::strcmp(option.name, "spool") == 0) {
      continue;  // its temporary is beside the output
    }
    std::string& value = options.settings[option.name];
    if (std::strcmp(option.name, "insert_ser") == 0) {
      // A flag, so that it never takes the next word for its value.
      command.add_flag(flag_of(option) + "{none}", value, option.text)->type_name("[=HINT]")->group("Capture");
    } else if (option.type == layer::OptionType::Switch && std::strcmp(option.default_value, "off") == 0) {
      command
          .add_flag_callback(
              flag_of(option), [&value] { value = "on"; }, option.text)
          ->group("Capture");
    } else {
      add_plain(command, flag_of(option), value, option.type == layer::OptionType::Switch ? "on|off" : "VALUE",
                option.text, "Capture");
    }
  }
  command.add_flag("--keep-spool", options.keep_spool,
                   "Keep what the layer wrote (FILE.spool) beside the trace; its place is printed");
  options.output.path.clear();
  options.output.add_to(command, "Trace to write (.rrt); further devices get -2, -3, …; none with --record off");
  options.format.add_to(command);
  const char* group = "Comparison of runs";
  add_plain(command, "--alternate", options.alternation.asked, "N",
            "With --record off and --shaders, --insert-ser or --swizzle: run the program N times as it is and N times "
            "with these, in turn, and compare times and pictures",
            group);
  add_plain(command, "--picture", options.alternation.pictures, "FILE",
            "A file that each run writes, and whose bytes are compared; several may be given", group)
      ->allow_extra_args(false);
  add_value(command, "--warm-up", options.alternation.warm_up, "N", "First launches of each run that do not count",
            group);
}

}  // namespace

void add_capture_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"capture", "Traces",
               "Run a Vulkan application and record its rays:  rayreplay capture -o t.rrt -- ./app arguments"},
              declare, act);
}

}  // namespace rayreplay::app
