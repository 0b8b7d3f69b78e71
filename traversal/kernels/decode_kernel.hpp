// Reading of nodes by a traversal: the concept of a kernel, and the kernel for every layout by its virtual `decode`.
//
// Contract: a kernel has
//   unsigned meet(const bvh::Level&, std::uint32_t record, const bvh::BoxRay&, float t_max, NodeMeeting&)
// which reads node `record`, tests the boxes of all children as bvh::meet does, and returns the number of children.
// `mask` holds the slots that are met, `entry` their entries; `child(slot)` is the place of a met child. Kernels of a
// layout give the same bits as this one. A kernel serves one ray at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "bvh/geometry/box_ray.hpp"
#include "bvh/layout.hpp"

namespace rayreplay::traversal {

struct NodeMeeting {
  std::uint32_t mask = 0;
  std::array<float, bvh::kMaxWidth> entry{};  ///< of the slots in mask
};

/// A child to visit: bvh::ChildView without its box.
struct ChildPlace {
  std::uint32_t index = 0;
  std::uint32_t count = 0;
  std::uint32_t block = bvh::kNoBlock;
};

class DecodeKernel {
 public:
  explicit DecodeKernel(const bvh::Layout& layout) : layout_(&layout) {}

  [[gnu::always_inline]] unsigned meet(const bvh::Level& level, std::uint32_t record, const bvh::BoxRay& ray,
                                       float t_max, NodeMeeting& meeting) {
    const std::size_t count = layout_->decode(level, record, children_);
    meeting.mask = 0;
    for (std::size_t slot = 0; slot < count; ++slot) {
      const bvh::BoxEntry entry = bvh::meet(children_[slot].box, ray, t_max);
      meeting.mask |= entry.met ? 1U << slot : 0U;
      meeting.entry[slot] = entry.entry;
    }
    return static_cast<unsigned>(count);
  }

  [[nodiscard]] ChildPlace child(const bvh::Level& /*level*/, std::uint32_t /*record*/, std::size_t slot) const {
    const bvh::ChildView& child = children_[slot];
    return {child.index, child.count, child.block};
  }

 private:
  const bvh::Layout* layout_;
  std::array<bvh::ChildView, bvh::kMaxWidth> children_;
};

}  // namespace rayreplay::traversal
