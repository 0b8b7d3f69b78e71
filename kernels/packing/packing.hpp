// Packings on a device: the sorts of the models in scheduler-models/packings/.
//
// Contract: `pack` returns the swizzle (scheduler-models/packing.hpp) of the launch's threads: those of `places`, warps
// in start order, sorted stably by the key; the i-th place gets the i-th thread; inside each tile if `tiled`. Equal bit
// for bit to the models on the processor: coordinates are quantised by float64 sums and differences and exact
// quotients, which no device rounds differently. LaunchOnDevice keeps the columns on the device; places are uploaded
// and 4 bytes a thread downloaded. At most 2^32 − 1 threads. Errors: DeviceError; Memory when columns, or about 80
// bytes a thread, do not fit.
//
// Sequences (objects, calls) are sorted word by word: a key is the number of the thread's tie group, then as many
// symbols as fit into 64 bits. Threads with a unique key are finished; the others continue with the next symbols.
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
