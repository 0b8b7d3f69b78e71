// Input of builders: the boxes of a structure's primitives or instances, and the function that splits primitives.
//
// Contract: only active primitives and instances become items, in ascending order of their numbers. `splitter` cuts
// triangles exactly (the part inside the box and on one side of the plane is clipped in double; its box is rounded
// outward, but never beyond the given box) and boxes at the plane. It refers to the scene, which must outlive it.
// O(items), parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "bvh/builder.hpp"
#include "bvh/scene.hpp"

namespace rayreplay::bvh {

[[nodiscard]] std::vector<BuildItem> instance_items(const PreparedScene& scene);
[[nodiscard]] std::vector<BuildItem> primitive_items(const PreparedScene& scene, std::uint32_t blas);
[[nodiscard]] SplitFunction splitter(const PreparedScene& scene, std::uint32_t blas);

}  // namespace rayreplay::bvh
