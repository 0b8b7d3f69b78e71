#include "scheduler-models/pack_on_device.hpp"

#include <span>

namespace rayreplay::scheduler {

Swizzle pack_on(kernels::LaunchOnDevice* device, const WarpAssignment& assignment,
                const kernels::PackingRequest& request, const std::function<Swizzle()>& on_cpu) {
  if (device == nullptr) {
    return on_cpu();
  }
  const kernels::PlacesView places{assignment.warp_size, assignment.thread_at, assignment.start_rank, assignment.tile};
  return device->accelerator().run_on_one(
      "packing", kernels::packing_needs(request.key),
      // One sort does not gain from several devices.
      [&](kernels::Device& one) { return kernels::pack(*device, one, places, request); }, on_cpu);
}

}  // namespace rayreplay::scheduler
