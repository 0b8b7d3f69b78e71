// Declares and reads parameters that several generators share. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.hpp"

namespace rayreplay::workloads {

[[nodiscard]] inline Parameter whole(std::string name, std::int64_t value, std::string unit, std::string text,
                                     double least, double most) {
  return {.name = std::move(name),
          .default_value = value,
          .unit = std::move(unit),
          .text = std::move(text),
          .minimum = least,
          .maximum = most,
          .choices = {}};
}

[[nodiscard]] inline Parameter real(std::string name, double value, std::string unit, std::string text, double least,
                                    double most) {
  return {.name = std::move(name),
          .default_value = value,
          .unit = std::move(unit),
          .text = std::move(text),
          .minimum = least,
          .maximum = most,
          .choices = {}};
}

[[nodiscard]] inline Parameter choice(std::string name, std::string value, std::string text,
                                      std::vector<std::string> choices) {
  return {.name = std::move(name),
          .default_value = std::move(value),
          .unit = "",
          .text = std::move(text),
          .choices = std::move(choices)};
}

[[nodiscard]] inline Parameter warp_size_parameter() {
  return whole("warp_size", 32, "lanes", "Lanes of a warp.", 1, 64);
}

[[nodiscard]] inline Parameter warps_parameter(std::int64_t warps) {
  return whole("warps", warps, "warps", "Warps of the launch.", 1, 1 << 20);
}

[[nodiscard]] inline std::uint32_t get_count(const Parameters& parameters, std::string_view name) {
  return static_cast<std::uint32_t>(parameters.get_int(name));
}

}  // namespace rayreplay::workloads
