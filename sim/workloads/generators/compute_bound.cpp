// Warps that only run shader instructions: time is issue slots, or the latency of the instructions.
//
// Contract: every partition of every SM runs n · rounds warps, n at a time. A warp has i instructions, which keep its
// partition for v = i / (issue_per_cycle / issue_partitions) cycles, and take at least l cycles. With
// P = max(⌈v⌉, l): the last warp begins at (n − 1) v + (rounds − 1) max(P, n v), and takes P. A warp alone (n = 1) has
// one partition, and its own latency. Source: Little 1961; rayreplay. O(warps).
#include <cmath>
#include <memory>

#include "sim/workloads/one_row_workload.hpp"

namespace rayreplay::workloads {
namespace {

class ComputeBound final : public OneRowWorkload {
 public:
  explicit ComputeBound(const Parameters& parameters)
      : OneRowWorkload("compute-bound", parameters),
        instructions_(get_count(parameters, "instructions")),
        latency_(get_count(parameters, "latency")) {}

  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"compute-bound:warps=4", "compute-bound:warps=1", "compute-bound:warps=2,latency=1000"};
  }

 private:
  void fill(memory::WarpWork& row) const override {
    row.issue = instructions_ * memory::kIssueScale;
    row.latency = latency_;
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const AnswerSettings settings = memory_time();
    const double service = machine.issue_service(instructions_);
    const double alone = std::max({std::ceil(service), static_cast<double>(latency_), 1.0});
    const double last = (warps_ - 1) * service + (rounds_ - 1) * std::max(alone, warps_ * service);
    const double cycles = std::max({std::ceil(last + service), std::floor(last) + latency_, 1.0});
    const bool close = warps_ > 1 && std::abs(alone - warps_ * service) < 1;
    const double rounding = close && rounds_ > 1 ? rounds_ : 0;
    const double busy = warps_ * static_cast<double>(rounds_) * service / cycles;
    return {
        {"time_cycles", cycles, rounding, "(n - 1) v + (rounds - 1) max(P, n v) + P, P = max(v, latency)", settings},
        {"time_issue_slots_busy", busy, 1e-9 + busy * rounding / cycles, "n rounds v / cycles", settings},
        {"time_issue_share", 1, 1e-9, "no warp does anything else", settings}};
  }

  std::uint32_t instructions_;
  std::uint32_t latency_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "compute-bound",
     .summary = "Warps of shader instructions alone: issue slots",
     .text = "Every partition of every SM holds n warps of i instructions. With few warps their latency is the time, "
             "with many the rate at which the partition issues.",
     .source = "Little, A proof for the queuing formula L = lambda W, Operations Research 9, 1961; rayreplay",
     .parameters = {declare::whole("instructions", 64, "instructions", "Shader instructions of a warp.", 1, 1 << 20),
                    declare::whole("latency", 0, "cycles", "Least cycles that these instructions take.", 0, 1 << 20),
                    of_partition_parameter(4), rounds_parameter(8)}},
    [](const Parameters& parameters) { return std::make_unique<ComputeBound>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
