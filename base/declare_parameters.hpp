// Short forms to declare the parameters of a model (base/parameters.hpp), one function a type.
//
// Contract: the default fixes the type. `unit` is "" for none. `least` and `most` are inclusive.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/parameters.hpp"

namespace rayreplay::declare {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

[[nodiscard]] inline Parameter whole(std::string name, std::int64_t value, std::string unit, std::string text,
                                     double least, double most = kNoLimit) {
  return {std::move(name), value, std::move(unit), std::move(text), least, most, {}};
}

[[nodiscard]] inline Parameter real(std::string name, double value, std::string unit, std::string text, double least,
                                    double most = kNoLimit) {
  return {std::move(name), value, std::move(unit), std::move(text), least, most, {}};
}

[[nodiscard]] inline Parameter text(std::string name, std::string value, std::string unit, std::string text) {
  return {std::move(name), std::move(value), std::move(unit), std::move(text), -kNoLimit, kNoLimit, {}};
}

[[nodiscard]] inline Parameter choice(std::string name, std::string value, std::vector<std::string> choices,
                                      std::string text) {
  return {std::move(name), std::move(value), "", std::move(text), -kNoLimit, kNoLimit, std::move(choices)};
}

[[nodiscard]] inline Parameter flag(std::string name, bool value, std::string text) {
  return {std::move(name), value, "", std::move(text), -kNoLimit, kNoLimit, {}};
}

}  // namespace rayreplay::declare
