// Sorting of 32- and 64-bit keys with 32-bit values in device memory.
//
// Contract: ascending by bits [first_bit, end_bit) of the keys, or by the bits of a mask; stable. Keys and values are
// sorted between two pairs of arrays of at least `count` entries: afterwards `keys` and `values` point to the sorted
// ones, possibly swapped. No values: both null. At most 2^32 − 1 keys. Errors: Usage for invalid bits or key sizes;
// DeviceError.
//
// Method: least significant digit first, 8 bits a pass (Merrill and Grimshaw, "High performance and scalable radix
// sorting", Parallel Processing Letters 2011); bits in which all keys agree need no pass, if the caller knows them
// (`varying_bits`). A pass counts the digits of each block of keys (upsweep), sums the counts (scan_rows), and moves
// keys and values to their places, sorted tile by tile in shared memory first (downsweep). No workgroup waits for
// another, so launches may be divided. A pass moves 3 keys and 2 values per item: 32 bytes for 64-bit keys with values.
// A stable order is unique: all devices give the same result.
//
// A Sorter owns its scratch memory (about 1 KiB per 4096 keys up to 4 MiB): wait for the stream before destroying it.
// It belongs to one device and one thread; sorts of several streams may not overlap.
#pragma once

#include <cstdint>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

struct SortArrays {
  Buffer* keys = nullptr;
  Buffer* values = nullptr;
  Buffer* other_keys = nullptr;
  Buffer* other_values = nullptr;
};

/// Form of the kernels' loops over a thread's keys.
enum class SortLoops : std::uint8_t { Usual, Rolled, Unrolled };

/// Division of the work; 0: best for the device. Never changes results.
struct SortShape {
  std::uint32_t items = 0;             ///< keys per thread and tile
  std::uint32_t threads = 0;           ///< of a workgroup: a power of two, a multiple of the subgroup
  std::uint32_t most_blocks = 0;       ///< workgroups of a pass
  SortLoops loops = SortLoops::Usual;  ///< rolled for devices that are processors
};

class Sorter {
 public:
  explicit Sorter(Device& device, const SortShape& shape = {});

  void sort(Stream& stream, std::uint64_t count, std::uint32_t key_bytes, std::uint32_t first_bit,
            std::uint32_t end_bit, SortArrays& arrays);
  /// By the bits of `mask` alone. Each pass takes the lowest remaining bits within one digit.
  void sort_by_mask(Stream& stream, std::uint64_t count, std::uint32_t key_bytes, std::uint64_t mask,
                    SortArrays& arrays);
  /// The bits in which keys differ. Waits for the stream.
  [[nodiscard]] std::uint64_t varying_bits(Stream& stream, const Buffer& keys, std::uint64_t count,
                                           std::uint32_t key_bytes);

 private:
  struct Layout {
    std::uint32_t subgroup = 0;  ///< asked for; 0: the device cannot be asked
    std::uint32_t size = 0;      ///< of a subgroup
    std::uint32_t threads = 0;
    std::uint32_t items = 0;
    [[nodiscard]] std::uint32_t tile() const {
      return threads * items;
    }
  };
  [[nodiscard]] Layout layout(std::uint32_t key_bytes, bool with_values) const;
  void pass(Stream& stream, std::uint32_t count, std::uint32_t key_bytes, std::uint32_t shift, std::uint32_t digit_mask,
            SortArrays& arrays);
  /// Waits for the stream if the scratch memory must grow.
  void need(Stream& stream, std::uint64_t bytes);

  Device* device_;
  SortShape shape_;
  Buffer counts_;
  Buffer totals_;
  Buffer ones_;
};

/// With its own scratch memory; waits for the stream.
void radix_sort(Device& device, Stream& stream, std::uint64_t count, std::uint32_t key_bytes, std::uint32_t first_bit,
                std::uint32_t end_bit, SortArrays& arrays);

}  // namespace rayreplay::kernels
