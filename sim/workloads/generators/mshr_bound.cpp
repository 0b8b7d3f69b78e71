// One warp with many independent loads: time is MSHRs.
//
// Contract: one warp loads n lines from DRAM in clauses of c loads, which do not wait for each other. At most M =
// outstanding_misses are in flight. A clause takes T(c) = L + ⌊⌊(c − 1) / M⌋ max(L, M u) + ((c − 1) mod M) u⌋, u the
// larger of a cycle and the service of a line; the next one begins then: n / c · T(c). Where c is at most M, c − 1 + L.
// Until a clause's last load issues, each cycle without an issue is a wait for MSHRs. Source: Kroft, Lockup-free
// instruction fetch/prefetch cache organization, ISCA 1981; rayreplay. O(n).
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {
namespace {

class MshrBound final : public WarpsWorkload {
 public:
  explicit MshrBound(const Parameters& parameters)
      : clauses_(get_count(parameters, "clauses")), loads_(get_count(parameters, "loads")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"mshr-bound:loads=1024", "mshr-bound:loads=8,clauses=32"};
  }

 private:
  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const override {
    WarpMaker maker("mshr-bound", machine, 1, std::uint64_t{clauses_} * loads_);
    maker.warp(0);
    for (std::uint64_t i = 0; i < std::uint64_t{clauses_} * loads_; ++i) {
      maker.row().follows = i % loads_ != 0;
      maker.load(i * machine.apart);
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& /*machine*/) const override {
    return 1;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const override {
    return clauses_ > 1 && machine.load_service() > machine.dram_latency
               ? "a line's service is longer than its latency, so a clause meets those before it"
               : "";
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const AnswerSettings settings = memory_time();
    const LoadLoop loop = loads_from_dram(machine, loads_, 1);
    const std::uint64_t last = loads_ - 1;
    const double cycles = (clauses_ - 1) * loop.answer(last) + loop.ends(last);
    const double rounding = clauses_ * loop.rounding(last);
    const double issued = last < loop.slots ? static_cast<double>(last) : loop.answer(last - loop.slots);
    const double waits = clauses_ * std::max(0.0, issued - static_cast<double>(last));
    return {{"time_cycles", cycles, rounding, "clauses (L + (c - 1) / M max(L, M u)), and the rest of the last round",
             settings},
            {"time_mshrs_busy", waits / cycles / machine.sms, 1e-9 + 2 * rounding / cycles / machine.sms,
             "cycles until a clause's last load issues, less one for each load before it", settings}};
  }

  std::uint32_t clauses_;
  std::uint32_t loads_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "mshr-bound",
     .summary = "Independent loads of one warp: MSHRs",
     .text = "One warp loads lines in clauses whose loads do not wait for each other. Short clauses take one latency "
             "each; in long ones as many loads are in flight as the SM has MSHRs. Sweep machine.outstanding_misses.",
     .source = "Kroft, Lockup-free instruction fetch/prefetch cache organization, ISCA 1981; rayreplay",
     .parameters = {declare::whole("loads", 1024, "loads", "Loads of a clause.", 1, 1 << 16),
                    declare::whole("clauses", 1, "clauses", "Clauses, one after the other.", 1, 4096)}},
    [](const Parameters& parameters) { return std::make_unique<MshrBound>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
