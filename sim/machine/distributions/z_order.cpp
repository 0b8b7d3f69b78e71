// Z-order: that launch order, independent of the experiment's.
#include "base/declare_parameters.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/machine/distributions/plans.hpp"

namespace rayreplay::machine {
namespace {

class ZOrder final : public WorkDistribution {
 public:
  explicit ZOrder(const Parameters& parameters)
      : order_(scheduler::LaunchOrders::create("z-order:warp=" + parameters.get_string("warp") +
                                               ",tile=" + parameters.get_string("tile") +
                                               ",quadrants=" + parameters.get_string("quadrants"))
                   .model) {}

  [[nodiscard]] WorkPlan plan(const trace::Launch& launch, const scheduler::WarpAssignment& assignment,
                              std::uint32_t /*sms*/) const override {
    return plan_in_start_order(order_->assign(launch, assignment.warp_size));
  }

 private:
  std::unique_ptr<scheduler::LaunchOrder> order_;
};

const WorkDistributions::Registrar kRegistrar(
    {.kind = {},
     .name = "z-order",
     .summary = "Warps along a Z-like curve inside tiles, to whichever SM has a free slot",
     .text = "One queue of warps in the launch order z-order, without packing; launch order and packing of the "
             "experiment are not used. Warps are placed on SMs as in `launch`.",
     .source = "ReRay thesis, section 3.2.2 and table 3.1",
     .parameters = {declare::text("warp", "auto", "pixels", "As in the launch order z-order."),
                    declare::text("tile", "auto", "pixels", "As in the launch order z-order."),
                    declare::text("quadrants", "auto", "", "As in the launch order z-order.")}},
    [](const Parameters& parameters) { return std::make_unique<ZOrder>(parameters); });

}  // namespace
}  // namespace rayreplay::machine
