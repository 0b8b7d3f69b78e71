// The numbers from which the time model calculates a speed-up, how each is known, and how far off it may be.
//
// Contract: a *quantity* is one number or one factor: the instructions of a kind of calls or their own latency
// (call_groups.hpp), cycles per instruction, steps per ray, registers, a number of the machine, a parameter of the
// scheduler model. `Quantities::at` gives the inputs of the time model for
// any values; at the present values they are the present inputs, bit by bit. Ranges: ranges.hpp. O(calls) each.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/comparison/call_groups.hpp"
#include "sim/comparison/quantity.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/live_state.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/origin.hpp"
#include "sim/machine/work_counts.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::experiment {

/// Numbers that a model's time depends on, beside launch and warps.
struct TimeInputs {
  machine::Machine machine;
  std::vector<machine::CallCost> calls;  ///< as Costs::calls
  double cycles_per_instruction = 0;
  double steps_per_ray = 0;  ///< no effect where steps are counted
  std::uint32_t registers_per_thread = 0;
  machine::Origin registers_origin = machine::Origin::Assumed;
  std::string model;                ///< spec
  machine::LiveState live_state{};  ///< of the launch's shaders
};

class Quantities {
 public:
  /// Those of every model. `called`: the calls that the launch makes. `counted_steps`: mean steps of a ray where they
  /// are counted, else below 0. `given`: keys that the user set (registers_per_thread, scheduler.…).
  Quantities(const std::vector<trace::Shader>& shaders, std::span<const simt::CallTally> called, TimeInputs now,
             double counted_steps, const std::set<std::string>& given);

  /// Also the model's own. Those on which neither plain nor this model depends have no range. `facts` as
  /// machine::facts of the present machine and live state; `given`: the parameters that the user named, also at their
  /// defaults.
  [[nodiscard]] Quantities of_model(const std::string& spec, const scheduler::MachineFacts& facts,
                                    const std::set<std::string>& given = {}) const;

  [[nodiscard]] const std::vector<Quantity>& list() const {
    return list_;
  }
  /// Calls whose costs are equal at all values.
  [[nodiscard]] machine::CallClasses classes() const;
  /// `values`: by quantity.
  [[nodiscard]] TimeInputs at(std::span<const double> values) const;
  [[nodiscard]] std::vector<double> now() const;

 private:
  void add(Quantity quantity);

  TimeInputs now_;
  CallGroups groups_;
  std::vector<Quantity> list_;  ///< those of the groups first
};

}  // namespace rayreplay::experiment
