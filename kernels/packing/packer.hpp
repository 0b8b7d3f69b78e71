// Shared parts of packings on a device: the stream, sorts and sums, and lists of threads.
//
// Contract: lives for one call of `pack`; everything is recorded on one stream.
#pragma once

#include <cstdint>

#include "kernels/packing/call_counts.hpp"
#include "kernels/packing/packing.hpp"
#include "kernels/packing/packing_types.h"
#include "kernels/sort/exclusive_sum.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::kernels::packing {

inline constexpr std::uint64_t kGroupThreads = 256;

struct Packer {
  LaunchOnDevice& launch;
  Device& device;
  Sorter sorter{device};
  Summer summer{device};
  /// Last member: its destructor waits before the others are freed.
  Stream stream{device};

  /// One thread per item.
  template <class Push>
  void run_items(const Shader& shader, std::uint64_t items, const Push& push,
                 std::span<const std::uint32_t> constants = {}) {
    if (items > 0) {
      stream.run(device.program(shader, constants), (items + kGroupThreads - 1) / kGroupThreads, push);
    }
  }
};

/// A list of threads, and scratch memory of the same size.
struct ThreadBuffer {
  std::uint64_t count = 0;
  Buffer threads;
  Buffer other;
};

/// Sorts the list by one key per thread.
void sort_by_key(Packer& packer, const PackingRequest& request, ThreadBuffer& list);
/// Sorts the list by sequences of objects or calls.
void sort_by_sequence(Packer& packer, PackingKey key, ThreadBuffer& list);

/// The greatest entry of each column; 0 for an empty one. Waits for the stream.
[[nodiscard]] std::uint32_t last_shader(LaunchOnDevice& launch, Device& device, Stream& stream);
/// Keys of tiles: thread_keys.comp.
void run_tile_keys(Packer& packer, const packing_types::KeyPush& push);

struct LastObject {
  std::uint32_t instance = 0;
  std::uint32_t primitive = 0;
};
[[nodiscard]] LastObject last_object(LaunchOnDevice& launch, Device& device, Stream& stream);
[[nodiscard]] CallCounts count_calls(LaunchOnDevice& launch, Device& device, Stream& stream);

}  // namespace rayreplay::kernels::packing
