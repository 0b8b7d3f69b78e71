#include "kernels/sort/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "Downsweep32.spv.hpp"
#include "Downsweep64.spv.hpp"
#include "RolledDownsweep32.spv.hpp"
#include "RolledDownsweep64.spv.hpp"
#include "RolledUpsweep32.spv.hpp"
#include "RolledUpsweep64.spv.hpp"
#include "ScanRows.spv.hpp"
#include "Upsweep32.spv.hpp"
#include "Upsweep64.spv.hpp"
#include "VaryingBits32.spv.hpp"
#include "VaryingBits64.spv.hpp"
#include "kernels/sort/sort_types.h"

namespace rayreplay::kernels {
namespace {

using sort_types::SortPush;
using sort_types::VaryingPush;

/// [loops are rolled][keys of 64 bits]
using Variants = std::array<std::array<Shader, 2>, 2>;
const Variants kUpsweeps{{{{{"sort.upsweep 32", kUpsweep32}, {"sort.upsweep 64", kUpsweep64}}},
                          {{{"sort.upsweep 32", kRolledUpsweep32}, {"sort.upsweep 64", kRolledUpsweep64}}}}};
const Variants kDownsweeps{{{{{"sort.downsweep 32", kDownsweep32}, {"sort.downsweep 64", kDownsweep64}}},
                            {{{"sort.downsweep 32", kRolledDownsweep32}, {"sort.downsweep 64", kRolledDownsweep64}}}}};
const Shader kRows{"sort.scan_rows", kScanRows};
const Shader kVaryingOf32{"sort.varying_bits 32", kVaryingBits32};
const Shader kVaryingOf64{"sort.varying_bits 64", kVaryingBits64};

constexpr std::uint32_t kBins = 256;
constexpr std::uint32_t kUsualSubgroup = 32;
// The fastest shapes of bench/gpu on an H200: with values, larger tiles in larger workgroups.
constexpr std::uint32_t kSubgroups = 8;  // of a workgroup
constexpr std::uint32_t kUsualItems = 16;
constexpr std::uint32_t kSubgroupsWithValues = 16;
constexpr std::uint32_t kItemsWithValues = 20;  // of 32-bit keys; half of 64-bit ones
constexpr std::uint32_t kUsualBlocks = 4096;
constexpr std::uint32_t kSharedBesides = 2 * kBins * 4 + 256;
constexpr std::uint32_t kVaryingGroups = 1024;
constexpr std::uint32_t kVaryingThreads = 256;
constexpr std::uint64_t kMaxKeys = 0xFFFF'FFFFU;

void check_key_bytes(std::uint32_t key_bytes) {
  if (key_bytes != 4 && key_bytes != 8) {
    throw Error(ErrorKind::Usage,
                {"keys of this size cannot be sorted", "", fmt::format("{} bytes", key_bytes), "4 or 8 bytes", ""});
  }
}

void check_count(std::uint64_t count) {
  if (count > kMaxKeys) {
    throw Error(ErrorKind::Usage, {"there are too many keys for one sort", "", fmt::format("{}", count),
                                   fmt::format("at most {}", kMaxKeys), "sort in parts"});
  }
}

std::uint64_t ones_below(std::uint32_t bit) {
  return bit >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bit) - 1;
}

}  // namespace

Sorter::Sorter(Device& device, const SortShape& shape) : device_(&device), shape_(shape) {}

Sorter::Layout Sorter::layout(std::uint32_t key_bytes, bool with_values) const {
  const DeviceInfo& info = device_->info();
  Layout result;
  if (info.least_subgroup < info.greatest_subgroup) {
    result.subgroup = std::clamp(kUsualSubgroup, info.least_subgroup, info.greatest_subgroup);
  }
  result.size = result.subgroup != 0 ? result.subgroup : info.subgroup_size;
  result.threads =
      shape_.threads != 0 ? shape_.threads : (with_values ? kSubgroupsWithValues : kSubgroups) * result.size;
  result.threads = std::max(std::min(result.threads, std::bit_floor(info.most_group_threads)), result.size);
  result.items = shape_.items != 0 ? shape_.items : with_values ? kItemsWithValues * 4 / key_bytes : kUsualItems;
  while (result.items > 1 && result.tile() * key_bytes + kSharedBesides > info.shared_bytes) {
    --result.items;
  }
  return result;
}

void Sorter::need(Stream& stream, std::uint64_t bytes) {
  if (counts_.bytes() < bytes) {
    stream.wait();
    counts_ = Buffer();
    counts_ = device_->allocate(bytes, "the sort's counts");
  }
  if (totals_.bytes() == 0) {
    totals_ = device_->allocate_array<std::uint32_t>(kBins, "the sort's totals");
  }
}

