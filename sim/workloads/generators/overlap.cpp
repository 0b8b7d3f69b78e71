// Shader instructions, then a load: of what overlaps, the longer counts.
//
// Contract: every partition of every SM holds w warps, all at once. A warp runs i instructions, which keep its
// partition for v cycles, then loads a line of its own from DRAM. Two servers in a row with equal jobs: the time is one
// job's own and the slower server's rest. With P partitions and u cycles from one load of an SM to its next:
//   max(w v + (P − 1) u, v + (w P − 1) u) + L
// Rounding to cycles moves it by up to 2. Loads in flight fit the MSHRs. Source: S. M. Johnson, Optimal two- and three-
// stage production schedules, 1954 (equal jobs); rayreplay. O(warps).
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {
namespace {

class Overlap final : public WarpsWorkload {
 public:
  explicit Overlap(const Parameters& parameters)
      : instructions_(get_count(parameters, "instructions")), warps_(get_count(parameters, "warps")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"overlap:instructions=1", "overlap:instructions=16", "overlap:instructions=200"};
  }

 private:
  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const override {
    const std::uint64_t of_sm = std::uint64_t{warps_} * machine.partitions;
    WarpMaker maker("overlap", machine, machine.sms * of_sm, machine.sms * of_sm);
    for (std::uint64_t warp = 0; warp < machine.sms * of_sm; ++warp) {
      maker.warp(static_cast<std::uint32_t>(warp / of_sm));
      maker.row().issue = instructions_ * memory::kIssueScale;
      maker.load(warp * machine.apart);
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& machine) const override {
    return warps_ * machine.partitions;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const override {
    const std::uint64_t of_sm = std::uint64_t{warps_} * machine.partitions;
    return of_sm > machine.misses ? fmt::format("an SM has {} MSHRs for its {} loads", machine.misses, of_sm)
                                  : too_many_warps(machine, of_sm);
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const double of_sm = static_cast<double>(warps_) * machine.partitions;
    const AnswerSettings settings = memory_time();
    const double shader = machine.issue_service(instructions_);
    const double turn = machine.load_turn(machine.sms);
    const double later = (machine.sms - 1) * machine.load_service();
    const double last = later + std::max(std::ceil(warps_ * shader) + (machine.partitions - 1) * turn,
                                         std::ceil(shader) + (of_sm - 1) * turn);
    const double cycles = std::max(std::floor(last) + machine.dram_latency, std::ceil(last + machine.load_service()));
    constexpr double kRounding = 2;
    const double busy = warps_ * shader / cycles;
    return {
        {"time_cycles", cycles, kRounding, "max(w v + (P - 1) u, v + (w P - 1) u) + L: two servers in a row", settings},
        {"time_issue_slots_busy", busy, busy * kRounding / (cycles - kRounding), "w v / cycles", settings}};
  }

  std::uint32_t instructions_;
  std::uint32_t warps_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "overlap",
     .summary = "Shader instructions, then a load: the bottleneck of two that overlap",
     .text = "Every warp runs instructions, then loads a line of its own. While one warp waits for memory others "
             "compute, so the slower of issue slots and memory sets the time; only the first instructions and the last "
             "load are not hidden.",
     .source = "Johnson, Optimal two- and three-stage production schedules with setup times included, 1954; rayreplay",
     .parameters = {declare::whole("instructions", 16, "instructions", "Shader instructions of a warp.", 1, 1 << 20),
                    of_partition_parameter(4)}},
    [](const Parameters& parameters) { return std::make_unique<Overlap>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
