// The time model for `rayreplay list` and `describe`: its assumptions and defaults, read from the code itself.
#include "base/registry.hpp"
#include "sim/machine/costs.hpp"

namespace rayreplay::machine {
namespace {

using trace::EventKind;
using trace::ShaderStage;

Parameter instructions(std::string name, ShaderStage stage, EventKind kind, std::string text) {
  return {.name = std::move(name),
          .default_value = default_instructions(stage, kind),
          .unit = "instructions",
          .text = std::move(text),
          .minimum = 0,
          .maximum = 1e6,
          .choices = {}};
}

ModelDescription description() {
  const CostOptions defaults;
  ModelDescription model;
  model.kind = "time model";
  model.name = "fluid-sms";
  model.summary = "From warps of segments to milliseconds: jobs that share their SM as a fluid";
  model.text =
      "A job is one warp of segments. Alone it takes the latencies of its calls, its traversal (the k-th rays of its "
      "lanes side by side, the longest counts) and what the scheduler model charges. All jobs of an SM advance at one "
      "rate, at most 1, such that issue slots, ray-tracing unit and the SM's share of memory bandwidth are not "
      "exceeded. Warps go to the SM with the fewest jobs among those with a free slot.\n\n"
      "Assumes: a call costs its instructions once, for one lane as for all; latency is instructions times "
      "cycles_per_instruction, whatever the caches do; a ray costs its steps, whatever other rays the unit traces; "
      "live state moves at the DRAM's bandwidth, an equal part for each SM; no launch overhead, no clock changes, no "
      "caches, no order of warps within an SM. Made for differences between models on one machine: absolute times were "
      "off by a factor of four on one GPU and by a quarter on another (docs/validation-ser.md). docs/assumptions.md "
      "has all assumptions and where each default comes from.\n\n"
      "Its parameters are options of `rayreplay whatif --models` and keys of an experiment: --shader-cost, "
      "--cycles-per-instruction, --steps, --registers.";
  model.source = "rayreplay; fluid processor sharing: Kleinrock 1967. Defaults: docs/assumptions.md";
  model.parameters = {
      instructions("ray-generation", ShaderStage::RayGeneration, EventKind::Begin,
                   "A trace call with what ray generation does for it."),
      instructions("trace-call", ShaderStage::ClosestHit, EventKind::Begin, "A trace call that another shader makes."),
      instructions("intersection", ShaderStage::Intersection, EventKind::Intersection, "An intersection shader."),
      instructions("any-hit", ShaderStage::AnyHit, EventKind::AnyHit, "An any-hit shader."),
      instructions("miss", ShaderStage::Miss, EventKind::Miss, "A miss shader."),
      instructions("closest-hit", ShaderStage::ClosestHit, EventKind::ClosestHit, "A closest-hit shader."),
      instructions("callable", ShaderStage::Callable, EventKind::Callable, "A callable shader."),
      {.name = "cycles_per_instruction",
       .default_value = defaults.cycles_per_instruction,
       .unit = "cycles",
       .text = "Latency of an instruction of a warp alone, waits for memory included.",
       .minimum = 1,
       .maximum = kMaxCyclesPerInstruction,
       .choices = {}},
      {.name = "steps_per_ray",
       .default_value = defaults.steps_per_ray,
       .unit = "visits",
       .text = "Nodes and leaves that a ray visits, where they are not counted by --replay-steps.",
       .minimum = 0,
       .maximum = kMaxSteps,
       .choices = {}},
      {.name = "captured_clock_mhz",
       .default_value = defaults.captured_clock_mhz,
       .unit = "MHz",
       .text = "Clock at which captured times are turned into cycles (--cost-source captured).",
       .minimum = 1,
       .maximum = 1e5,
       .choices = {}},
  };
  return model;
}

const bool kRegistered = [] {
  register_description(description());
  return true;
}();

}  // namespace
}  // namespace rayreplay::machine
