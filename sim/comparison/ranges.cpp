#include "sim/comparison/ranges.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace rayreplay::experiment {
namespace {

using machine::Origin;

/// From value / factor to value · factor.
struct RangeRule {
  QuantityKind kind;
  Origin origin;
  double factor;
};

constexpr std::array kRules = {
    RangeRule{QuantityKind::Call, Origin::Assumed, 10},
    RangeRule{QuantityKind::Call, Origin::Counted, 4},
    RangeRule{QuantityKind::Call, Origin::Captured, 2},
    RangeRule{QuantityKind::CallLatency, Origin::Captured, 2},
    RangeRule{QuantityKind::CyclesPerInstruction, Origin::Assumed, 3},
    RangeRule{QuantityKind::StepsPerRay, Origin::Assumed, 4},
    RangeRule{QuantityKind::Registers, Origin::Assumed, 2},
    RangeRule{QuantityKind::Registers, Origin::Captured, 2},
    RangeRule{QuantityKind::Parameter, Origin::Assumed, 4},
    RangeRule{QuantityKind::Parameter, Origin::Counted, 2},
    RangeRule{QuantityKind::Machine, Origin::Assumed, 2},
    RangeRule{QuantityKind::Machine, Origin::Derived, 2},
    RangeRule{QuantityKind::Machine, Origin::Fitted, 2},
};

/// Rates, latencies, and the limits on misses and rays in flight; the other numbers of a machine are its size.
constexpr std::array<std::string_view, 14> kVariedOfMachine = {"machine.issue_per_cycle",
                                                               "machine.rt_steps_per_cycle",
                                                               "machine.rt_boxes_per_cycle",
                                                               "machine.rt_triangles_per_cycle",
                                                               "machine.rt_rays",
                                                               "machine.rt_test_latency_cycles",
                                                               "machine.l1_latency_cycles",
                                                               "machine.l2_latency_cycles",
                                                               "machine.l2_bytes_per_second",
                                                               "machine.dram_latency_cycles",
                                                               "machine.dram_bytes_per_second",
                                                               "machine.outstanding_misses",
                                                               "machine.withheld_sms",
                                                               "machine.reorder_cycles"};
/// Where there is no limit now, the least that is plausible (docs/assumptions.md).
struct LeastLimit {
  std::string_view key;
  double amount;  ///< 0: the rays of a warp
};
constexpr std::array kLeastLimits = {LeastLimit{"machine.rt_rays", 0}, LeastLimit{"stream.load_bytes", 16},
                                     LeastLimit{"stream.stack_entries", 8}};
constexpr std::string_view kWithheld = "machine.withheld_sms";
constexpr std::string_view kReorder = "machine.reorder_cycles";
constexpr double kMaxReorderCycles = 2000;  // where it is 0 now
constexpr double kMaxWithheldFactor = 2;    // times as many; the least is none
constexpr double kMinCyclesPerInstruction = 1;

double factor_of(const Quantity& quantity) {
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&quantity](const RangeRule& other) {
    return other.kind == quantity.kind && other.origin == quantity.origin;
  });
  return rule == kRules.end() ? 1 : rule->factor;
}

}  // namespace

bool is_uncertain(Origin origin) {
  return origin != Origin::Published && origin != Origin::Measured && origin != Origin::Given;
}

std::span<const std::string_view> varied_of_machine() {
  return kVariedOfMachine;
}

void set_range(Quantity& quantity) {
  quantity.low = quantity.high = quantity.value;
  const double factor = is_uncertain(quantity.origin) ? factor_of(quantity) : 1;
  const bool of_machine = quantity.kind == QuantityKind::Machine;
  if (factor == 1 || (of_machine && std::find(kVariedOfMachine.begin(), kVariedOfMachine.end(), quantity.key) ==
                                        kVariedOfMachine.end())) {
    return;
  }
  if (quantity.key == kWithheld) {
    quantity.low = 0;
    quantity.high = kMaxWithheldFactor * quantity.value;
    quantity.ends_only = true;  // each number of shading SMs may need warps of its own
    return;
  }
  if (quantity.key == kReorder && quantity.value == 0) {
    quantity.high = kMaxReorderCycles;
    return;
  }
  quantity.low = quantity.value / factor;
  quantity.high = quantity.value * factor;
  if (quantity.kind == QuantityKind::CyclesPerInstruction) {
    quantity.low = std::max(quantity.low, kMinCyclesPerInstruction);
    quantity.high = std::min(quantity.high, machine::kMaxCyclesPerInstruction);
  }
  if (quantity.whole) {
    quantity.low = std::max(1.0, std::round(quantity.low));
    quantity.high = std::max(quantity.low, std::round(quantity.high));
  }
}

void set_range_without_limit(Quantity& quantity, std::uint32_t warp_size) {
  const auto* const least = std::ranges::find(kLeastLimits, quantity.key, &LeastLimit::key);
  quantity.high = quantity.value;
  quantity.low = least == kLeastLimits.end() ? quantity.value
                 : least->amount == 0        ? std::min<double>(quantity.value, warp_size)
                                             : std::min(quantity.value, least->amount);
}

void set_range_of_tests(Quantity& tests, const machine::Machine& machine) {
  Quantity visit = tests;
  visit.value = visit_latency_cycles(machine);
  set_range(visit);
  const double load = machine.l1_latency_cycles;
  tests.low = visit.varied() ? std::max(0.0, visit.low - load) : tests.value;
  tests.high = visit.varied() ? visit.high - load : tests.value;
}

}  // namespace rayreplay::experiment
