// Parameters that builders share.
//
// Contract: names, defaults and ranges are equal in all builders. Errors: Usage for trees of one child a node.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "bvh/builder.hpp"

namespace rayreplay::bvh {

[[nodiscard]] inline Parameter branching_parameter() {
  return {"branching", std::int64_t{0}, "children", "children a node at most; 0: as many as the layout takes", 0, 8,
          {}};
}
[[nodiscard]] inline Parameter leaf_size_parameter() {
  return {
      "leaf_size", std::int64_t{0}, "references", "references a leaf at most; 0: as many as the layout takes", 0, 32,
      {}};
}
[[nodiscard]] inline Parameter min_leaf_size_parameter() {
  return {"min_leaf_size",
          std::int64_t{1},
          "references",
          "sets of this size or less are not split, whatever it costs",
          1,
          32,
          {}};
}
[[nodiscard]] inline Parameter traversal_cost_parameter() {
  return {
      "traversal_cost", 1.0, "tests", "cost of visiting a node, in the unit of the intersection cost", 0.001, 1000, {}};
}
[[nodiscard]] inline Parameter intersection_cost_parameter() {
  return {"intersection_cost", 1.0, "tests", "cost of testing one primitive", 0.001, 1000, {}};
}

[[nodiscard]] inline BuildLimits wanted_limits(const Parameters& parameters) {
  if (parameters.get_int("branching") == 1) {
    throw Error(ErrorKind::Usage, {"a tree cannot have one child a node", "branching", "1", "2 to 8, or 0", ""});
  }
  return {static_cast<std::uint32_t>(parameters.get_int("branching")),
          static_cast<std::uint32_t>(parameters.get_int("leaf_size"))};
}

/// For builders without a stopping criterion of their own: 4 unless the user asks for another number.
[[nodiscard]] inline std::uint32_t usual_leaf_size(const BuildLimits& wanted, const BuildLimits& limits) {
  constexpr std::uint32_t kUsual = 4;
  return wanted.leaf_size == 0 ? std::min(limits.leaf_size, kUsual) : limits.leaf_size;
}

}  // namespace rayreplay::bvh
