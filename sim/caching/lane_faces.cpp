#include "sim/caching/lane_faces.hpp"

#include <algorithm>

#include "sim/memory/allocations.hpp"

namespace rayreplay::experiment {

std::span<std::uint32_t> LaneFaces::of(std::uint32_t sm, std::uint32_t warp) {
  const std::uint64_t key = std::uint64_t{sm} << 32U | warp;
  const auto found = places_.find(key);
  if (found != places_.end()) {
    warps_.splice(warps_.begin(), warps_, found->second);
    return warps_.front().faces;
  }
  if (warps_.size() < kWarps) {
    warps_.push_front({key, std::vector<std::uint32_t>(warp_size_, memory::kNoElement)});
  } else {
    warps_.splice(warps_.begin(), warps_, std::prev(warps_.end()));
    places_.erase(warps_.front().key);
    warps_.front().key = key;
    std::ranges::fill(warps_.front().faces, memory::kNoElement);
  }
  places_.emplace(key, warps_.begin());
  return warps_.front().faces;
}

}  // namespace rayreplay::experiment
