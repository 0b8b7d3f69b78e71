// Workloads whose warps have one row of work each, the same for all, and load nothing: every partition of every SM runs
// `warps` · `rounds` of them, `warps` at a time. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {

class OneRowWorkload : public WarpsWorkload {
 protected:
  /// Reads "warps" and "rounds".
  OneRowWorkload(std::string name, const Parameters& parameters)
      : warps_(get_count(parameters, "warps")), rounds_(get_count(parameters, "rounds")), name_(std::move(name)) {}

  const std::uint32_t warps_;
  const std::uint32_t rounds_;

 private:
  virtual void fill(memory::WarpWork& row) const = 0;

  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const final {
    const std::uint64_t of_sm = std::uint64_t{warps_} * machine.partitions * rounds_;
    WarpMaker maker(name_, machine, machine.sms * of_sm, 0);
    for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
      for (std::uint64_t warp = 0; warp < of_sm; ++warp) {
        maker.warp(sm);
        fill(maker.row());
      }
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& machine) const final {
    return warps_ * machine.partitions;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const final {
    return too_many_warps(machine, std::uint64_t{warps_} * machine.partitions);
  }

  const std::string name_;
};

}  // namespace rayreplay::workloads
