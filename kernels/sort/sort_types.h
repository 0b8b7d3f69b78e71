// Push constants of the sort's kernels, compiled as C++ and as GLSL.
#ifdef __cplusplus
#pragma once
#include <cstddef>
#include <cstdint>
namespace rayreplay::kernels::sort_types {
using uint = std::uint32_t;
using uint64_t = std::uint64_t;
#endif

// upsweep, scan_rows, downsweep
struct SortPush {
  uint first_group;
  uint count;            // keys
  uint shift;            // the digit is (key >> shift) & digit_mask
  uint digit_mask;       // at most 255
  uint tiles_per_block;  // a workgroup's tiles
  uint blocks;           // workgroups
  uint64_t keys;
  uint64_t values;  // 0: none
  uint64_t to_keys;
  uint64_t to_values;
  uint64_t counts;  // u32 [256][blocks]: keys per digit and block; after scan_rows those of the blocks before
  uint64_t totals;  // u32 [256]: keys per digit
};

// varying_bits
struct VaryingPush {
  uint first_group;
  uint groups;
  uint64_t count;
  uint64_t keys;
  uint64_t ones;  // u32 [4]: bits that are set in some key, bits that are clear in some key; low words first
};

// block_sums, scan_sums, block_scan
struct SumPush {
  uint first_group;
  uint blocks;
  uint64_t count;
  uint64_t block_items;  // a multiple of a tile
  uint64_t from;
  uint64_t to;
  uint64_t sums;  // u64 [blocks]
};

#ifdef __cplusplus
static_assert(sizeof(SortPush) == 72 && offsetof(SortPush, keys) == 24 && offsetof(SortPush, totals) == 64);
static_assert(sizeof(VaryingPush) == 32 && offsetof(VaryingPush, count) == 8);
static_assert(sizeof(SumPush) == 48 && offsetof(SumPush, count) == 8);
}  // namespace rayreplay::kernels::sort_types
#endif
