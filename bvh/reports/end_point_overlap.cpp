// End-point overlap: each item descends the tree with the part of its surface inside the node's box, clipped further at
// each level, and contributes at every node whose subtree it does not belong to.
#include <algorithm>
#include <array>
#include <cstddef>
#include <variant>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "base/report_progress.hpp"
#include "bvh/geometry/polygon.hpp"
#include "bvh/geometry/primitive_box.hpp"
#include "bvh/reports/quality.hpp"

namespace rayreplay::bvh {
namespace {

/// The surface of a box inside a smaller one: for each face, the rectangle in the smaller box.
class BoxSurface {
 public:
  explicit BoxSurface(const Box& box) : whole_(box), part_(box) {}

  [[nodiscard]] const Box& bounds() const {
    return part_;
  }
  void clip(const Box& box) {
    part_ = intersection(part_, box);
  }
  [[nodiscard]] double area() const {
    const Vec3d extent = extents(part_);
    double sum = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const double faces =
          (part_.low[axis] == whole_.low[axis] ? 1 : 0) + (part_.high[axis] == whole_.high[axis] ? 1 : 0);
      sum += faces * extent[(axis + 1) % 3] * extent[(axis + 2) % 3];
    }
    return sum;
  }

 private:
  Box whole_;
  Box part_;
};

/// A triangle inside a box.
class TriangleSurface {
 public:
  TriangleSurface(const trace::Geometry& geometry, std::size_t primitive)
      : polygon_(corner(geometry, primitive, 0), corner(geometry, primitive, 1), corner(geometry, primitive, 2)),
        bounds_(box_of(geometry, primitive).box) {}

  [[nodiscard]] const Box& bounds() const {
    return bounds_;
  }
  void clip(const Box& box) {
    if (box.contains(bounds_)) {
      return;
    }
    polygon_.clip(box);
    bounds_ = intersection(intersection(bounds_, polygon_.bounds()), box);
  }
  [[nodiscard]] double area() const {
    return polygon_.double_area() / 2;
  }

 private:
  static Polygon::Point corner(const trace::Geometry& geometry, std::size_t primitive, std::size_t which) {
    const float* at = &geometry.vertices[std::size_t{geometry.indices[primitive * 3 + which]} * 3];
    return Eigen::Map<const Vec3>(at).cast<double>();
  }

  Polygon polygon_;
  Box bounds_;
};

using Surface = std::variant<BoxSurface, TriangleSurface>;

Surface surface_of(const PreparedScene& scene, std::size_t level, std::uint32_t reference) {
  if (level == 0) {
    return BoxSurface(scene.instances[reference].world);
  }
  const auto blas = static_cast<std::uint32_t>(level - 1);
  const auto [index, primitive] = scene.locate(blas, reference);
  const trace::Geometry& geometry = scene.geometry(blas, index);
  if (geometry.type == trace::GeometryType::Boxes) {
    return BoxSurface(box_of(geometry, primitive).box);
  }
  return TriangleSurface(geometry, primitive);
}

bool overlap(const Box& a, const Box& b) {
  return !(a.low.array() > b.high.array()).any() && !(b.low.array() > a.high.array()).any();
}

/// The leaves of a subtree, and the leaves of an item. Leaves are numbered in depth-first order.
class Membership {
 public:
  explicit Membership(const Tree& tree) : subtree_(tree.children.size()) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // reference, leaf
    places.reserve(tree.references.size());
    number(tree, places);
    std::ranges::sort(places);
    for (const auto& [reference, leaf] : places) {
      if (items_.empty() || items_.back() != reference) {
        items_.push_back(reference);
        first_.push_back(leaves_.size());
      }
      leaves_.push_back(leaf);
    }
    first_.push_back(leaves_.size());
  }

  [[nodiscard]] std::size_t items() const {
    return items_.size();
  }
  [[nodiscard]] std::uint32_t reference(std::size_t item) const {
    return items_[item];
  }
  /// True if the item is in the subtree of a row of `children`.
  [[nodiscard]] bool inside(std::size_t item, std::size_t child) const {
    const auto begin = leaves_.begin() + static_cast<std::ptrdiff_t>(first_[item]);
    const auto end = leaves_.begin() + static_cast<std::ptrdiff_t>(first_[item + 1]);
    const auto leaf = std::lower_bound(begin, end, subtree_[child].first);
    return leaf != end && *leaf < subtree_[child].last;
  }

