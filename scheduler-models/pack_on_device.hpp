// Packings on the launch's device: what the models share.
//
// Contract: gives what `on_cpu` gives: from the device's kernels if there is one that can, else from `on_cpu` itself.
// The stage is recorded as "packing" (kernels/accelerator.hpp).
#pragma once

#include <functional>

#include "kernels/packing/packing.hpp"
#include "scheduler-models/packing.hpp"

namespace rayreplay::scheduler {

/// `device`: null for none.
[[nodiscard]] Swizzle pack_on(kernels::LaunchOnDevice* device, const WarpAssignment& assignment,
                              const kernels::PackingRequest& request, const std::function<Swizzle()>& on_cpu);

}  // namespace rayreplay::scheduler
