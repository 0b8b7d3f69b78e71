#include "scheduler-models/warp_grid.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::scheduler {

std::optional<Extent> parse_extent(const std::string& text, const std::string& owner) {
  if (text == "auto") {
    return std::nullopt;
  }
  Extent extent;
  const char* const end = text.data() + text.size();
  const auto [cross, width_error] = std::from_chars(text.data(), end, extent.width);
  if (width_error == std::errc() && cross != end && *cross == 'x') {
    const auto [stop, height_error] = std::from_chars(cross + 1, end, extent.height);
    if (height_error == std::errc() && stop == end && extent.width > 0 && extent.height > 0) {
      return extent;
    }
  }
  throw Error(ErrorKind::Usage, {"the value is no size", owner, "'" + text + "'",
                                 "auto, or WIDTHxHEIGHT in whole numbers from 1, such as 8x4", ""});
}

Extent in_warps(const std::string& what, Extent extent, Extent shape) {
  if (extent.width % shape.width != 0 || extent.height % shape.height != 0) {
    throw Error(ErrorKind::Usage, {fmt::format("the {} does not hold whole warps", what), what,
                                   fmt::format("{}x{}", extent.width, extent.height),
                                   fmt::format("multiples of the warp's {}x{}", shape.width, shape.height), ""});
  }
  return {extent.width / shape.width, extent.height / shape.height};
}

Extent default_warp_shape(trace::LaunchSize size, std::uint32_t warp_size) {
  if (size.height == 1) {
    return {warp_size, 1};
  }
  if (size.width == 1) {
    return {1, warp_size};
  }
  if (!std::has_single_bit(warp_size) || warp_size == 8) {
    return {warp_size, 1};
  }
  const auto height_bits = static_cast<std::uint32_t>(std::countr_zero(warp_size)) / 2;
  return {warp_size >> height_bits, 1U << height_bits};
}

WarpGrid make_warp_grid(trace::LaunchSize size, std::uint32_t warp_size, Extent shape) {
  check_warp_size(warp_size);
  if (std::uint64_t{shape.width} * shape.height != warp_size) {
    throw Error(ErrorKind::Usage,
                {"the warp's shape does not fit the warp size", "warp", fmt::format("{}x{}", shape.width, shape.height),
                 fmt::format("a shape of {} threads", warp_size), "write warp=auto"});
  }
  // Division avoids overflow: the product of three 32-bit numbers may exceed 64 bits.
  if (size.width != 0 && size.height != 0 && size.depth != 0) {
    const std::uint64_t slice = std::uint64_t{size.width} * size.height;
    if (slice >= kNoThread + std::uint64_t{1} || size.depth > kNoThread / slice) {
      throw Error(ErrorKind::Usage,
                  {"the launch has too many threads", "", fmt::format("{}x{}x{}", size.width, size.height, size.depth),
                   fmt::format("at most {} threads", kNoThread), ""});
    }
  } else {
    return {shape, 0, 0, 0};
  }
  return {shape, parts(size.width, shape.width), parts(size.height, shape.height), size.depth};
}

WarpAssignment assign_row_major(trace::LaunchSize size, std::uint32_t warp_size, const WarpGrid& grid) {
  WarpAssignment result;
  result.warp_size = warp_size;
  const std::size_t warps = std::size_t{grid.columns} * grid.rows * grid.slices;
  result.thread_at.assign(warps * warp_size, kNoThread);
  result.start_rank.resize(warps);
  std::iota(result.start_rank.begin(), result.start_rank.end(), 0U);
  result.tile.assign(warps, 0);
  // In the order of memory: a row of one warp is consecutive in thread ids and lanes.
  for (std::uint32_t z = 0; z < grid.slices; ++z) {
    for (std::uint32_t y = 0; y < size.height; ++y) {
      const std::size_t row_thread = (std::size_t{z} * size.height + y) * size.width;
      const std::uint32_t lane = y % grid.shape.height * grid.shape.width;
      for (std::uint32_t column = 0; column < grid.columns; ++column) {
        const std::uint32_t x = column * grid.shape.width;
        const std::uint32_t count = std::min(grid.shape.width, size.width - x);
        const std::size_t place = grid.index(column, y / grid.shape.height, z) * warp_size + lane;
        for (std::uint32_t i = 0; i < count; ++i) {
          result.thread_at[place + i] = static_cast<std::uint32_t>(row_thread + x + i);
        }
      }
    }
  }
  return result;
}

}  // namespace rayreplay::scheduler
