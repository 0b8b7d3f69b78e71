#include "sim/sweep/results/known_inputs.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "sim/sweep/results/schema.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

/// `hash` is the content from which a row of `trace` was made. A file that was unreadable at the beginning is not
/// checked.
void require_known(const std::vector<InputFile>& inputs, std::uint64_t run, const std::string& trace,
                   const std::string& hash, const std::string& fix) {
  if (trace.empty() || hash.empty()) {
    return;  // a workload, not a file
  }
  const fs::path name = fs::path(trace).filename();
  std::vector<std::string> expected;
  for (const InputFile& input : inputs) {
    if (fs::path(input.path).filename() == name) {
      expected.push_back(input.hash);
    }
  }
  if (!expected.empty() && std::ranges::find(expected, hash) == expected.end()) {
    throw Error(ErrorKind::Input, {fmt::format("the file has changed since the sweep began: run {} read it", run),
                                   trace, "hash " + hash, fmt::format("hash {}", fmt::join(expected, " or ")), fix});
  }
}

std::string text_of(const ResultRow& row, std::string_view key) {
  return row.settings.has(key) ? row.settings.text(key) : std::string();
}

}  // namespace

void require_known(const std::vector<InputFile>& inputs, const ResultRow& row, const std::string& fix) {
  if (!row.outcome.failure && text_of(row, "workload").empty()) {
    require_known(inputs, row.run, text_of(row, "trace"), row.outcome.trace_hash, fix);
  }
}

void require_known_rows(const Connection& connection, const std::string& fix) {
  const std::vector<InputFile> inputs = read_inputs(connection);
  if (inputs.empty()) {
    return;
  }
  Statement rows = connection.prepare(
      "SELECT min(run), trace, trace_hash FROM runs WHERE status = 'ok' AND trace <> '' AND"
      " coalesce(workload, '') = '' GROUP BY trace, trace_hash ORDER BY 1");
  while (rows.step()) {
    require_known(inputs, static_cast<std::uint64_t>(rows.whole(0)), rows.text(1), rows.text(2), fix);
  }
}

}  // namespace rayreplay::sweep
