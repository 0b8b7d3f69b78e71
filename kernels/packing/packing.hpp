// Packings on a device: threads sorted by a key of what they did, as the models in scheduler-models/packings/ say.
//
// Contract: `pack` returns the swizzle (scheduler-models/packing.hpp) of the launch's threads: those of `places` in the
// order in which their warps start, sorted stably by the key, the i-th of them given to the i-th place; inside each
// tile if `tiled`. Equal bit for bit to what the models compute on the processor; coordinates are quantised with sums
// and differences in float64 and exact quotients, so that no device's rounding shows. Columns come from the
// LaunchOnDevice, which keeps them there; the places go up and 4 bytes a thread come down. At most 2^32 − 1 threads.
// Errors: DeviceError; Memory when columns, or about 80 bytes a thread, do not fit.
//
// Sequences (objects, calls) are sorted word by word: a key is the number of the thread's group of ties, then as many
// symbols as fit into 64 bits. Threads that are alone behind a word are done; the others go on with the next symbols.
#pragma once

#include <cstdint>

#include "kernels/device/device.hpp"
#include "kernels/launch_on_device.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::kernels {

enum class PackingKey : std::uint8_t {
  RayCount,
  FirstHitShader,
  Random,
  OriginMorton,
  OriginHilbert,
  DirectionMorton,
  DirectionHilbert,
  Objects,
  ShaderSequence,
};

struct PackingRequest {
  PackingKey key = PackingKey::RayCount;
  bool tiled = false;
  std::uint64_t ray = 0;   ///< origins and directions: which ray of the thread
  std::uint32_t bits = 0;  ///< per axis: 1 to 21 for origins, to 31 for directions
  std::uint64_t seed = 0;  ///< random
};

[[nodiscard]] Needs packing_needs(PackingKey key);

[[nodiscard]] trace::Column<std::uint32_t> pack(LaunchOnDevice& launch, Device& device,
                                                const scheduler::WarpAssignment& places, const PackingRequest& request);

}  // namespace rayreplay::kernels
