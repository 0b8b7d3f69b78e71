// rayreplay merge: joins the databases of a sweep's shards.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/report/export/table.hpp"
#include "base/count_text.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/results/reader.hpp"

namespace rayreplay::app {
namespace {

constexpr std::size_t kMaxRangesShown = 20;

struct MergeArguments {
  std::string output;
  std::vector<std::string> inputs;
};

/// "0–3, 7, 9–12", the first few.
std::string missing_text(const std::vector<bool>& finished) {
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t first = 0; first < finished.size(); ++first) {
    if (finished[first]) {
      continue;
    }
    std::size_t last = first;
    while (last + 1 < finished.size() && !finished[last + 1]) {
      ++last;
    }
    if (ranges++ == kMaxRangesShown) {
      return text + ", …";
    }
    text += text.empty() ? "" : ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}–{}", first, last);
    first = last;
  }
  return text;
}

int act(const MergeArguments& options) {
  require_file_name(options.output, "--output");
  std::vector<NamedPath> inputs;
  for (const std::string& input : options.inputs) {
    inputs.push_back({"SHARD", input});
  }
  require_distinct({{"--output", options.output}}, inputs);
  sweep::About about = sweep::ResultsReader(options.inputs.front()).about();
  about.shard = "1/1";
  // Checks that all belong to one sweep before anything is written.
  for (const std::string& input : options.inputs) {
    const sweep::About other = sweep::ResultsReader(input).about();
    if (other.definition_hash != about.definition_hash) {
      throw Error(ErrorKind::Usage, {"the databases are of different sweeps", input, other.definition_hash,
                                     fmt::format("{} as {}", about.definition_hash, options.inputs.front()),
                                     "merge the shards of one sweep"});
    }
    if (other.tool_version != about.tool_version) {
      throw Error(ErrorKind::Usage, {"the databases are of different versions of rayreplay", input, other.tool_version,
                                     fmt::format("{} as {}", about.tool_version, options.inputs.front()),
                                     "evaluate all shards with one rayreplay"});
    }
  }
  sweep::ResultsWriter results(options.output, about, false);
  std::uint64_t rows = 0;
  for (const std::string& input : options.inputs) {
    rows += results.merge(input);
  }
  results.commit();
  const std::vector<bool> finished = results.finished(false);
  const std::string missing = missing_text(finished);
  // Databases may have rows in common, and the file may already have some.
  const std::uint64_t there = sweep::ResultsReader(options.output).count();
  console::tell("{} {} in {}; {} {} read from {}", counted(there, "row"), there == 1 ? "is" : "are", options.output,
                with_separators(rows), rows == 1 ? "was" : "were", counted(options.inputs.size(), "database"));
  if (!missing.empty()) {
    console::warn(
        "runs of the sweep are missing, or to be tried again: {}. Fix: run their "
        "shards to the end, "
        "or the sweep itself with -o {}",
        missing, options.output);
  }
  return 0;
}

void declare(CLI::App& command, MergeArguments& options) {
  command.add_option("SHARD", options.inputs, "Databases of one sweep, in any order")->type_name("FILE")->required();
  command.add_option("-o,--output", options.output, "Database to write; rows are added to what it holds of this sweep")
      ->type_name("FILE")
      ->required();
}

}  // namespace

void add_merge_command(CLI::App& root, Session& session) {
  add_command(root, session, {"merge", "Experiments", "Join the databases of a sweep's shards"}, declare, act);
}

}  // namespace rayreplay::app