 private:
  struct Leaves {
    std::uint32_t first = 0, last = 0;
  };

  void number(const Tree& tree, std::vector<std::pair<std::uint32_t, std::uint32_t>>& places) {
    struct Open {
      std::uint32_t child = 0, next = 0;  // a row of children, and the row of its node's children to continue with
    };
    constexpr std::uint32_t kRoot = 0xFFFF'FFFFU;
    std::uint32_t leaf = 0;
    std::vector<Open> open{{kRoot, tree.nodes[0].first_child}};
    while (!open.empty()) {
      Open& here = open.back();
      const TreeNode& node = tree.nodes[here.child == kRoot ? 0 : tree.children[here.child].index];
      if (here.next == node.first_child + node.child_count) {
        if (here.child != kRoot) {
          subtree_[here.child].last = leaf;
        }
        open.pop_back();
        continue;
      }
      const std::uint32_t row = here.next++;
      subtree_[row].first = leaf;
      const TreeChild& child = tree.children[row];
      if (child.is_leaf()) {
        for (std::uint32_t i = 0; i < child.count; ++i) {
          places.emplace_back(tree.references[child.index + std::size_t{i}], leaf);
        }
        subtree_[row].last = ++leaf;
      } else {
        open.push_back({row, tree.nodes[child.index].first_child});
      }
    }
  }

  std::vector<Leaves> subtree_;  // per child
  std::vector<std::uint32_t> items_;
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> leaves_;
};

struct Sums {
  double paid = 0;
  double area = 0;
};

class Descent {
 public:
  Descent(const Tree& tree, const Membership& membership, const QualityCosts& costs)
      : tree_(tree), membership_(membership), costs_(costs) {}

  /// The item's contribution below the node.
  template <class Part>
  double below(const TreeNode& node, const Part& part, std::size_t item, bool may_belong) const {
    double paid = 0;
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const std::size_t row = node.first_child + std::size_t{i};
      const TreeChild& child = tree_.children[row];
      if (!overlap(child.box, part.bounds())) {
        continue;
      }
      const bool belongs = may_belong && membership_.inside(item, row);
      if (belongs && child.is_leaf()) {
        continue;
      }
      Part smaller = part;
      smaller.clip(child.box);
      if (!belongs) {
        const double area = smaller.area();
        if (area == 0) {
          continue;  // touching at most; so are all boxes inside
        }
        paid += area * (child.is_leaf() ? costs_.intersection * child.count : costs_.traversal);
      }
      if (!child.is_leaf()) {
        paid += below(tree_.nodes[child.index], smaller, item, belongs);
      }
    }
    return paid;
  }

 private:
  const Tree& tree_;
  const Membership& membership_;
  const QualityCosts& costs_;
};

}  // namespace

double end_point_overlap(const PreparedScene& scene, std::size_t level, const Tree& tree, const QualityCosts& costs,
                         Progress* progress) {
  if (tree.empty()) {
    return 0;
  }
  constexpr std::size_t kChunk = 1024;
  const Membership membership(tree);
  const Descent descent(tree, membership, costs);
  std::vector<Sums> sums((membership.items() + kChunk - 1) / kChunk);
  report_start(progress, "measuring overlap", membership.items());
  // Sums of fixed chunks, added in order: the same for any number of threads.
  tbb::parallel_for(std::size_t{0}, sums.size(), [&](std::size_t chunk) {
    const std::size_t end = std::min((chunk + 1) * kChunk, membership.items());
    for (std::size_t item = chunk * kChunk; item < end; ++item) {
      std::visit(
          [&](const auto& surface) {
            sums[chunk].area += surface.area();
            sums[chunk].paid += descent.below(tree.nodes[0], surface, item, true);
          },
          surface_of(scene, level, membership.reference(item)));
    }
    report_advance(progress, end - chunk * kChunk);
  });
  report_finish(progress);
  Sums all;
  for (const Sums& sum : sums) {
    all.paid += sum.paid;
    all.area += sum.area;
  }
  return all.area > 0 ? all.paid / all.area : 0;
}

}  // namespace rayreplay::bvh
