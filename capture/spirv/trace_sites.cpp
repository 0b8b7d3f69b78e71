#include "capture/spirv/trace_sites.hpp"

#include <algorithm>

namespace rayreplay::spirv {

SiteNumbers::Site SiteNumbers::next(std::span<const std::uint32_t> shaders) {
  std::uint32_t number = 0;
  for (const std::uint32_t shader : shaders) {
    number = std::max(number, next_[shader]);
  }
  const Site site{static_cast<std::uint8_t>(std::min(number, kLastSite)), number > kLastSite};
  for (const std::uint32_t shader : shaders) {
    next_[shader] = site.number + 1U;
  }
  return site;
}

}  // namespace rayreplay::spirv
