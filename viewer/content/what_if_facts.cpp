// Answers for another packing, order or policy: the rows of `rayreplay whatif`.
#include <fmt/format.h>

#include "app/report/packings/whatif_table.hpp"
#include "sim/engine/stages/simt.hpp"
#include "viewer/content/answers.hpp"

namespace rayreplay::viewer {
namespace {

/// A word of a command line, quoted for a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

}  // namespace

nlohmann::ordered_json what_if_facts(experiment::Workbench& bench, const experiment::Experiment& experiment,
                                     const std::string& trace_file,
                                     const std::vector<std::pair<std::string, std::string>>& keys) {
  experiment::WhatIfWanted wanted;
  wanted.packings = {experiment.settings->text("packing")};
  const experiment::WhatIfResult result = experiment::what_if(bench, experiment, wanted);
  const std::int64_t launch = experiment.settings->integer("launch");
  std::string command = "rayreplay whatif " + quoted(trace_file);
  if (launch != 0) {
    command += fmt::format(" --launch {}", launch);
  }
  for (const auto& [key, value] : keys) {
    command += fmt::format(" --{} {}", key == "warp_size" ? "warp-size" : key, quoted(value));
  }
  return {{"rows", output::to_json(report::whatif_table(result, false))}, {"command", command}};
}

}  // namespace rayreplay::viewer
