// Sums of values by key on the device: counts per pixel, per object, per element.
//
// Contract: sums[k] += the values of all items whose key is k, modulo 2^64; items with keys of `key_count` and above
// are left out. Whole numbers, so the result does not depend on the order in which they are added: the same bits on
// every device. Keys are 32-bit words, values nothing (every item counts 1), 32-bit or 64-bit words; sums are 64-bit
// words, which the caller fills with zeros (or what to add to). All buffers are read from their beginning. Nothing is
// waited for, nothing allocated. A workgroup adds up its range of items in a table in shared memory, of all keys if
// they are few, else of the keys that it meets first, and adds that to the sums by atomics: keys that come again and
// again, next to each other or not, cost a few atomics a workgroup. Bytes moved at least: 4 a key, the value's, and 16
// a sum. 64-bit atomics are used where the device has them; else pairs of 32-bit ones. Errors: Usage for a buffer that
// is too small; DeviceError.
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

/// How the sums in memory are added to: for tests and measurements; `Best` elsewhere.
enum class SumAtomics { Best, Pairs };

/// `key_count`: at most 2^32 − 1.
void sum_by_key(Device& device, Stream& stream, const KeyedItems& items, std::uint32_t key_count, const Buffer& sums,
                SumAtomics atomics = SumAtomics::Best);

}  // namespace rayreplay::kernels
