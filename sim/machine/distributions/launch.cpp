// Launch: the warps of the experiment's launch order and packing, as slots become free.
#include "sim/machine/distributions/plans.hpp"

namespace rayreplay::machine {
namespace {

class Launch final : public WorkDistribution {
 public:
  [[nodiscard]] WorkPlan plan(const trace::Launch& /*launch*/, const scheduler::WarpAssignment& assignment,
                              std::uint32_t /*sms*/) const override {
    return plan_in_start_order(assignment);
  }
};

const WorkDistributions::Registrar kRegistrar(
    {.kind = {},
     .name = "launch",
     .summary = "The experiment's warps in their launch order, to whichever SM has a free slot",
     .text = "The warps of the experiment's launch order and packing wait in one queue, in start order; an SM with a "
             "free slot takes the next.\n\n"
             "Assumes that warps are placed one at a time, on the SM that runs the fewest. Hardware was seen to place "
             "warps in groups (a group of four on an RTX 3080); how it chooses the SM is not published.",
     .source = "rayreplay",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Launch>(); });

}  // namespace
}  // namespace rayreplay::machine
