// rayreplay profile: what happened inside the shaders of a captured application.
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/report/profile/access_images.hpp"
#include "app/report/profile/access_table.hpp"
#include "app/report/profile/agreement_table.hpp"
#include "app/report/profile/guard_table.hpp"
#include "app/report/profile/path_table.hpp"
#include "app/report/profile/pixel_instructions.hpp"
#include "app/report/profile/profile_report.hpp"
#include "app/report/profile/profile_table.hpp"
#include "app/report/profile/register_chart.hpp"
#include "app/report/profile/value_table.hpp"
#include "app/report/shaders/pipeline_facts.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/parameters.hpp"
#include "capture/profile/access_names.hpp"
#include "capture/profile/access_notes.hpp"
#include "capture/profile/access_profile.hpp"
#include "capture/profile/guard_profile.hpp"
#include "capture/profile/merge.hpp"
#include "capture/profile/shader_profile.hpp"
#include "capture/profile/value_profile.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/machine/machine.hpp"
#include "sim/memory/images/image_layout.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint32_t kTop = 8;  ///< values of a load

struct ProfileArguments {
  std::string path;
  bool blocks = false;
  std::string report;
  std::optional<std::uint32_t> launch;
  std::optional<std::string> machine;
  std::uint32_t warp_size = 0;
  bool force = false;
  std::string rows;
  std::optional<std::uint32_t> top;
  FormatOption format;
  // of the subcommand
  std::vector<std::string> runs;
  OutputOption merged;
};

/// Input if a trace has none of the counts that are asked for. `group`: the trace's group that would have them.
void require_counts(std::size_t rows, bool wanted, const char* what, const char* group, const char* option,
                    const std::string& path) {
  if (wanted && rows == 0) {
    throw Error(ErrorKind::Input, {fmt::format("the trace has no counts of {}", what), path, "", group,
                                   fmt::format("capture the application with --profile {}", option)});
  }
}

/// Maps and histograms are of launches, which the profile alone does not have. A merged profile has none.
void add_pixels(report::ProfileContext& context, const trace::Trace& whole, const ProfileArguments& options) {
  context.maps_launch = options.launch.value_or(0);
  context.pixels = report::pixel_histograms(whole, context.paths, options.path);
  if (whole.launches.empty() && !options.launch) {
    return;
  }
  const trace::Launch& launch = experiment::launch_of(whole, context.maps_launch, "--launch");
  context.maps = report::instruction_maps(whole, context.paths, launch, options.path);
}

void add_accesses(report::ProfileContext& context, const trace::Trace& whole) {
  context.image_layout = memory::kAssumedImageLayout;
  context.accesses.accesses = profile::access_profile(whole, report::images_in_layout(whole, context.image_layout));
  context.accesses.names = profile::access_names(whole.shaders, whole.access_sites);
  context.images = report::image_table(whole, context.accesses.names);
  std::uint64_t recorded = 0;
  for (const profile::SiteAccesses& of : context.accesses.accesses) {
    recorded += of.lanes;
  }
  context.accesses.notes = profile::access_notes(whole.header, recorded);
}

void add_registers(report::ProfileContext& context, const ProfileArguments& options) {
  context.machine = machine::load_machine(options.machine.value_or(
      std::get<std::string>(experiment::find_parameter(experiment::kMachineName)->declared.default_value)));
  context.lanes = report::occupancy_warps(options.warp_size, context.trace.header.warp_size, context.machine).lanes;
  context.registers = report::register_marks(context.trace, context.shaders, context.machine, context.lanes);
}

