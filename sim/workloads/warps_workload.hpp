// What all workloads of warps share. Internal to this folder.
#pragma once

#include <vector>

#include "sim/workloads/declare.hpp"
#include "sim/workloads/timed_machine.hpp"
#include "sim/workloads/warp_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {

class WarpsWorkload : public Workload {
 public:
  [[nodiscard]] WorkloadKind kind() const final {
    return WorkloadKind::Warps;
  }
  [[nodiscard]] WarpWorkload make_warps(const machine::Machine& machine) const final {
    const TimedMachine timed(machine);
    WarpWorkload made = make(timed);
    made.resident_warps = resident_on(timed);
    return made;
  }
  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& machine) const final {
    const TimedMachine timed(machine);
    const std::string why = unknown_on(timed);
    return why.empty() ? answers_on(timed) : not_on_this_machine(why);
  }

 private:
  [[nodiscard]] virtual WarpWorkload make(const TimedMachine& machine) const = 0;
  /// Warps of an SM at a time.
  [[nodiscard]] virtual std::uint32_t resident_on(const TimedMachine& machine) const = 0;
  /// Why the form does not hold on this machine; "": it holds.
  [[nodiscard]] virtual std::string unknown_on(const TimedMachine& machine) const = 0;
  [[nodiscard]] virtual std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const = 0;
};

[[nodiscard]] inline Parameter resident_parameter() {
  return declare::whole("resident_warps", 16, "warps", "Warps that an SM holds at a time.", 1, 1024);
}
[[nodiscard]] inline Parameter rounds_parameter(std::int64_t rounds) {
  return declare::whole("rounds", rounds, "", "Warps that each slot of an SM runs, one after the other.", 1, 1 << 16);
}
[[nodiscard]] inline Parameter of_partition_parameter(std::int64_t warps) {
  return declare::whole("warps", warps, "warps", "Warps that a partition of an SM holds at a time.", 1, 1024);
}

}  // namespace rayreplay::workloads
