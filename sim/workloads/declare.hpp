// Parameters that several generators share. Internal to this folder.
//
// Contract: `get_count` reads a parameter whose declared range fits 32 bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/declare_parameters.hpp"

namespace rayreplay::workloads {

[[nodiscard]] inline Parameter warp_size_parameter() {
  return declare::whole("warp_size", 32, "lanes", "Lanes of a warp.", 1, 64);
}

[[nodiscard]] inline Parameter warps_parameter(std::int64_t warps) {
  return declare::whole("warps", warps, "warps", "Warps of the launch.", 1, 1 << 20);
}

[[nodiscard]] inline std::uint32_t get_count(const Parameters& parameters, std::string_view name) {
  return static_cast<std::uint32_t>(parameters.get_int(name));
}

}  // namespace rayreplay::workloads
