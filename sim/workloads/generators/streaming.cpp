// All SMs ask for lines as fast as they can: time is bandwidth.
//
// Contract: S SMs of w warps that each access k lines and wait for none of them before the last has issued; N = S w k.
//   load   different lines, from DRAM, with s the slower service of L2 and DRAM: ⌊(N − 1) s⌋ + L if the server is the
//          bottleneck; w k − 1 + L if the load units are, which issue one line a cycle; by MSHRs (LoadLoop) if these
//          are
//   store  each warp its own line, in the L2: max(w k, ⌈N s⌉). No warp waits for its stores, but the launch does
// Source: J. D. McCalpin, Memory bandwidth and machine balance (STREAM), 1995. O(N).
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {
namespace {

class Streaming final : public WarpsWorkload {
 public:
  explicit Streaming(const Parameters& parameters)
      : stores_(parameters.get_string("access") == "store"),
        warps_(get_count(parameters, "resident_warps")),
        lines_(get_count(parameters, "lines")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"streaming:access=load", "streaming:access=store", "streaming:resident_warps=1,lines=64"};
  }

 private:
  /// Of an SM.
  [[nodiscard]] std::uint64_t accesses() const {
    return std::uint64_t{warps_} * lines_;
  }

  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const override {
    WarpMaker maker("streaming", machine, std::uint64_t{machine.sms} * warps_, machine.sms * accesses());
    std::uint64_t line = 0;
    for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
      for (std::uint32_t warp = 0; warp < warps_; ++warp, ++line) {
        maker.warp(sm);
        for (std::uint32_t i = 0; i < lines_; ++i) {
          if (stores_) {
            maker.store(line * machine.apart);
          } else {
            maker.row().follows = i > 0;
            maker.load((line * lines_ + i) * machine.apart);
          }
        }
      }
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& /*machine*/) const override {
    return warps_;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const override {
    const std::uint64_t held = std::uint64_t{machine.sms} * warps_ * machine.apart * machine.line_bytes;
    if (stores_ && machine.has_l2 && held > machine.l2_bytes) {
      return fmt::format("its L2 of {} bytes does not hold a line of each warp", machine.l2_bytes);
    }
    return too_many_warps(machine, warps_);
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    return stores_ ? of_stores(machine) : of_loads(machine);
  }

  [[nodiscard]] std::vector<KnownAnswer> of_loads(const TimedMachine& machine) const {
    const AnswerSettings settings = memory_time();
    const LoadLoop loop = loads_from_dram(machine, accesses(), machine.sms);
    const double cycles = loop.ends(accesses() - 1);
    const double loads = static_cast<double>(machine.sms * accesses());
    const double rounding = loop.rounding(accesses() - 1);
    const double busy = loads * machine.dram_service / cycles;
    return {{"time_cycles", cycles, rounding,
             "floor((N - 1) s) + L of the bottleneck: L2 and DRAM, load units, or MSHRs", settings},
            {"time_dram_bytes", loads * static_cast<double>(machine.fetched_bytes), 0, "N lines", settings},
            {"time_dram_bandwidth_busy", busy, 1e-9 + busy * rounding / cycles, "N s / cycles", settings}};
  }

  [[nodiscard]] std::vector<KnownAnswer> of_stores(const TimedMachine& machine) const {
    const AnswerSettings settings = memory_time();
    const double stores = static_cast<double>(machine.sms * accesses());
    const double service = machine.has_l2 ? machine.l2_service : machine.dram_service;
    const double cycles = std::max(static_cast<double>(accesses()), std::ceil(stores * service));
    return {{"time_cycles", cycles, 0, "max(w k, ceil(N s)): issue of an SM, or service of all stores", settings},
            {machine.has_l2 ? "time_l2_bandwidth_busy" : "time_dram_bandwidth_busy", stores * service / cycles, 1e-9,
             "N s / cycles", settings},
            {machine.has_l2 ? "time_l2_bytes" : "time_dram_written_bytes",
             stores * static_cast<double>(machine.line_bytes), 0, "N lines", settings}};
  }

  bool stores_;
  std::uint32_t warps_;
  std::uint32_t lines_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "streaming",
     .summary = "All SMs access lines without waiting for them: bandwidth",
     .text = "Every warp of every SM loads lines of its own, or stores one line repeatedly, without waiting in "
             "between. The time is that of the bottleneck: bandwidth of L2 or DRAM, load units, or MSHRs.",
     .source = "McCalpin, Memory bandwidth and machine balance in current high performance computers, 1995",
     .parameters = {declare::choice("access", "load", {"load", "store"},
                                    "Loads from DRAM, or stores that stay in the L2."),
                    resident_parameter(),
                    declare::whole("lines", 32, "lines", "Lines that each warp accesses.", 1, 4096)}},
    [](const Parameters& parameters) { return std::make_unique<Streaming>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
