// Reorder keys between this room and the device (kernels/regrouping/keys.hpp), and their twin.
//
// Contract: `keys_on_cpu` is `reorder_keys` whatever the context's device. `keys_on` makes the same keys on the device;
// `download_keys` brings them to the processor. `why_no_keys_on_device` says why keys of these parts are not made
// there; empty: they are. `check_rays` and `check_hits` throw Missing where places are asked for and the launch has
// none. Errors: those of `reorder_keys`, DeviceError.
#pragma once

#include <string>

#include "kernels/regrouping/keys.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"

namespace rayreplay::scheduler {

[[nodiscard]] trace::Column<std::uint64_t> keys_on_cpu(const PlanContext& context, const KeyParts& parts);

void check_rays(const trace::Launch& launch);
void check_hits(const trace::Launch& launch, bool any_hit);

[[nodiscard]] std::string why_no_keys_on_device(const PlanContext& context, const KeyParts& parts);
[[nodiscard]] kernels::Buffer keys_on(kernels::Device& device, kernels::Stream& stream, const PlanContext& context,
                                      const kernels::SegmentsOnDevice& segments, const KeyParts& parts);
[[nodiscard]] trace::Column<std::uint64_t> download_keys(kernels::Device& device, const PlanContext& context,
                                                         const KeyParts& parts);

}  // namespace rayreplay::scheduler
