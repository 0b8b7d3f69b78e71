// The threads of a launch as warps: in launch order, and packed.
//
// Contract: `in_order` arranges the threads in warps of `warp_size` lanes by the launch order `order` (a spec); `pack`
// permutes them by the packing `packing` (a spec). O(threads) beside the models. `on_device`: of that launch; null: the
// processor. Errors: those of the models; Missing if the order is "captured" and the trace has no warps.
#pragma once

#include <cstdint>
#include <string>

#include "capture/trace/accelerated_launch.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::experiment {

[[nodiscard]] scheduler::WarpAssignment in_order(const trace::Launch& launch, const std::string& order,
                                                 std::uint32_t warp_size);

[[nodiscard]] scheduler::WarpAssignment pack(const trace::Launch& launch, const scheduler::WarpAssignment& order,
                                             const std::string& packing, trace::AcceleratedLaunch* on_device = nullptr);

}  // namespace rayreplay::experiment
