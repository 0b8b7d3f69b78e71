#include "kernels/regrouping/number_keys.hpp"

#include <array>

#include "RegroupHeads.spv.hpp"
#include "RegroupIota.spv.hpp"
#include "RegroupRank.spv.hpp"
#include "RegroupVary.spv.hpp"
#include "kernels/regrouping/common.hpp"
#include "kernels/sort/exclusive_sum.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::kernels::regrouping {
namespace {

const Shader kHeads{"regroup: stretches", kRegroupHeads};
const Shader kIota{"regroup: segments in order", kRegroupIota};
const Shader kRank{"regroup: keys numbered", kRegroupRank};
const Shader kVary{"regroup: bits that differ", kRegroupVary};

}  // namespace

std::uint64_t varying_bits(Device& device, Stream& stream, const Buffer& keys, std::uint64_t count,
                           const Buffer& starts) {
  std::array<std::uint32_t, 4> masks{0, 0, 0xFFFF'FFFFU, 0xFFFF'FFFFU};
  const Buffer on_device = device.allocate_array<std::uint32_t>(masks.size(), "bits of the keys");
  stream.upload_array(on_device, masks);
  VaryPush push{};
  push.count = static_cast<uint>(count);
  push.keys = keys.address();
  push.starts = starts.address();
  push.masks = on_device.address();
  stream.run(device.program(kVary), groups_of(count, kPlacesAGroup), push);
  stream.download_array(on_device, masks);
  stream.wait();
  const std::uint64_t any = std::uint64_t{masks[1]} << 32 | masks[0];
  const std::uint64_t all = std::uint64_t{masks[3]} << 32 | masks[2];
  return any & ~all;
}

Buffer number_keys(Device& device, Stream& stream, const Buffer& keys, std::uint64_t count) {
  std::array<Buffer, 2> sorted;
  std::array<Buffer, 2> segments;
  for (std::size_t i = 0; i < 2; ++i) {
    sorted.at(i) = device.allocate_array<std::uint64_t>(count, "keys to number");
    segments.at(i) = device.allocate_array<std::uint32_t>(count + 1, "segments to number");
  }
  stream.copy(keys, 0, sorted[0], 0, count * sizeof(std::uint64_t));
  IotaPush iota{};
  iota.count = static_cast<uint>(count);
  iota.words = segments[0].address();
  stream.run(device.program(kIota), groups_of(count), iota);
  SortArrays arrays{&sorted.front(), &segments.front(), &sorted.back(), &segments.back()};
  radix_sort(device, stream, count, sizeof(std::uint64_t), 0, 64, arrays);
  // The ranks go into memory that the sort no longer needs.
  const Buffer flags = device.allocate_array<std::uint32_t>(count, "keys that are new");
  StretchPush heads{};
  heads.count = static_cast<uint>(count);
  heads.wide = 1;
  heads.keys = arrays.keys->address();
  heads.flags = flags.address();
  stream.run(device.program(kHeads), groups_of(count), heads);
  exclusive_sum(device, stream, flags, *arrays.other_values, count);
  Buffer ranks = device.allocate_array<std::uint64_t>(count, "numbers of keys");
  RankPush push{};
  push.count = static_cast<uint>(count);
  push.flags = flags.address();
  push.number = arrays.other_values->address();
  push.segments = arrays.values->address();
  push.ranks = ranks.address();
  stream.run(device.program(kRank), groups_of(count), push);
  stream.wait();
  return ranks;
}

}  // namespace rayreplay::kernels::regrouping
