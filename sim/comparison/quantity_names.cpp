#include "sim/comparison/quantity_names.hpp"

#include <algorithm>
#include <array>

namespace rayreplay::experiment {
namespace {

struct Named {
  std::string_view key;
  std::string_view name;
  QuantityKind kind = QuantityKind::Machine;
};

constexpr std::array kNames = {
    Named{"scheduler.cycles_per_instruction", "the latency of an instruction", QuantityKind::CyclesPerInstruction},
    Named{"scheduler.steps_per_ray", "the number of steps of a ray", QuantityKind::StepsPerRay},
    Named{"registers_per_thread", "the number of registers of a thread", QuantityKind::Registers},
    Named{"bvh.enlarge", "the enlargement of the boxes"},
    Named{"machine.sms", "the SMs"},
    Named{"machine.resident_warps", "the warps of an SM"},
    Named{"machine.registers", "the registers of an SM"},
    Named{"machine.issue_per_cycle", "the issue slots of an SM"},
    Named{"machine.issue_partitions", "the partitions of an SM"},
    Named{"machine.clock_mhz", "the clock"},
    Named{"machine.rt_steps_per_cycle", "the visits of a ray-tracing unit per cycle"},
    Named{"machine.rt_boxes_per_cycle", "the boxes of a ray-tracing unit per cycle"},
    Named{"machine.rt_triangles_per_cycle", "the triangles of a ray-tracing unit per cycle"},
    Named{"machine.rt_rays", "the rays in a ray-tracing unit"},
    Named{"machine.rt_test_latency_cycles", "the latency of a visit's tests"},
    Named{"machine.l1_latency_cycles", "the latency of a visit's load"},
    Named{"machine.l1_bytes", "the size of an L1"},
    Named{"machine.l2_bytes", "the size of the L2"},
    Named{"machine.l2_latency_cycles", "the latency of the L2"},
    Named{"machine.l2_bytes_per_second", "the bandwidth of the L2"},
    Named{"machine.dram_latency_cycles", "the latency of DRAM"},
    Named{"machine.dram_bytes_per_second", "the bandwidth of DRAM"},
    Named{"machine.outstanding_misses", "the number of MSHRs"},
    Named{"machine.withheld_sms", "the number of withheld SMs"},
    Named{"machine.reorder_cycles", "the latency of an exchange"},
    Named{"schedule.resident_warps", "the schedule's limit on the warps of an SM"},
    Named{"schedule.compute_cycles", "the cycles between two accesses of a warp"},
    Named{"stream.payload_bytes", "the payload of a ray", QuantityKind::Parameter},
    Named{"stream.record_bytes", "the record of a shader", QuantityKind::Parameter},
    Named{"stream.pixel_bytes", "the size of a pixel", QuantityKind::Parameter},
    Named{"stream.stack_entries", "the stack entries on chip"},
    Named{"stream.load_bytes", "the most bytes of one load"},
};

/// Parameters of scheduler models: charges, and others.
struct NamedParameter {
  std::string_view key;
  std::string_view name;
  bool is_charge = true;
};

constexpr std::string_view kOfModel = "scheduler.model:";

constexpr std::array kParameters = {
    NamedParameter{"live_state", "the live state of a thread"},
    NamedParameter{"state", "the state of a path"},
    NamedParameter{"stack_bytes", "the spill of a call"},
    NamedParameter{"spawn_cycles", "the latency of a spawn"},
    NamedParameter{"split_cycles", "the latency of a split call"},
    NamedParameter{"cycles", "the latency of an exchange"},
    NamedParameter{"reorder_cycles", "the latency of an exchange"},
    NamedParameter{"bandwidth", "the bandwidth of an SM for state"},
    NamedParameter{"withheld", "the number of withheld SMs"},
    NamedParameter{"pool_warps", "the warps of a pool", false},
    NamedParameter{"timeout", "the longest wait for a pool to fill", false},
    NamedParameter{"shader_bits", "the bits of the shader in the sort key", false},
    NamedParameter{"hint_bits", "the bits of the hint in the sort key", false},
    NamedParameter{"spatial_bits", "the bits of each axis in the sort key", false},
    NamedParameter{"first_bounce", "the rays of a thread that do not reorder", false},
    NamedParameter{"site", "the trace call that reorders", false},
    NamedParameter{"simd_width", "the threads dispatched together", false},
    NamedParameter{"queue_bytes", "the queue entry of a thread", false},
    NamedParameter{"queue_threads", "the limit on an SM's threads in queues", false},
};

const Named* entry_of(std::string_view key) {
  const auto* const found = std::ranges::find(kNames, key, &Named::key);
  return found == kNames.end() ? nullptr : found;
}

const NamedParameter* parameter_of(std::string_view key) {
  if (!key.starts_with(kOfModel)) {
    return nullptr;
  }
  const auto* const found = std::ranges::find(kParameters, key.substr(kOfModel.size()), &NamedParameter::key);
  return found == kParameters.end() ? nullptr : found;
}

}  // namespace

std::string_view name_of_number(std::string_view key) {
  if (const NamedParameter* const parameter = parameter_of(key)) {
    return parameter->name;
  }
  const Named* const named = entry_of(key);
  return named == nullptr ? std::string_view() : named->name;
}

bool is_charge(std::string_view key) {
  const NamedParameter* const parameter = parameter_of(key);
  return parameter != nullptr && parameter->is_charge;
}

QuantityKind kind_of_number(std::string_view key) {
  if (key.starts_with(kOfModel)) {
    return QuantityKind::Parameter;
  }
  const Named* const named = entry_of(key);
  return named == nullptr ? QuantityKind::Machine : named->kind;
}

}  // namespace rayreplay::experiment
