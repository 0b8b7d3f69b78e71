// Input of builders: the boxes of a structure's primitives or instances, and the function that splits primitives.
//
// Contract: only active primitives and instances become items, in ascending order of their numbers. `splitter` cuts
// triangles exactly (the part inside the box and on one side of the plane is clipped in double; its box is rounded
// outward, but never beyond the given box) and boxes at the plane. It refers to the scene, which must outlive it.
// With pairs (triangle_pairs.hpp) two triangles are one item with the first one's number: its box contains both, and
// the boxes of its parts contain both triangles' parts. The pairs must outlive the splitter. O(items), parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "bvh/builder.hpp"
#include "bvh/scene.hpp"
#include "bvh/triangle_pairs.hpp"

namespace rayreplay::bvh {

[[nodiscard]] std::vector<BuildItem> instance_items(const PreparedScene& scene);
/// `pairs`: null for items of one primitive each.
[[nodiscard]] std::vector<BuildItem> primitive_items(const PreparedScene& scene, std::uint32_t blas,
                                                     const TrianglePairs* pairs = nullptr);
[[nodiscard]] SplitFunction splitter(const PreparedScene& scene, std::uint32_t blas,
                                     const TrianglePairs* pairs = nullptr);

}  // namespace rayreplay::bvh
