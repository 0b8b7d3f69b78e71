// One warp whose every load waits for the one before: time is latency.
//
// Contract: n loads of a line each, on one SM; L the latency of their level, s the service of a line by L2 and DRAM.
//   dram  n different lines:                             n L
//   l2    the warp stores the n lines first, n cycles, and waits until the L2 has served them, G = ⌈n s⌉: n + G + n L
//   l1    one line, which the first load fetches:         L_dram + (n − 1) L
// With tests after each load their time t is added n times. Where a service is longer than L + t, it takes the place of
// L + t for all loads but the first. Source: R. H. Saavedra and A. J. Smith, Measuring cache and TLB performance, 1995
// (pointer chase). O(n).
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/warps_workload.hpp"

namespace rayreplay::workloads {
namespace {

class PointerChase final : public WarpsWorkload {
 public:
  explicit PointerChase(const Parameters& parameters)
      : level_(parameters.get_string("level")),
        loads_(get_count(parameters, "loads")),
        visits_(get_count(parameters, "visits")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"pointer-chase:level=l1", "pointer-chase:level=l2", "pointer-chase:level=dram",
            "pointer-chase:level=l1,visits=32"};
  }

 private:
  [[nodiscard]] bool stores_first() const {
    return level_ == "l2";
  }
  [[nodiscard]] std::uint32_t stores_end(const TimedMachine& machine) const {
    return static_cast<std::uint32_t>(std::ceil(loads_ * machine.l2_service));
  }

  [[nodiscard]] WarpWorkload make(const TimedMachine& machine) const override {
    WarpMaker maker("pointer-chase", machine, 1, (stores_first() ? 2 : 1) * std::uint64_t{loads_});
    maker.warp(0);
    for (std::uint32_t i = 0; stores_first() && i < loads_; ++i) {
      maker.store(i);
    }
    if (stores_first()) {
      maker.row().latency = stores_end(machine);
    }
    for (std::uint32_t i = 0; i < loads_; ++i) {
      maker.load(level_ == "l1" ? 0 : level_ == "l2" ? i : i * machine.apart);
      maker.row().visits = maker.row().boxes = static_cast<std::uint16_t>(visits_);
    }
    return maker.finish();
  }

  [[nodiscard]] std::uint32_t resident_on(const TimedMachine& /*machine*/) const override {
    return 1;
  }

  [[nodiscard]] std::string unknown_on(const TimedMachine& machine) const override {
    if (level_ == "l1" && !machine.has_l1) {
      return "the machine has no L1";
    }
    if (level_ == "l2" && std::uint64_t{loads_} * machine.line_bytes > machine.l2_bytes) {
      return fmt::format("its L2 of {} bytes does not hold {} lines", machine.l2_bytes, loads_);
    }
    return "";
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const double tests = visits_ == 0 ? 0 : machine.test_time(machine.test_service(visits_, visits_, 0));
    std::vector<KnownAnswer> answers;
    double cycles = 0;
    double fetched = 0;
    if (level_ == "l1") {
      cycles =
          std::max(machine.dram_latency + (loads_ - 1) * machine.l1_latency + loads_ * tests,
                   std::ceil(machine.l2_service > machine.dram_service ? machine.l2_service : machine.dram_service));
      fetched = 1;
    } else {
      const bool l2 = level_ == "l2";
      const double start = l2 ? static_cast<double>(loads_) + stores_end(machine) : 0;
      const LoadLoop loop{.latency = (l2 ? machine.l2_latency : machine.dram_latency) + tests,
                          .turn = l2 ? machine.l2_service : machine.load_service(),
                          .slots = 1,
                          .service = l2 ? machine.l2_service : machine.load_service()};
      cycles = start + loop.ends(loads_ - 1);
      fetched = l2 ? 0 : loads_;
    }
    const AnswerSettings settings = memory_time();
    const char* because = level_ == "l1"   ? "L_dram + (n - 1) L_l1 + n t: one line, and t of the tests after each load"
                          : level_ == "l2" ? "n + ceil(n s) + n (L_l2 + t): n stores, their service, then n loads"
                                           : "n (L_dram + t): each load waits for the one before";
    answers.push_back({"time_cycles", cycles, 0, because, settings});
    answers.push_back({"time_dram_bytes", fetched * static_cast<double>(machine.fetched_bytes), 0,
                       "lines that no cache has", settings});
    return answers;
  }

  std::string level_;
  std::uint32_t loads_;
  std::uint32_t visits_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "pointer-chase",
     .summary = "One warp whose every load waits for the one before: latency",
     .text = "One warp of one SM loads n lines one after the other, so its time is n latencies of the level that "
             "serves them. Tests after each load make it the traversal of one warp.",
     .source = "Saavedra and Smith, Measuring cache and TLB performance, IEEE Transactions on Computers 44, 1995",
     .parameters = {declare::choice("level", "dram", {"l1", "l2", "dram"}, "Level that serves the loads."),
                    declare::whole("loads", 256, "loads", "Loads of the warp.", 1, 1 << 16),
                    declare::whole("visits", 0, "visits",
                                   "Nodes that the warp's lanes test after each load, one box each; 0: none.", 0,
                                   1024)}},
    [](const Parameters& parameters) { return std::make_unique<PointerChase>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
