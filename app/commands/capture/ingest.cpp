// rayreplay ingest: converts the spool files of a captured application to a trace.
#include <algorithm>
#include <memory>

#include "app/commands/capture/capture_end.hpp"
#include "app/commands/capture/capture_report.hpp"
#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "base/error.hpp"
#include "base/output_file.hpp"

namespace rayreplay::app {
namespace {

struct IngestArguments {
  std::vector<std::string> spools;
  OutputOption output;
  FormatOption format;
};

int act(const IngestArguments& options) {
  const output::Format format = options.format.format();
  require_writable(options.output.path, options.output.force);
  std::vector<std::filesystem::path> files;
  std::vector<SpoolFailure> failures;
  for (const std::string& spool : options.spools) {
    const auto incomplete = spool_failures(spool);
    failures.insert(failures.end(), incomplete.begin(), incomplete.end());
    const auto found = ingest::find_spools(spool);
    files.insert(files.end(), found.begin(), found.end());
  }
  std::vector<NamedPath> inputs;
  for (const auto& file : files) {
    inputs.push_back({"the spool", file.string()});
  }
  require_distinct({{"--output", options.output.path}}, inputs);
  const std::unique_ptr<Progress> progress = console::make_progress();
  ingest::IngestOptions how;
  how.overwrite = options.output.force;
  how.progress = progress.get();
  log_failures(failures);
  const ingest::IngestResult result = ingest::ingest(files, options.output.path, how);
  log_traces(result);
  if (!failures.empty()) {
    if (has_traces(result)) {
      print_launches(result, format);
    }
    return static_cast<int>(ErrorKind::Output);
  }
  if (result.traces.empty()) {
    CaptureFacts facts;
    facts.program = options.spools.front();
    for (const ingest::SpoolSummary& spool : result.spools) {
      facts.add(spool);
      for (const std::string& note : spool.notes) {
        console::log("  " + note);
      }
    }
    throw Error(ErrorKind::Missing, why_nothing(facts).info);
  }
  if (!has_traces(result)) {
    throw no_launch(options.output.path);
  }
  print_launches(result, format);
  return 0;
}

void declare(CLI::App& command, IngestArguments& options) {
  command.add_option("spools", options.spools, "Spool files, or the folder that holds them")
      ->type_name("SPOOL")
      ->required();
  options.output.add_required_to(command, "Trace to write (.rrt); further devices get -2, -3, …");
  options.format.add_to(command);
}

}  // namespace

void add_ingest_command(CLI::App& root, Session& session) {
  add_command(root, session, {"ingest", "Traces", "Turn what a captured application left behind into a trace"}, declare,
              act);
}

}  // namespace rayreplay::app