void Sorter::pass(Stream& stream, std::uint32_t count, std::uint32_t key_bytes, std::uint32_t shift,
                  std::uint32_t digit_mask, SortArrays& arrays) {
  const Layout shape = layout(key_bytes, arrays.values != nullptr);
  const std::uint64_t tiles = (std::uint64_t{count} + shape.tile() - 1) / shape.tile();
  const std::uint64_t most_blocks = shape_.most_blocks != 0 ? shape_.most_blocks : kUsualBlocks;
  SortPush push{};
  push.count = count;
  push.shift = shift;
  push.digit_mask = digit_mask;
  push.tiles_per_block = static_cast<std::uint32_t>((tiles + most_blocks - 1) / most_blocks);
  push.blocks = static_cast<std::uint32_t>((tiles + push.tiles_per_block - 1) / push.tiles_per_block);
  need(stream, std::uint64_t{push.blocks} * kBins * 4);
  push.keys = arrays.keys->address();
  push.to_keys = arrays.other_keys->address();
  if (arrays.values != nullptr) {
    push.values = arrays.values->address();
    push.to_values = arrays.other_values->address();
  }
  push.counts = counts_.address();
  push.totals = totals_.address();
  const std::array<std::uint32_t, 4> constants{shape.threads, shape.items, shape.size,
                                               arrays.values != nullptr ? 1U : 0U};
  const auto program = [&](const Shader& shader, std::size_t used) {
    return device_->program(shader, std::span(constants).first(used), shape.subgroup);
  };
  const std::size_t wide = key_bytes == 8 ? 1 : 0;
  const bool is_processor = device_->info().type == DeviceType::Cpu;
  const std::size_t rolled =
      shape_.loops == SortLoops::Rolled || (shape_.loops == SortLoops::Usual && is_processor) ? 1 : 0;
  stream.run(program(kUpsweeps[rolled][wide], 3), push.blocks, push);
  stream.run(program(kRows, 3), kBins, push);
  stream.run(program(kDownsweeps[rolled][wide], 4), push.blocks, push);
  std::swap(arrays.keys, arrays.other_keys);
  std::swap(arrays.values, arrays.other_values);
}

void Sorter::sort_by_mask(Stream& stream, std::uint64_t count, std::uint32_t key_bytes, std::uint64_t mask,
                          SortArrays& arrays) {
  check_key_bytes(key_bytes);
  check_count(count);
  if (count < 2) {
    return;
  }
  mask &= ones_below(8 * key_bytes);
  while (mask != 0) {
    const auto shift = static_cast<std::uint32_t>(std::countr_zero(mask));
    // Bits of the digit outside the mask are dropped, as are those above the key's end.
    const auto digit = static_cast<std::uint32_t>(mask >> shift & (kBins - 1));
    pass(stream, static_cast<std::uint32_t>(count), key_bytes, shift, digit, arrays);
    mask &= ~(std::uint64_t{kBins - 1} << shift);
  }
}

void Sorter::sort(Stream& stream, std::uint64_t count, std::uint32_t key_bytes, std::uint32_t first_bit,
                  std::uint32_t end_bit, SortArrays& arrays) {
  check_key_bytes(key_bytes);
  if (first_bit > end_bit || end_bit > 8 * key_bytes) {
    throw Error(ErrorKind::Usage,
                {"the range of key bits to sort by is invalid", "", fmt::format("[{}, {})", first_bit, end_bit),
                 fmt::format("bits between 0 and {}, the first before the last", 8 * key_bytes), ""});
  }
  sort_by_mask(stream, count, key_bytes, ones_below(end_bit) & ~ones_below(first_bit), arrays);
}

std::uint64_t Sorter::varying_bits(Stream& stream, const Buffer& keys, std::uint64_t count, std::uint32_t key_bytes) {
  check_key_bytes(key_bytes);
  if (count < 2) {
    return 0;
  }
  constexpr std::size_t kWords = 4;
  if (ones_.bytes() == 0) {
    ones_ = device_->allocate_array<std::uint32_t>(kWords, "the bits that vary");
  }
  stream.fill(ones_, 0, 0, kWords * 4);
  const std::uint64_t most = (count + kVaryingThreads - 1) / kVaryingThreads;
  const auto groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, kVaryingGroups));
  VaryingPush push{};
  push.groups = groups;
  push.count = count;
  push.keys = keys.address();
  push.ones = ones_.address();
  stream.run(device_->program(key_bytes == 8 ? kVaryingOf64 : kVaryingOf32), groups, push);
  std::array<std::uint32_t, kWords> ones{};
  stream.download_array(ones_, ones);
  stream.wait();
  const std::uint64_t set = ones[0] | std::uint64_t{ones[1]} << 32;
  const std::uint64_t clear = ones[2] | std::uint64_t{ones[3]} << 32;
  return set & clear;
}

void radix_sort(Device& device, Stream& stream, std::uint64_t count, std::uint32_t key_bytes, std::uint32_t first_bit,
                std::uint32_t end_bit, SortArrays& arrays) {
  Sorter sorter(device);
  sorter.sort(stream, count, key_bytes, first_bit, end_bit, arrays);
  stream.wait();
}

}  // namespace rayreplay::kernels
