// Segments between this room and the device (kernels/regrouping/segments.hpp).
//
// Contract: `cut_on_device` is `cut_paths` there; the cut has been checked. `segments_on` gives the segments in the
// device's memory: those that are there already, or a copy. `why_not_on_device` says why a launch cannot be cut by a
// device; empty: it can. Errors: DeviceError, std::bad_alloc.
#pragma once

#include <memory>
#include <string>

#include "kernels/regrouping/segments.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::scheduler {

[[nodiscard]] std::string why_not_on_device(const trace::Launch& launch);
[[nodiscard]] Segments cut_on_device(kernels::Device& device, kernels::LaunchOnDevice& launch, const Cut& cut);
[[nodiscard]] std::shared_ptr<const kernels::SegmentsOnDevice> segments_on(kernels::Device& device,
                                                                           kernels::Stream& stream,
                                                                           const Segments& segments);

}  // namespace rayreplay::scheduler
