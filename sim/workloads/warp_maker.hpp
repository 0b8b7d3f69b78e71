// Builds warps with work for memory time, instruction by instruction. Internal to this folder.
//
// Contract: `warp` opens the next warp of an SM; SMs come in ascending order, each SM's warps in the order in which its
// slots take them. `row` is the work before the next instruction, or after the last one. `load` and `store` add one
// instruction of whole lines. Usage for more than kMaxWarps warps or kMaxTransactions transactions on all SMs together.
#pragma once

#include <cstdint>
#include <string>

#include "sim/workloads/timed_machine.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {

inline constexpr std::uint64_t kMaxWarps = std::uint64_t{1} << 22U;
inline constexpr std::uint64_t kMaxTransactions = std::uint64_t{1} << 24U;

class WarpMaker {
 public:
  /// `name` of the workload; `warps` and `transactions`: the numbers to come, checked before anything is allocated.
  WarpMaker(const std::string& name, const TimedMachine& machine, std::uint64_t warps, std::uint64_t transactions);

  /// Waits `delay` cycles for its exchange before its first row.
  void warp(std::uint32_t sm, std::uint32_t delay = 0);
  [[nodiscard]] memory::WarpWork& row() {
    return made_.streams.back().work.back();
  }
  void load(std::uint64_t line, std::uint64_t lines = 1) {
    add(line, lines, 0);
  }
  void store(std::uint64_t line, std::uint64_t lines = 1) {
    add(line, lines, memory::kStore);
  }

  [[nodiscard]] WarpWorkload finish();

 private:
  void add(std::uint64_t line, std::uint64_t lines, std::uint8_t flags);

  WarpWorkload made_;
  std::uint32_t sms_;
  std::uint8_t all_sectors_;
};

}  // namespace rayreplay::workloads
