// Answers for another packing, order or policy: the rows of `rayreplay whatif`.
#include <fmt/format.h>

#include "app/report/packings/whatif_table.hpp"
#include "base/shell_word.hpp"
#include "sim/engine/stages/simt.hpp"
#include "viewer/content/answers.hpp"

namespace rayreplay::viewer {

nlohmann::ordered_json what_if_facts(experiment::Workbench& bench, const experiment::Experiment& experiment,
                                     const std::string& trace_file, const experiment::Settings& asked) {
  experiment::WhatIfWanted wanted;
  wanted.packings = {experiment.settings->text("packing")};
  const experiment::WhatIfResult result = experiment::what_if(bench, experiment, wanted);
  const std::int64_t launch = experiment.settings->integer("launch");
  std::string command = "rayreplay whatif " + shell_word(trace_file);
  if (launch != 0) {
    command += fmt::format(" --launch {}", launch);
  }
  for (const auto& [key, setting] : asked.all()) {
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
    if (parameter == nullptr || key == "launch" || key == "trace" || key == "workload") {
      continue;
    }
    const std::string value = to_text(setting.value);
    // Switches have flags without a value.
    command += parameter->flag.empty() || parameter->is_switch() || parameter->is_open
                   ? " --set " + shell_word(key + "=" + value)
                   : " " + parameter->flag + " " + shell_word(value);
  }
  return {{"rows", output::to_json(report::whatif_table(result, false))}, {"command", command}};
}

}  // namespace rayreplay::viewer
