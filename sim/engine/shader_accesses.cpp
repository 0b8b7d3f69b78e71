#include "sim/engine/shader_accesses.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/trace/lost_accesses.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/settings/decided_value.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kShaderAccesses = "stream.shader_accesses";
constexpr const char* kPixelBytes = "stream.pixel_bytes";
constexpr const char* kCostSource = "scheduler.cost_source";
/// Dependent arithmetic takes as many (docs/assumptions.md).
constexpr double kCyclesOfArithmetic = 4;
constexpr std::string_view kWaits = "captured accesses";

/// As takes_shader_accesses, without its error.
bool has_accesses(const Experiment& experiment) {
  const std::string& wanted = experiment.settings->text(kShaderAccesses);
  const LaunchFacts launch = experiment.launch();
  const bool whole = experiment.facts->access_every == 1 && !launch.missing_accesses.any();
  return launch.accesses > 0 && (wanted == "on" || (wanted == "auto" && whole));
}

bool waits_for_accesses(const Experiment& experiment) {
  return !experiment.facts->memory && has_memory_time(*experiment.settings) && has_accesses(experiment);
}

}  // namespace

bool takes_shader_accesses(const Experiment& experiment) {
  const std::string& wanted = experiment.settings->text(kShaderAccesses);
  const std::uint64_t recorded = experiment.launch().accesses;
  if (wanted == "on" && recorded == 0) {
    throw Error(ErrorKind::Missing, {"the launch has no recorded accesses of shaders",
                                     place_of(experiment.settings->where(kShaderAccesses), kShaderAccesses),
                                     experiment.facts->name, "a capture of what its shaders load and store",
                                     "capture with --profile memory (docs/capture.md), or leave the key out"});
  }
  return has_accesses(experiment);
}

bool are_cycles_decided(const Settings& settings) {
  return is_decided(settings, kCyclesPerInstruction, kWaits);
}

bool has_cycles_to_decide(const Experiment& experiment) {
  return waits_for_accesses(experiment) || are_cycles_decided(*experiment.settings);
}

void decide_cycles(Settings& settings, const Experiment& experiment) {
  std::optional<DecidedValue> decided;
  if (waits_for_accesses(experiment)) {
    decided = {kCyclesOfArithmetic, ""};
  }
  decide(settings, kCyclesPerInstruction, kWaits, decided);
}

std::vector<std::string> shader_access_notes(const Experiment& experiment) {
  const Settings& settings = *experiment.settings;
  const std::uint64_t every = experiment.facts->access_every;
  if (experiment.launch().accesses == 0 || settings.text(kShaderAccesses) == "off") {
    return {};
  }
  std::vector<std::string> notes;
  const bool taken = takes_shader_accesses(experiment);
  if (every > 1) {
    notes.push_back(taken ? fmt::format("the accesses of shaders are those of one thread in {} alone "
                                        "(--profile-memory-sample); nothing is scaled",
                                        every)
                          : fmt::format("the trace has the accesses of shaders for one thread in {} alone "
                                        "(--profile-memory-sample), so they are left out; {}=on takes them",
                                        every, kShaderAccesses));
  }
  if (const trace::MissingAccesses missing = experiment.launch().missing_accesses; missing.any()) {
    const std::string lost = trace::lost_accesses_text(missing, experiment.launch().accesses);
    notes.push_back(taken ? fmt::format("{}: the others are taken as they are, and nothing is scaled", lost)
                          : fmt::format("{}, so all are left out; {}=on takes those that are there, a capture with a "
                                        "larger --memory has all",
                                        lost, kShaderAccesses));
  }
  if (taken && is_pixel_given(settings) && settings.integer(kPixelBytes) > 0) {
    notes.push_back(
        fmt::format("{} = {} is given: every thread writes that many bytes to its pixel, whatever its shaders store",
                    kPixelBytes, settings.integer(kPixelBytes)));
  }
  if (!taken || !has_memory_time(settings)) {
    return notes;
  }
  if (settings.text(kCostSource) == "captured") {
    notes.push_back(
        fmt::format("{} = captured: latencies from clocks contain the waits for shaders' accesses, and memory time "
                    "adds them again",
                    kCostSource));
  }
  const auto costs = open_table(settings, "shader_costs");
  if (std::ranges::any_of(costs,
                          [](const auto& cost) { return to_text(cost.second).find(':') != std::string::npos; })) {
    notes.emplace_back(
        "latencies of shader_costs are given: they count in full, and captured accesses are waited for too");
  }
  if (are_cycles_decided(settings)) {
    notes.push_back(fmt::format(
        "{} = {} in memory time, without a share for the waits of shaders' loads: captured accesses are waited for; {} "
        "gives another number",
        kCyclesPerInstruction, settings.real(kCyclesPerInstruction), find_parameter(kCyclesPerInstruction)->flag));
  } else if (settings.real(kCyclesPerInstruction) > kCyclesOfArithmetic) {
    notes.push_back(
        fmt::format("{} = {} contains waits of shaders' loads, and memory time adds them again; set it to {} to leave "
                    "them out",
                    kCyclesPerInstruction, settings.real(kCyclesPerInstruction), kCyclesOfArithmetic));
  }
  return notes;
}

}  // namespace rayreplay::experiment
