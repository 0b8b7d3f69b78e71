// The parameters "scope" and "pool_warps" of models that exchange threads.
//
// Contract: `parse_scope` takes the values that `scope_parameter` declares.
#pragma once

#include <string>
#include <vector>

#include "base/declare_parameters.hpp"
#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

inline constexpr std::int64_t kMaxPoolWarps = 1 << 20;

[[nodiscard]] inline Parameter scope_parameter(const char* default_value) {
  return declare::choice(
      "scope", default_value, {"warp", "pool", "sm", "launch"},
      "Which threads may be exchanged: of one warp (no exchange), of a pool of warps that start one after "
      "another, of an SM, of the whole launch.");
}

[[nodiscard]] inline Parameter pool_warps_parameter(const char* text) {
  return declare::whole("pool_warps", 16, "warps", text, 1, static_cast<double>(kMaxPoolWarps));
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