int show(const ProfileArguments& options) {
  const output::Format format = options.format.format();
  if (options.force && options.report.empty()) {
    throw Error(ErrorKind::Usage,
                {"there is no output to replace", "--force", "", "--report DIR", "leave --force out, or add --report"});
  }
  if (options.launch && options.report.empty()) {
    throw Error(ErrorKind::Usage, {"no maps of a launch are written", "--launch", std::to_string(*options.launch),
                                   "--report DIR", "leave --launch out, or add --report"});
  }
  if (options.warp_size != 0 && options.report.empty()) {
    throw Error(ErrorKind::Usage, {"no chart of occupancy is drawn", "--warp-size", std::to_string(options.warp_size),
                                   "--report DIR", "leave --warp-size out, or add --report"});
  }
  if (options.machine && options.report.empty()) {
    throw Error(ErrorKind::Usage, {"no chart of occupancy is written", "--machine", *options.machine, "--report DIR",
                                   "leave --machine out, or add --report"});
  }
  require_distinct({{"--report", options.report}}, {{"TRACE", options.path}});
  if (!options.report.empty()) {
    output::require_folder_writable(options.report, options.force, report::profile_folder());
  }
  const bool asks_values = options.rows == "values" || options.rows == "uniform-values";
  require_no_memory_trace(options.path);
  const trace::Profile trace = trace::load_profile(options.path);
  const std::size_t agreement_rows = trace.branch_counts.size() + trace.load_counts.size();
  const bool has_paths = trace.paths.size() != 0;
  // Accesses alone, or asked for: the only table that needs the launches.
  const bool has_others = trace.block_counts.size() + agreement_rows + trace.value_counts.size() != 0 || has_paths;
  const bool shows_memory =
      options.rows == "memory" || (!has_others && trace.access_sites.size() != 0 && options.rows.empty());
  require_counts(trace.access_sites.size(), options.rows == "memory", "accesses to memory", "/profile/access_sites",
                 "memory", options.path);
  // Values alone, or asked for.
  const bool shows_values = asks_values || (trace.block_counts.size() + agreement_rows == 0 && !has_paths &&
                                            !shows_memory && options.rows.empty());
  require_counts(trace.value_counts.size(), asks_values || options.top.has_value(), "values of loads",
                 "/profile/values", "values", options.path);
  require_counts(trace.block_counts.size() + agreement_rows + (shows_values ? trace.value_counts.size() : 0),
                 !(has_paths || shows_memory), "basic blocks, branches or loads", "/profile", "all", options.path);
  require_counts(trace.block_counts.size(), options.blocks, "basic blocks", "/profile/blocks", "blocks", options.path);
  require_counts(trace.branch_counts.size(), options.rows == "branches", "branches", "/profile/branches", "branches",
                 options.path);
  require_counts(trace.load_counts.size(), options.rows == "loads", "loads", "/profile/loads", "loads", options.path);
  require_counts(agreement_rows, options.rows == "uniformity", "branches or loads",
                 "/profile/branches or /profile/loads", "branches,loads", options.path);
  require_counts(trace.paths.size(), options.rows == "paths", "paths", "/profile/paths", "paths", options.path);
  require_counts(trace.block_counts.size(), options.rows == "guards", "basic blocks", "/profile/blocks", "blocks",
                 options.path);
  const auto shaders =
      profile::shader_profiles({trace.shaders, trace.block_counts, trace.header.warp_size}, options.path);
  const auto agreement = profile::agreement_profile(trace, options.path);
  const auto paths = profile::path_profile(trace.shaders, trace.paths, options.path);
  report::ProfileContext context{options.path, trace, shaders, agreement, paths};
  context.top_values = options.top.value_or(kTop);
  if (trace.value_counts.size() != 0) {
    context.values = profile::value_profile(trace, options.path);
  }
  const std::vector<profile::ValuePlace>& values = context.values;
  require_counts(trace.paths.size(), options.launch.has_value(), "paths, which maps need", "/profile/paths", "paths",
                 options.path);
  const bool reports = !options.report.empty();
  const bool needs_accesses = shows_memory || (reports && trace.access_sites.size() != 0);
  if (needs_accesses || (reports && has_paths)) {
    const trace::Trace whole = trace::load(options.path);
    if (needs_accesses) {
      add_accesses(context, whole);
    }
    if (reports && has_paths) {
      add_pixels(context, whole, options);
    }
  }
  if (reports) {
    add_registers(context, options);
    report::write_profile_report(options.report, options.force, context);
  }
  std::optional<output::Table> memory;
  if (shows_memory) {
    memory = report::access_table(trace.shaders, trace.access_sites, context.accesses);
  }
  const auto value_table = [&] {
    return report::value_table(trace, values, context.top_values, options.rows == "uniform-values");
  };
  const auto uniformity = [&] { return report::agreement_table(trace, agreement); };
  const auto table = [&] {
    if (options.blocks) {
      return report::profile_block_table(trace, shaders);
    }
    if (memory) {
      return *memory;
    }
    if (shows_values) {
      return value_table();
    }
    if (options.rows == "branches" || options.rows == "loads") {
      const bool branches = options.rows == "branches";
      return report::instruction_table(trace, branches ? agreement.branches : agreement.loads, branches);
    }
    if (options.rows == "paths") {
      return report::path_table(trace, paths);
    }
    if (options.rows == "guards") {
      return report::guard_table(trace, profile::guard_profile(trace.shaders, shaders));
    }
    if (options.rows == "uniformity") {
      return uniformity();
    }
    return !shaders.empty()          ? report::profile_shader_table(trace, shaders)
           : context.has_agreement() ? uniformity()
                                     : report::path_table(trace, paths);
  };
  const auto text = [&] {
    std::string all = output::to_text(table());
    if (!options.blocks && options.rows.empty()) {
      const bool has_agreement = context.has_agreement();
      all += !shaders.empty() && has_agreement ? "\n" + output::to_text(uniformity()) : "";
      all += (!shaders.empty() || has_agreement) && has_paths ? "\n" + output::to_text(report::path_table(trace, paths))
                                                              : "";
      all += !shows_values && !values.empty() ? "\n" + output::to_text(value_table()) : "";
    }
    return all;
  };
  const auto json = [&] {
    nlohmann::ordered_json document = report::profile_json(context, options.blocks);
    if (has_paths) {
      document["paths"] = to_json(report::path_table(trace, paths));
    }
    if (memory) {
      document["memory"] = to_json(*memory);
    }
    if (!values.empty()) {
      document[options.rows == "uniform-values" ? "uniform_values" : "values"] = to_json(value_table());
    }
    if (options.rows == "branches" || options.rows == "loads" || options.rows == "guards") {
      document[options.rows] = to_json(table());
    }
    return document;
  };
  if (format != output::Format::Json) {
    for (const std::string& note : context.accesses.notes) {
      console::note("{}", note);
    }
  }
  console::print(output::render({text, table, json}, format));
  if (!options.report.empty()) {
    console::tell("report: {}/index.html", options.report);
  }
  return 0;
}

