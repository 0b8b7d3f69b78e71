// rayreplay profile: what happened inside the shaders of a captured application.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/report/profile/profile_report.hpp"
#include "app/report/profile/profile_table.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "capture/profile/merge.hpp"
#include "capture/profile/shader_profile.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"

namespace rayreplay::app {
namespace {

struct ProfileArguments {
  std::string path;
  bool blocks = false;
  std::string report;
  bool force = false;
  FormatOption format;
  // of the subcommand
  std::vector<std::string> runs;
  OutputOption merged;
};

int show(const ProfileArguments& options) {
  const output::Format format = options.format.format();
  require_distinct({{"--report", options.report}}, {{"TRACE", options.path}});
  if (!options.report.empty()) {
    output::require_folder_writable(options.report, options.force, report::profile_folder());
  }
  require_no_memory_trace(options.path);
  const trace::Profile trace = trace::load_profile(options.path);
  if (trace.block_counts.size() == 0) {
    throw Error(ErrorKind::Input, {"the trace has no counts of basic blocks", options.path, "", "/profile/blocks",
                                   "capture the application with --profile blocks"});
  }
  const auto shaders =
      profile::shader_profiles({trace.shaders, trace.block_counts, trace.header.warp_size}, options.path);
  const report::ProfileContext context{options.path, trace, shaders};
  if (!options.report.empty()) {
    report::write_profile_report(options.report, options.force, context);
  }
  const auto table = [&] {
    return options.blocks ? report::profile_block_table(trace, shaders) : report::profile_shader_table(trace, shaders);
  };
  console::print(output::render(
      {[&] { return output::to_text(table()); }, table, [&] { return report::profile_json(context, options.blocks); }},
      format));
  if (!options.report.empty()) {
    console::tell("report: {}/index.html", options.report);
  }
  return 0;
}

int merge(const ProfileArguments& options) {
  for (const auto& [given, name] :
       {std::pair{!options.path.empty(), "TRACE before merge"}, std::pair{options.blocks, "--blocks"},
        std::pair{!options.report.empty(), "--report"}}) {
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
    runs.push_back({run, trace::load_profile(run)});
  }
  const profile::Merged merged = profile::merge(std::move(runs));
  trace::write(merged.trace, options.merged.path, {.overwrite = options.merged.force});
  for (const std::string& remark : merged.remarks) {
    console::note("{}", remark);
  }
  console::tell("{} merged in {}: {} of {} in all of them", counted(options.runs.size(), "run"), options.merged.path,
                merged.common_pipelines, counted(merged.pipelines, "pipeline"));
  return 0;
}

void declare(CLI::App& command, ProfileArguments& options) {
  add_trace_file(command, options.path);
  command.add_flag("--blocks", options.blocks, "A row for each basic block in place of one for each shader");
  options.format.add_to(command);
  add_plain(command, "--report", options.report, "DIR", "Folder to write: one HTML page with charts, data", "Report");
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
      "profile", "Inside the shaders of an application captured with --profile blocks: executions of basic blocks");
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
