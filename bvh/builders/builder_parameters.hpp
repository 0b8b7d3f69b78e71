// Parameters that builders share.
#pragma once

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
[[nodiscard]] inline Parameter traversal_cost_parameter() {
  return {
      "traversal_cost", 1.0, "tests", "cost of visiting a node, in the unit of the intersection cost", 0.001, 1000, {}};
}
[[nodiscard]] inline Parameter intersection_cost_parameter() {
  return {"intersection_cost", 1.0, "tests", "cost of testing one primitive", 0.001, 1000, {}};
}

[[nodiscard]] inline BuildLimits wanted_limits(const Parameters& parameters) {
  return {static_cast<std::uint32_t>(parameters.get_int("branching")),
          static_cast<std::uint32_t>(parameters.get_int("leaf_size"))};
}

}  // namespace rayreplay::bvh
