#include "kernels/reduction/sum_by_key.hpp"

#include <algorithm>
#include <array>

#include "SumByKey.spv.hpp"
#include "SumByKeyInt64Atomics.spv.hpp"

#include "kernels/reduction/require_bytes.hpp"

namespace rayreplay::kernels {
namespace {

constexpr std::uint32_t kTableKeys = 2048;      // as kSlots of the kernel
constexpr std::uint64_t kMinGroupItems = 8192;  // makes the table's cost, 2048 slots, small in comparison
constexpr std::uint64_t kRound = 1024;          // items of one round of a workgroup
constexpr std::uint64_t kGroups = 4096;         // enough to fill the largest device several times

struct Push {
  std::uint32_t first_group = 0;
  std::uint32_t key_count = 0;
  std::uint64_t count = 0;
  std::uint64_t group_items = 0;
  std::uint64_t keys = 0;
  std::uint64_t values = 0;
  std::uint64_t sums = 0;
};

}  // namespace

void sum_by_key(Device& device, Stream& stream, const KeyedItems& items, std::uint32_t key_count, const Buffer& sums,
                SumAtomics atomics) {
  const ValueWidth width = items.values == nullptr ? ValueWidth::One : items.width;
  require_bytes(*items.keys, items.count * 4, "keys", "sum_by_key");
  if (width != ValueWidth::One) {
    require_bytes(*items.values, items.count * (width == ValueWidth::Word ? 4 : 8), "values", "sum_by_key");
  }
  require_bytes(sums, std::uint64_t{key_count} * 8, "sums", "sum_by_key");
  if (items.count == 0 || key_count == 0) {
    return;
  }
  const bool wide = atomics == SumAtomics::Best && device.info().has.int64_atomics;
  const Shader shader = wide ? Shader{"sums by key", kSumByKeyInt64Atomics, {.int64_atomics = true}}
                             : Shader{"sums by key, atomic pairs", kSumByKey, {}};
  const std::array<std::uint32_t, 2> constants{static_cast<std::uint32_t>(width), key_count <= kTableKeys ? 1U : 0U};
  const std::uint64_t share = (items.count + kGroups - 1) / kGroups;
  const std::uint64_t group_items = (std::max(share, kMinGroupItems) + kRound - 1) / kRound * kRound;
  stream.run(device.program(shader, constants), (items.count + group_items - 1) / group_items,
             Push{0, key_count, items.count, group_items, items.keys->address(),
                  width == ValueWidth::One ? 0 : items.values->address(), sums.address()});
}

}  // namespace rayreplay::kernels
