// Warps that an exchange delays, and that move their live state: time is the delay and the L2.
//
// Contract: every SM holds w warps. Each waits D cycles for its exchange, stores k lines of live state, and loads them
// back, from the L2. Load units and the L2 get 2 w k lines an SM, 2 S w k in all. The last one begins its service B =
// max(2 w k − 1, (2 S w k − 1) s) after the delay, and its data is there L later: D + ⌊B⌋ + L. Loads in flight fit the
// MSHRs. No state reaches DRAM. Source: rayreplay; docs/scheduler-models.md (live state). O(lines).
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {
namespace {

class StateReordering final : public WarpsWorkload {
 public:
  explicit StateReordering(const Parameters& parameters)
      : delay_(get_count(parameters, "delay")),
        warps_(get_count(parameters, "resident_warps")),
        lines_(get_count(parameters, "lines")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"state-reordering:lines=4", "state-reordering:lines=0,delay=500",
            "state-reordering:lines=1,delay=0,resident_warps=1"};
  }

 private:
  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const override {
    const std::uint64_t warps = std::uint64_t{machine.sms} * warps_;
    WarpMaker maker("state-reordering", machine, warps, 2 * warps * lines_);
    constexpr memory::RowStages kExchange(memory::WorkStage::Exchange, memory::WorkStage::Exchange);
    for (std::uint64_t warp = 0; warp < warps; ++warp) {
      maker.warp(static_cast<std::uint32_t>(warp / warps_), delay_);
      if (lines_ > 0) {
        maker.row().stages = kExchange;
        maker.store(warp * lines_, lines_);
        maker.row().stages = kExchange;
        maker.load(warp * lines_, lines_);
      }
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& /*machine*/) const override {
    return warps_;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const override {
    const std::uint64_t of_sm = std::uint64_t{warps_} * lines_;
    if (of_sm * machine.sms * machine.line_bytes > machine.l2_bytes) {
      return fmt::format("its L2 of {} bytes does not hold the state", machine.l2_bytes);
    }
    if (of_sm > machine.misses) {
      return fmt::format("an SM has {} MSHRs, and the warps load {} lines", machine.misses, of_sm);
    }
    return too_many_warps(machine, warps_);
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const AnswerSettings settings = memory_time();
    const double moves = 2.0 * warps_ * lines_;  // of an SM
    double cycles = delay_;
    if (lines_ > 0) {
      const double last =
          (moves - 1) * std::max(1.0, machine.sms * machine.l2_service) + (machine.sms - 1) * machine.l2_service;
      cycles += std::max(std::floor(last) + machine.l2_latency, std::ceil(last + machine.l2_service));
    }
    std::vector<KnownAnswer> answers = {
        {"time_cycles", cycles, 0, "D + max(2 w k - 1, (2 S w k - 1) s) + L of the L2", settings},
        {"time_l2_bytes", moves * machine.sms * machine.line_bytes, 0, "state is stored once and loaded once",
         settings},
        {"time_dram_bytes", 0, 0, "state stays in the L2", settings}};
    if (cycles > 0) {
      answers.push_back({"time_stage_exchange_share", 1, 1e-9, "warps do nothing but exchange", settings});
    }
    return answers;
  }

  std::uint32_t delay_;
  std::uint32_t warps_;
  std::uint32_t lines_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "state-reordering",
     .summary = "Warps that wait for an exchange and move their live state: the L2",
     .text = "Every SM holds w warps that wait for an exchange, store k lines of live state and load them back. Little "
             "state costs the delay and a latency, much state the bandwidth of L2 or load units.",
     .source = "rayreplay",
     .parameters = {declare::whole("delay", 200, "cycles", "Wait for the exchange.", 0, 1 << 20), resident_parameter(),
                    declare::whole("lines", 4, "lines", "Lines of live state of a warp; 0: none.", 0, 4096)}},
    [](const Parameters& parameters) { return std::make_unique<StateReordering>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
