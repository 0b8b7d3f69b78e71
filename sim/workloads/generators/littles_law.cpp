// Loads of ever more warps: Little's law over occupancy.
//
// Contract: every SM runs R · rounds warps, R at a time, each with one load of a line of its own from DRAM. With m =
// min(R, MSHRs) loads in flight the time falls as 1 / m, N L / m, until the bandwidth or the load unit is the
// bottleneck: N s (LoadLoop has the whole law). The mean of resident warps is R, less what the slots that end early
// lack: warps at a time = warps a cycle · cycles of a warp. Source: Little 1961. O(warps).
#include <cmath>
#include <memory>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {
namespace {

class LittlesLaw final : public WarpsWorkload {
 public:
  explicit LittlesLaw(const Parameters& parameters)
      : resident_(get_count(parameters, "resident_warps")), rounds_(get_count(parameters, "rounds")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"littles-law:resident_warps=1", "littles-law:resident_warps=4", "littles-law:resident_warps=16"};
  }

 private:
  /// Of an SM.
  [[nodiscard]] std::uint64_t warps() const {
    return std::uint64_t{resident_} * rounds_;
  }

  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const override {
    WarpMaker maker("littles-law", machine, machine.sms * warps(), machine.sms * warps());
    for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
      for (std::uint64_t warp = 0; warp < warps(); ++warp) {
        maker.warp(sm);
        maker.load((sm * warps() + warp) * machine.apart);
      }
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& /*machine*/) const override {
    return resident_;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const override {
    return too_many_warps(machine, resident_);
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const AnswerSettings settings = memory_time();
    const LoadLoop loop = loads_from_dram(machine, resident_, machine.sms);
    const double cycles = loop.ends(warps() - 1);
    const double rounding = loop.rounding(warps() - 1);
    const double loads = static_cast<double>(machine.sms * warps());
    // Every slot holds warps from 0 to the answer of its last one.
    double lives = 0;
    for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
      LoadLoop of_sm = loop;
      of_sm.later = sm * loop.service;
      for (std::uint64_t i = warps() - resident_; i < warps(); ++i) {
        lives += of_sm.answer(i) / machine.sms;
      }
    }
    const double busy = loads * machine.dram_service / cycles;
    return {{"time_cycles", cycles, rounding, "N L / m with few warps, N s with many", settings},
            {"time_resident_warps", lives / cycles, resident_ * (1 + rounding) / cycles,
             "each slot holds warps until the answer of its last", settings},
            {"time_dram_bandwidth_busy", busy, 1e-9 + busy * rounding / cycles, "N s / cycles", settings}};
  }

  std::uint32_t resident_;
  std::uint32_t rounds_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "littles-law",
     .summary = "One load of each warp, over occupancy: from latency to bandwidth",
     .text = "Every SM holds R warps, each of which loads a line of its own and ends. Sweep R: the time falls as 1/R "
             "until bandwidth, load unit or MSHRs are the bottleneck.",
     .source = "Little, A proof for the queuing formula L = lambda W, Operations Research 9, 1961",
     .parameters = {resident_parameter(), rounds_parameter(16)}},
    [](const Parameters& parameters) { return std::make_unique<LittlesLaw>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
