// Reorder keys between this room and the device (kernels/regrouping/keys.hpp), and their twin.
//
// Contract: `keys_on_cpu` is `reorder_keys` whatever the context's device. `keys_on` makes the same keys on the device,
// of shader and hint; `download_keys` brings them to the processor. `why_not_on_device` says why keys of these parts are
// not made there; empty: they are. Errors: those of `reorder_keys`, DeviceError.
#pragma once

#include <string>

#include "kernels/regrouping/keys.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"

namespace rayreplay::scheduler {

[[nodiscard]] trace::Column<std::uint64_t> keys_on_cpu(const PlanContext& context, const KeyParts& parts);

[[nodiscard]] std::string why_not_on_device(const trace::Launch& launch, const KeyParts& parts);
[[nodiscard]] kernels::Buffer keys_on(kernels::Device& device, kernels::Stream& stream, const PlanContext& context,
                                      const kernels::SegmentsOnDevice& segments, const KeyParts& parts);
[[nodiscard]] trace::Column<std::uint64_t> download_keys(kernels::Device& device, const PlanContext& context,
                                                         const KeyParts& parts);

}  // namespace rayreplay::scheduler
