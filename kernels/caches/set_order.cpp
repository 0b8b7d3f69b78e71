#include "kernels/caches/set_order.hpp"

#include <bit>

#include "LruSets.spv.hpp"
#include "LruSetsLong.spv.hpp"

namespace rayreplay::kernels {
namespace {

constexpr Shader kSets{.name = "caches: sets", .code = kLruSets};
constexpr Shader kSetsLong{.name = "caches: sets, 64-bit lines", .code = kLruSetsLong};

}  // namespace

void sort_by_set(Device& device, Stream& stream, const LinesOnDevice& lines, std::uint64_t sets, Sorter& sorter,
                 SortArrays& arrays) {
  stream.run(device.program(lines.line_bytes == sizeof(std::uint64_t) ? kSetsLong : kSets), groups_of(lines.accesses),
             lru::SetArguments{.first_group = 0,
                               .count = static_cast<std::uint32_t>(lines.accesses),
                               .sets = static_cast<std::uint32_t>(sets),
                               .low = static_cast<std::uint32_t>(lines.low % sets),
                               .lines = lines.lines->address(),
                               .keys = arrays.keys->address(),
                               .index = arrays.values->address()});
  if (sets > 1) {
    sorter.sort(stream, lines.accesses, sizeof(std::uint32_t), 0, static_cast<std::uint32_t>(std::bit_width(sets - 1)),
                arrays);
  }
}

}  // namespace rayreplay::kernels
