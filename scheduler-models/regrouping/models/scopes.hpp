// The parameters "scope" and "pool_warps" of models that exchange threads.
#pragma once

#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

inline constexpr std::int64_t kMostPoolWarps = 1 << 20;

[[nodiscard]] inline Parameter scope_parameter(const char* default_value) {
  return {.name = "scope",
          .default_value = std::string(default_value),
          .unit = "",
          .text =
              "Which threads may be exchanged: of one warp (no exchange), of a pool of warps that start one after "
              "another, of an SM, of the whole launch.",
          .choices = {"warp", "pool", "sm", "launch"}};
}

[[nodiscard]] inline Parameter pool_warps_parameter(const char* text) {
  return {.name = "pool_warps",
          .default_value = std::int64_t{16},
          .unit = "warps",
          .text = text,
          .minimum = 1,
          .maximum = static_cast<double>(kMostPoolWarps),
          .choices = {}};
}

[[nodiscard]] inline Scope parse_scope(const std::string& name) {
  if (name == "warp") {
    return Scope::Warp;
  }
  if (name == "pool") {
    return Scope::Pool;
  }
  return name == "sm" ? Scope::Sm : Scope::Launch;
}

}  // namespace rayreplay::scheduler