int merge(const ProfileArguments& options) {
  for (const auto& [given, name] :
       {std::pair{!options.path.empty(), "TRACE before merge"}, std::pair{options.blocks, "--blocks"},
        std::pair{!options.rows.empty(), "--rows"}, std::pair{options.top.has_value(), "--top"},
        std::pair{!options.report.empty(), "--report"}, std::pair{options.launch.has_value(), "--launch"},
        std::pair{options.force, "--force before merge"}}) {
    if (given) {
      throw Error(ErrorKind::Usage, {"this does not go with merge", name, "", "profile merge TRACE TRACE… -o FILE",
                                     "merge first, then rayreplay profile FILE"});
    }
  }
  if (options.runs.size() < 2) {
    throw Error(ErrorKind::Usage, {"a merge needs two runs or more", "profile merge", options.runs.front(),
                                   "TRACE TRACE…", "name the traces of all runs"});
  }
  require_file_name(options.merged.path, "--output");
  std::vector<NamedPath> inputs;
  for (const std::string& run : options.runs) {
    inputs.push_back({"TRACE", run});
  }
  require_distinct({{"--output", options.merged.path}}, inputs);
  options.merged.check();
  std::vector<profile::Run> runs;
  for (const std::string& run : options.runs) {
    require_no_memory_trace(run);
    runs.push_back(profile::load_run(run));
  }
  const profile::Merged merged = profile::merge(runs);
  trace::write(merged.trace, options.merged.path, {.overwrite = options.merged.force});
  for (const std::string& remark : merged.remarks) {
    console::note("{}", remark);
  }
  for (const std::string& reason : merged.reasons) {
    console::note("{}", reason);
  }
  const std::string pipelines = merged.pipelines == 0 ? "no pipelines"
                                                      : fmt::format("{} of {} in all of them", merged.common_pipelines,
                                                                    counted(merged.pipelines, "pipeline"));
  console::tell("{} merged in {}: {}", counted(options.runs.size(), "run"), options.merged.path, pipelines);
  return 0;
}

void declare(CLI::App& command, ProfileArguments& options) {
  add_trace_file(command, options.path);
  command.add_flag("--blocks", options.blocks, "A row for each basic block in place of one for each shader");
  add_value(command, "--rows", options.rows, "NAME",
            "Rows in place of those of shaders: branches, loads, uniformity (sums of both), paths (of the shaders' "
            "calls), values (of loads), uniform-values (that all lanes of a group had), memory (accesses to "
            "buffers and images), or guards (of rewritten shaders: held and failed)",
            "Output")
      ->check(
          CLI::IsMember({"branches", "loads", "uniformity", "paths", "values", "uniform-values", "memory", "guards"}))
      ->excludes("--blocks");
  add_value(command, "--top", options.top, "N", fmt::format("Values of each load, the most frequent ones [{}]", kTop),
            "Output")
      ->check(CLI::Range(1U, 0xFFFFFFFFU));
  options.format.add_to(command);
  add_plain(command, "--report", options.report, "DIR", "Folder to write: one HTML page with charts, and the data",
            "Report");
  add_value(command, "--launch", options.launch, "N", "Launch of the report's maps of executed instructions (paths)",
            "Report");
  add_plain(command, "--machine", options.machine, "NAME|FILE",
            "Machine of the report's chart of registers and occupancy", "Report");
  add_value(command, "--warp-size", options.warp_size, "N",
            "Threads of a warp in that chart; 0: the trace's, or the machine's", "Report")
      ->check(CLI::Range(0U, scheduler::kMaxWarpSize));
  add_force(command, options.force);
}

void declare_merge(CLI::App& command, ProfileArguments& options) {
  command.add_option("run", options.runs, "Traces of two or more runs of one application, in any order")
      ->type_name("TRACE")
      ->required();
  options.merged.add_required_to(command, "Trace to write: shaders and summed counts, no launches");
}

}  // namespace

void add_profile_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand(
      "profile",
      "Inside the shaders of an application captured with --profile: executions of basic blocks, uniform branches "
      "and loads, paths of calls, loaded values, accesses to buffers and images");
  command->group("Traces");
  auto options = std::make_shared<ProfileArguments>();
  declare(*command, *options);
  CLI::App* merged = command->add_subcommand("merge", "Add the counts of several runs of one application");
  declare_merge(*merged, *options);
  command->require_subcommand(0, 1);
  command->callback([&session, command, merged, options] {
    const bool merges = command->got_subcommand(merged);
    if (!merges && options->path.empty()) {
      throw CLI::RequiredError("trace");
    }
    session.action = [options, merges] { return merges ? merge(*options) : show(*options); };
  });
}

}  // namespace rayreplay::app
