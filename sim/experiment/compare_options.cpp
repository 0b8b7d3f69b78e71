#include "sim/experiment/compare_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/packing.hpp"

namespace rayreplay::experiment {
namespace {

const std::vector<std::string> kCostSources = {"default", "spirv", "captured"};
constexpr std::uint32_t kMostRegisters = 1024;
constexpr double kMostInstructions = 1e6;

[[noreturn]] void usage(std::string what, std::string where, std::string found, std::string expected,
                        std::string fix = "") {
  throw Error(ErrorKind::Usage,
              {std::move(what), std::move(where), std::move(found), std::move(expected), std::move(fix)});
}

machine::CostSource cost_source(const std::string& name) {
  for (std::size_t i = 0; i < kCostSources.size(); ++i) {
    if (name == kCostSources[i]) {
      return static_cast<machine::CostSource>(i);
    }
  }
  const std::string near = nearest(name, kCostSources);
  usage("unknown source of shader costs", "cost_source", "'" + name + "'",
        fmt::format("one of {}", fmt::join(kCostSources, ", ")), near.empty() ? "" : "did you mean '" + near + "'?");
}

void require_range(const char* key, double value, double low, double high) {
  if (!(value >= low && value <= high)) {
    usage("the value is out of range", key, fmt::format("{}", value), fmt::format("{} to {}", low, high));
  }
}

double number(const std::string& item, const std::string& text) {
  Parameter parameter;
  parameter.name = item.substr(0, item.rfind('='));
  parameter.default_value = 0.0;
  parameter.minimum = 0;
  parameter.maximum = kMostInstructions;
  return rayreplay::resolve({parameter}, {{parameter.name, text}}, "--shader-cost").get_double(parameter.name);
}

void add_hint(scheduler::HintSources& sources, std::pair<std::string, scheduler::HintSource> hint) {
  const std::string name = hint.first;
  if (!sources.insert(std::move(hint)).second) {
    usage("two hints have one name", "--hint", "'" + name + "'", "a name of its own for each");
  }
}

}  // namespace

const char* to_string(machine::CostSource source) {
  return kCostSources.at(static_cast<std::size_t>(source)).c_str();
}

std::vector<machine::HandCost> parse_shader_cost_list(std::string_view text) {
  std::vector<machine::HandCost> costs;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string item(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    // The last '=': a shader's name may hold others.
    const auto equals = item.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      usage("a shader's cost is not of the form SHADER=INSTRUCTIONS", "--shader-cost", "'" + item + "'",
            "SHADER=INSTRUCTIONS or SHADER=INSTRUCTIONS:LATENCY");
    }
    const auto colon = item.find(':', equals);
    machine::HandCost cost{item.substr(0, equals)};
    cost.issue = number(item, item.substr(equals + 1, colon == std::string::npos ? colon : colon - equals - 1));
    if (colon != std::string::npos) {
      cost.latency = number(item, item.substr(colon + 1));
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

std::vector<std::string> resolve_models(const std::vector<std::string>& specs) {
  std::vector<std::string> resolved = {scheduler::SchedulerModels::create("plain").spec};
  for (const std::string& spec : specs) {
    std::string full = scheduler::SchedulerModels::create(spec).spec;
    if (std::find(resolved.begin(), resolved.end(), full) == resolved.end()) {
      resolved.push_back(std::move(full));
    }
  }
  return resolved;
}

CompareOptions compare_options(const ModelsConfiguration& configuration) {
  CompareOptions options;
  options.models = resolve_models(configuration.models);
  options.machine = configuration.machine;
  static_cast<void>(machine::load_machine(options.machine));
  for (const std::string& hint : configuration.hints) {
    add_hint(options.hints, scheduler::parse_hint(hint));
  }
  for (const std::string& hint : configuration.hint_files) {
    add_hint(options.hints, scheduler::parse_hint_file(hint));
  }
  require_range("registers_per_thread", configuration.registers_per_thread, 1, kMostRegisters);
  require_range("cycles_per_instruction", configuration.cycles_per_instruction, 1, machine::kMostCyclesPerInstruction);
  require_range("steps_per_ray", configuration.steps_per_ray, 0, machine::kMostSteps);
  options.registers_per_thread = configuration.registers_per_thread;
  options.costs.source = cost_source(configuration.cost_source);
  options.costs.hand = configuration.shader_costs;
  options.start_packing = scheduler::Packings::create(configuration.start_packing).spec;
  options.costs.cycles_per_instruction = configuration.cycles_per_instruction;
  options.costs.steps_per_ray = configuration.steps_per_ray;
  options.replay_steps = configuration.replay_steps;
  return options;
}

}  // namespace rayreplay::experiment
