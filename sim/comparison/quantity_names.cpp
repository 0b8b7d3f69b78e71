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
    Named{"machine.sms", "the SMs"},
    Named{"machine.resident_warps", "the warps of an SM"},
    Named{"machine.registers", "the registers of an SM"},
    Named{"machine.issue_per_cycle", "the issue slots of an SM"},
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
    Named{"stream.payload_bytes", "the payload of a ray", QuantityKind::Parameter},
    Named{"stream.record_bytes", "the record of a shader", QuantityKind::Parameter},
    Named{"stream.pixel_bytes", "the size of a pixel", QuantityKind::Parameter},
    Named{"scheduler.model:live_state", "the live state of a thread", QuantityKind::Parameter},
    Named{"scheduler.model:state", "the state of a path", QuantityKind::Parameter},
    Named{"scheduler.model:stack_bytes", "the spill of a call", QuantityKind::Parameter},
    Named{"scheduler.model:spawn_cycles", "the latency of a spawn", QuantityKind::Parameter},
    Named{"scheduler.model:split_cycles", "the latency of a split call", QuantityKind::Parameter},
    Named{"scheduler.model:cycles", "the latency of an exchange", QuantityKind::Parameter},
    Named{"scheduler.model:reorder_cycles", "the latency of an exchange", QuantityKind::Parameter},
    Named{"scheduler.model:bandwidth", "the bandwidth of an SM for state", QuantityKind::Parameter},
    Named{"scheduler.model:withheld", "the number of withheld SMs", QuantityKind::Parameter},
};

const Named* entry_of(std::string_view key) {
  const auto* const found = std::ranges::find(kNames, key, &Named::key);
  return found == kNames.end() ? nullptr : found;
}

}  // namespace

std::string_view name_of_number(std::string_view key) {
  const Named* const named = entry_of(key);
  return named == nullptr ? std::string_view() : named->name;
}

QuantityKind kind_of_number(std::string_view key) {
  const Named* const named = entry_of(key);
  return named == nullptr ? QuantityKind::Machine : named->kind;
}

}  // namespace rayreplay::experiment
