#include "sim/launch/warps.hpp"

#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"

namespace rayreplay::experiment {

scheduler::WarpAssignment in_order(const trace::Launch& launch, const std::string& order, std::uint32_t warp_size) {
  return scheduler::LaunchOrders::create(order).model->assign(launch, warp_size);
}

scheduler::WarpAssignment pack(const trace::Launch& launch, const scheduler::WarpAssignment& order,
                               const std::string& packing, trace::AcceleratedLaunch* on_device) {
  return scheduler::apply(order, scheduler::Packings::create(packing).model->compute_on(launch, order, on_device));
}

}  // namespace rayreplay::experiment
