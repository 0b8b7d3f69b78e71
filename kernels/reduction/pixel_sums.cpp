#include "kernels/reduction/pixel_sums.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "PixelEvents.spv.hpp"
#include "SumSlices.spv.hpp"

#include "kernels/reduction/require_bytes.hpp"

namespace rayreplay::kernels {
namespace {

constexpr std::uint64_t kPixelGroup = 64;
constexpr std::uint64_t kSliceGroup = 256;

struct PixelPush {
  std::uint32_t first_group = 0;
  std::uint32_t columns = 0;
  std::array<std::uint32_t, kMaxEventColumns> kinds_counted{};
  std::uint32_t depth = 0;
  std::uint32_t unused = 0;
  std::uint64_t pixels = 0;
  std::uint64_t kinds = 0;
  std::uint64_t events = 0;
  std::uint64_t offsets = 0;
  std::uint64_t counts = 0;
};

struct SlicePush {
  std::uint32_t first_group = 0;
  std::uint32_t depth = 0;
  std::uint64_t width = 0;
  std::uint64_t values = 0;
  std::uint64_t sums = 0;
};

}  // namespace

Buffer count_pixel_events(Device& device, Stream& stream, const Buffer& kinds, std::uint64_t events,
                          const Buffer& offsets, ThreadSlices slices, std::span<const std::uint32_t> columns) {
  if (columns.empty() || columns.size() > kMaxEventColumns) {
    throw Error(ErrorKind::Usage, {"too many or no columns to count events in", "sums per pixel",
                                   fmt::format("{}", columns.size()), fmt::format("1 to {}", kMaxEventColumns), ""});
  }
  require_bytes(kinds, events, "kinds of events", "sums per pixel");
  require_bytes(offsets, (slices.pixels * slices.depth + 1) * 8, "offsets of events", "sums per pixel");
  Buffer counts = device.allocate_array<std::uint32_t>(slices.pixels * columns.size(), "events per pixel");
  PixelPush push;
  push.columns = static_cast<std::uint32_t>(columns.size());
  std::copy(columns.begin(), columns.end(), push.kinds_counted.begin());
  push.depth = slices.depth;
  push.pixels = slices.pixels;
  push.kinds = kinds.address();
  push.events = events;
  push.offsets = offsets.address();
  push.counts = counts.address();
  stream.run(device.program({"events per pixel", kPixelEvents, {}}), (slices.pixels + kPixelGroup - 1) / kPixelGroup,
             push);
  return counts;
}

Buffer sum_slices(Device& device, Stream& stream, const Buffer& values, std::uint64_t width, std::uint32_t depth) {
  require_bytes(values, width * depth * 8, "slices", "sums per pixel");
  Buffer sums = device.allocate_array<std::uint64_t>(width, "sums over slices");
  stream.run(device.program({"sums over slices", kSumSlices, {}}), (width + kSliceGroup - 1) / kSliceGroup,
             SlicePush{0, depth, width, values.address(), sums.address()});
  return sums;
}

}  // namespace rayreplay::kernels
