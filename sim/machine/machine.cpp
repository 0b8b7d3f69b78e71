#include "sim/machine/machine.hpp"

#include <algorithm>

namespace rayreplay::machine {

std::uint32_t resident_warps(const Machine& machine, std::uint32_t warp_size, std::uint32_t registers_per_thread) {
  const std::uint64_t of_a_warp = std::uint64_t{warp_size} * std::max(registers_per_thread, 1U);
  const std::uint64_t fitting = machine.registers / std::max<std::uint64_t>(of_a_warp, 1);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, machine.resident_warps));
}

scheduler::MachineFacts facts(const Machine& machine, std::uint32_t live) {
  scheduler::MachineFacts result;
  result.sms = machine.sms;
  result.resident_warps = live;
  result.reorders = machine.reorders;
  result.withheld_sms = machine.withheld_sms;
  result.reorder_cycles = machine.reorder_cycles;
  result.exchange_bytes_per_cycle = machine.l2_bytes_per_second / (machine.clock_mhz * 1e6) / machine.sms;
  return result;
}

}  // namespace rayreplay::machine
