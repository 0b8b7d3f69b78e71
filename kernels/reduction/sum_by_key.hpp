// Sums of values by key on the device: counts per pixel, per object, per element.
//
// Contract: sums[k] += the values of all items whose key is k, modulo 2^64; keys of `key_count` and above are ignored.
// Integers: the same bits for any order of additions and on every device. Keys are 32-bit words; values are nothing
// (every item counts 1), 32-bit or 64-bit words; sums are 64-bit words, initialised by the caller. Buffers are read
// from their beginning. Neither waits nor allocates. A workgroup adds its range of items in a table in shared memory
// (of all keys if they are few, else of the first ones it meets) and adds the table to the sums by atomics: repeated
// keys cost a few atomics a workgroup. Bytes moved at least: 4 a key, the value's, and 16 a sum. 64-bit atomics where
// the device has them; else pairs of 32-bit ones. Errors: Usage for a buffer that is too small; DeviceError.
#pragma once

#include <cstdint>

#include "kernels/device/device.hpp"

namespace rayreplay::kernels {

enum class ValueWidth : std::uint32_t { One = 0, Word = 1, Long = 2 };

struct KeyedItems {
  std::uint64_t count = 0;
  const Buffer* keys = nullptr;
  const Buffer* values = nullptr;  ///< null: One
  ValueWidth width = ValueWidth::One;
};

/// The atomics of the sums: other values than `Best` are for tests and measurements.
enum class SumAtomics { Best, Pairs };

/// `key_count`: at most 2^32 − 1.
void sum_by_key(Device& device, Stream& stream, const KeyedItems& items, std::uint32_t key_count, const Buffer& sums,
                SumAtomics atomics = SumAtomics::Best);

}  // namespace rayreplay::kernels
