// The files that a sweep reads: sweep_inputs of runner.hpp.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "sim/sweep/definition/paths.hpp"
#include "sim/sweep/workers/runner.hpp"

namespace rayreplay::sweep {
namespace {

bool is_input_key(const std::string& key) {
  const std::string base = key.substr(0, key.find(':'));
  return base == "trace" || base == "workload";
}

void add_input(std::vector<InputFile>& inputs, InputFile input) {
  if (std::ranges::find(inputs, input) == inputs.end()) {
    inputs.push_back(std::move(input));
  }
}

/// Machines and hints are collected from the definition, not from its runs: their content may decide which runs exist.
void add_other_files(const Definition& definition, std::vector<InputFile>& inputs) {
  const auto add = [&](const std::string& key, const ParameterValue& value) {
    for (const std::string& path : is_input_key(key) ? std::vector<std::string>{} : paths_in(key, value)) {
      if (std::optional<std::string> hash = file_hash(path)) {
        add_input(inputs, {written_path(definition, path), std::move(*hash)});
      }
    }
  };
  for (const auto& [key, setting] : definition.base.all()) {
    add(key, setting.value);
  }
  for (const Factor& factor : definition.factors) {
    for (const Axis& axis : factor.axes) {
      for (const ParameterValue& value : axis.values) {
        add(axis.key, value);
      }
    }
  }
}

/// One run for each combination of values of the axes that name inputs.
std::vector<std::uint64_t> runs_by_input(const Plan& plan) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < plan.keys().size(); ++i) {
    if (is_input_key(plan.keys()[i])) {
      axes.push_back(i);
    }
  }
  if (axes.empty()) {
    return plan.runs() > 0 ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{};
  }
  std::set<std::vector<std::string>> seen;
  std::vector<std::uint64_t> runs;
  for (std::uint64_t run = 0; run < plan.runs(); ++run) {
    const std::vector<ParameterValue> values = plan.values(run);
    std::vector<std::string> key;
    for (const std::size_t axis : axes) {
      key.push_back(to_text(values[axis]));
    }
    if (seen.insert(std::move(key)).second) {
      runs.push_back(run);
    }
  }
  return runs;
}

}  // namespace

std::vector<InputFile> sweep_inputs(const Plan& plan, const Work& work) {
  std::vector<InputFile> inputs;
  add_other_files(plan.definition(), inputs);
  if (!work.input_hash) {
    return inputs;
  }
  bool any = false;
  std::optional<Error> first;
  for (const std::uint64_t run : runs_by_input(plan)) {
    try {
      // Completes nothing else: other errors of the run must not hide its input.
      experiment::Settings asked;
      const experiment::Settings whole = plan.settings(run);
      for (const auto& [key, setting] : whole.all()) {
        if (is_input_key(key)) {
          asked.set(key, setting.value, setting.where);
        }
      }
      const experiment::Settings complete = experiment::complete(asked);
      const std::string& workload = complete.text("workload");
      add_input(inputs, {workload.empty() ? written_path(plan.definition(), complete.text("trace")) : workload,
                         work.input_hash(complete)});
      any = true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Internal) {
        throw;
      }
      if (!first) {
        first = error;
      }
    }
  }
  if (!any && first) {
    throw Error(*first);
  }
  return inputs;
}

}  // namespace rayreplay::sweep
