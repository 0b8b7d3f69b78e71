// Random trees for tests of layouts and orders: any shape, boxes of any size, the same on every machine.
//
//   const bvh::Tree tree = random_tree({.seed = 7, .nodes = 100, .width = 4, .max_leaf = 3, .boxes = BoxKind::Tiny});
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "bvh/tree.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {

enum class BoxKind : std::uint8_t { Unit, Far, Huge, Tiny, Denormal, Flat, Points, Extreme, Mixed };
inline constexpr std::array kBoxKinds = {BoxKind::Unit,     BoxKind::Far,     BoxKind::Huge,
                                         BoxKind::Tiny,     BoxKind::Flat,    BoxKind::Points,
                                         BoxKind::Denormal, BoxKind::Extreme, BoxKind::Mixed};

inline std::string to_string(BoxKind kind) {
  constexpr std::array kNames = {"unit", "far", "huge", "tiny", "denormal", "flat", "points", "extreme", "mixed"};
  return kNames.at(static_cast<std::size_t>(kind));
}

/// Any finite float, all exponents equally likely.
inline float random_float(Random& random) {
  for (;;) {
    const auto bits = static_cast<std::uint32_t>(random.bits());
    const float value = std::bit_cast<float>(bits);
    if (std::isfinite(value)) {
      return value;
    }
  }
}

inline float random_coordinate(Random& random, BoxKind kind) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  switch (kind) {
    case BoxKind::Far:  // within a few floats of 10^6
      return 1e6F + std::round(random.unit() * 20) * 0.0625F;
    case BoxKind::Huge:
      return random.unit() * 1e32F;
    case BoxKind::Tiny:
      return random.unit() * 1e-30F;
    case BoxKind::Denormal:
      return random.unit() * 1e-39F;
    case BoxKind::Extreme: {
      constexpr std::array kValues = {
          -kLargest, kLargest, 0.0F, -0.0F, 1.0F, std::numeric_limits<float>::denorm_min(), kLargest / 2};
      return kValues.at(random.below(kValues.size()));
    }
    case BoxKind::Mixed:
      return random_float(random);
    default:
      return random.unit() * 3;
  }
}

inline bvh::Box random_box(Random& random, BoxKind kind) {
  bvh::Box box;
  const std::uint32_t flat = random.below(3);
  for (unsigned axis = 0; axis < 3; ++axis) {
    const float a = random_coordinate(random, kind);
    const bool no_extent = kind == BoxKind::Points || (kind == BoxKind::Flat && axis == flat);
    const float b = no_extent ? a : random_coordinate(random, kind);
    box.low[axis] = std::min(a, b);
    box.high[axis] = std::max(a, b);
  }
  return box;
}

struct RandomTreeOptions {
  std::uint64_t seed = 1;
  std::uint32_t nodes = 50;
  std::uint32_t width = 8;
  std::uint32_t max_leaf = 3;
  BoxKind boxes = BoxKind::Unit;
};

/// Exactly so many nodes; node numbers are in no particular order but for the root's.
inline bvh::Tree random_tree(const RandomTreeOptions& options) {
  Random random(options.seed);
  bvh::Tree tree;
  std::vector<std::uint32_t> number(options.nodes);
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    number[i] = i;
  }
  for (std::uint32_t i = options.nodes; i > 2; --i) {
    std::swap(number[i - 1], number[1 + random.below(i - 1)]);
  }
  tree.nodes.resize(options.nodes);
  std::uint32_t made = 1;
  for (std::uint32_t i = 0; i < options.nodes; ++i) {
    bvh::TreeNode& node = tree.nodes[number[i]];
    node.first_child = static_cast<std::uint32_t>(tree.children.size());
    node.child_count = 1 + random.below(options.width);
    for (std::uint32_t c = 0; c < node.child_count; ++c) {
      bvh::TreeChild child;
      const bool must_grow = made == i + 1 && c == 0;
      if (made < options.nodes && (must_grow || random.one_in(2))) {
        child.index = number[made++];
      } else {
        child.index = static_cast<std::uint32_t>(tree.references.size());
        child.count = 1 + random.below(options.max_leaf);
        child.box = random_box(random, options.boxes);
        for (std::uint32_t r = 0; r < child.count; ++r) {
          tree.references.push_back(static_cast<std::uint32_t>(random.bits()));
        }
      }
      tree.children.push_back(child);
    }
  }
  for (std::uint32_t i = options.nodes; i-- > 0;) {  // children come after their parents in `number`
    bvh::Box box;
    const bvh::TreeNode& node = tree.nodes[number[i]];
    for (std::uint32_t c = 0; c < node.child_count; ++c) {
      box.extend(tree.children[node.first_child + c].box);
    }
    if (i == 0) {
      tree.bounds = box;
    }
    for (bvh::TreeChild& child : tree.children) {
      if (!child.is_leaf() && child.index == number[i]) {
        child.box = box;
      }
    }
  }
  return tree;
}

/// Every node has two children down to `levels` levels of nodes, numbered level by level; the last have one leaf each
/// of one reference.
inline bvh::Tree perfect_binary_tree(std::uint32_t levels) {
  bvh::Tree tree;
  const std::uint32_t nodes = (1U << levels) - 1;
  const std::uint32_t inner = nodes / 2;
  const bvh::Box box{.low = {0, 0, 0}, .high = {1, 1, 1}};
  for (std::uint32_t node = 0; node < nodes; ++node) {
    const auto first = static_cast<std::uint32_t>(tree.children.size());
    if (node < inner) {
      tree.children.push_back({box, 2 * node + 1, 0});
      tree.children.push_back({box, 2 * node + 2, 0});
    } else {
      tree.children.push_back({box, static_cast<std::uint32_t>(tree.references.size()), 1});
      tree.references.push_back(node);
    }
    tree.nodes.push_back({first, static_cast<std::uint32_t>(tree.children.size()) - first});
  }
  tree.bounds = box;
  return tree;
}

}  // namespace rayreplay::test
