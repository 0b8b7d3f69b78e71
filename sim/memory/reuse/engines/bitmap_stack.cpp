#include "sim/memory/reuse/engines/bitmap_stack.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::size_t kChunk = 1024;  ///< accesses that go through the table, then through the slots, at a time
constexpr std::uint64_t kSlotsPerLine =
    4;  ///< after renumbering, so that its cost is spread over three accesses a line

}  // namespace

void BitmapStack::renumber() {
  const std::uint64_t live = slots_.live();
  if (live > kMaxLines) {
    throw Error(ErrorKind::Resource, {"too many different lines for the reuse engine 'bitmap'", "", "more than 2^30",
                                      "at most 2^30", "use larger lines or the engine 'sampled'"});
  }
  table_.for_each_number(slots_.renumbering());
  if (kSlotsPerLine * live > slots_.capacity()) {
    slots_ = SlotRank(2 * kSlotsPerLine * live, form_);
  }
  slots_.restart(live);
}

void BitmapStack::distances(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) {
  std::array<std::uint32_t, kChunk> previous;
  std::uint32_t* to = out.data();
  while (!lines.empty()) {
    if (slots_.now() == slots_.capacity()) {
      renumber();
    }
    const std::size_t n = std::min({lines.size(), kChunk, static_cast<std::size_t>(slots_.capacity() - slots_.now())});
    table_.exchange(lines.first(n), slots_.now() + 1, previous.data());
    slots_.distances({previous.data(), n}, to);
    lines = lines.subspan(n);
    to += n;
  }
}

}  // namespace rayreplay::memory
