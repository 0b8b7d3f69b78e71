#include "capture/layer/geometry/opacity.hpp"

#include <map>
#include <utility>

namespace rayreplay::layer::geometry {

std::vector<std::uint32_t> opacity_table(const Content& top_level) {
  if (!top_level.top_level || !top_level.missing.empty()) {
    return {};
  }
  constexpr std::uint32_t kForceOpaque = VK_GEOMETRY_INSTANCE_FORCE_OPAQUE_BIT_KHR;
  constexpr std::uint32_t kForceNoOpaque = VK_GEOMETRY_INSTANCE_FORCE_NO_OPAQUE_BIT_KHR;
  const std::size_t count = top_level.instances.size();
  std::vector<std::uint32_t> words(1 + count, 0);
  words[0] = static_cast<std::uint32_t>(count);
  std::map<std::pair<const Content*, std::uint32_t>, std::uint32_t> first_bits;
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const TopInstance& instance = top_level.instances[i];
    if (instance.raw.accelerationStructureReference == 0) {
      continue;  // inactive: never hit
    }
    if (instance.bottom == nullptr || !instance.bottom->missing.empty()) {
      return {};
    }
    const std::uint32_t flags = instance.raw.flags & (kForceOpaque | kForceNoOpaque);
    const auto [found, added] = first_bits.try_emplace({instance.bottom.get(), flags}, bits);
    words[1 + i] = found->second;
    if (!added) {
      continue;
    }
    for (const spool::Geometry& geometry : instance.bottom->geometries) {
      const bool opaque = (flags & kForceNoOpaque) == 0 &&
                          ((flags & kForceOpaque) != 0 || (geometry.flags & VK_GEOMETRY_OPAQUE_BIT_KHR) != 0);
      if (bits % 32 == 0) {
        words.push_back(0);
      }
      if (opaque) {
        words.back() |= 1U << (bits % 32);
      }
      ++bits;
    }
  }
  return words;
}

}  // namespace rayreplay::layer::geometry
