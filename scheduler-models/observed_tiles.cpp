#include "scheduler-models/observed_tiles.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace rayreplay::scheduler {
namespace {

constexpr Extent kNvidiaWarp{8, 4};

// ReRay thesis, table 3.1: RTX 3080, driver 512.15. Sizes are width × height.
constexpr std::array<ObservedTile, 10> kObservedTiles{{
    {256, 256, {256, 256}, kNvidiaWarp, kDefaultQuadrants},
    {2048, 2048, {2048, 2048}, kNvidiaWarp, kDefaultQuadrants},
    {1024, 500, {256, 512}, {4, 8}, "2-1-3-4"},
    {1024, 512, {512, 512}, kNvidiaWarp, kDefaultQuadrants},
    {1024, 520, {32, 32}, kNvidiaWarp, kDefaultQuadrants},
    {1280, 720, {256, 256}, kNvidiaWarp, kDefaultQuadrants},
    {1600, 900, {32, 32}, kNvidiaWarp, kDefaultQuadrants},
    {1920, 1080, {256, 256}, kNvidiaWarp, kDefaultQuadrants},
    {2560, 1440, {512, 512}, kNvidiaWarp, kDefaultQuadrants},
    {3840, 2160, {512, 512}, kNvidiaWarp, kDefaultQuadrants},
}};

struct ObservedGroups {
  std::uint32_t width;
  std::uint32_t height;
  MortonGroupLayout layout;
};

constexpr Extent kWhole{0, 0};

// Fitted to the order of warp numbers on one SM: H200, driver 580.159.04.
constexpr std::array<ObservedGroups, 11> kObservedGroups{{
    {256, 256, {{4, 8}, {8, 16}, kWhole}},
    {512, 512, {{4, 8}, {8, 16}, kWhole}},
    {640, 480, {{4, 8}, {8, 16}, {32, 16}}},
    {800, 600, {{4, 8}, {16, 8}, {8, 4}}},
    {1000, 1000, {{4, 8}, {8, 16}, kWhole}},
    {1024, 500, {{8, 4}, {16, 8}, kWhole}},
    {1280, 720, {{4, 8}, {8, 16}, {32, 16}}},
    {1366, 768, {{4, 8}, {8, 16}, {32, 16}}},
    {1920, 1080, {{4, 8}, {16, 8}, {16, 8}}},
    {2048, 2048, {{4, 8}, {8, 16}, kWhole}},
    {1001, 37, {{4, 8}, {16, 8}, {2, 1}}},
}};

}  // namespace

std::span<const ObservedTile> observed_tiles() {
  return kObservedTiles;
}

ZOrderLayout observed_z_order(std::uint32_t width, std::uint32_t height) {
  for (const ObservedTile& seen : kObservedTiles) {
    if (seen.width == width && seen.height == height) {
      return {seen.tile, seen.warp, seen.quadrants};
    }
  }
  if (std::has_single_bit(width) && std::has_single_bit(height)) {
    const std::uint32_t side = std::min(width, height);
    return {{side, side}, std::nullopt, kDefaultQuadrants};
  }
  return {{32, 32}, std::nullopt, kDefaultQuadrants};
}

std::optional<MortonGroupLayout> observed_morton_groups(std::uint32_t width, std::uint32_t height) {
  for (const ObservedGroups& seen : kObservedGroups) {
    if (seen.width == width && seen.height == height) {
      return seen.layout;
    }
  }
  return std::nullopt;
}

}  // namespace rayreplay::scheduler
