// Leaf-count variability, and the rays for its measurement.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "base/split_mix.hpp"
#include "bvh/geometry/box_ray.hpp"
#include "bvh/reports/quality.hpp"

namespace rayreplay::bvh {
namespace {

std::array<double, 3> widened(const std::array<float, 3>& values) {
  return {static_cast<double>(values[0]), static_cast<double>(values[1]), static_cast<double>(values[2])};
}

std::uint64_t leaves_met(const Tree& tree, const QualityRay& segment, std::vector<std::uint32_t>& stack) {
  const BoxRay ray = make_box_ray(widened(segment.origin), widened(segment.direction), segment.t_min);
  const float t_max = std::min(segment.t_max, kFarthest);
  std::uint64_t leaves = 0;
  stack.assign(1, 0);
  while (!stack.empty()) {
    const TreeNode& node = tree.nodes[stack.back()];
    stack.pop_back();
    for (std::uint32_t i = 0; i < node.child_count; ++i) {
      const TreeChild& child = tree.children[node.first_child + std::size_t{i}];
      if (meet(child.box, ray, t_max).met) {
        if (child.is_leaf()) {
          ++leaves;
        } else {
          stack.push_back(child.index);
        }
      }
    }
  }
  return leaves;
}

bool can_be_followed(const QualityRay& ray) {
  bool moves = false;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!std::isfinite(ray.origin[axis]) || !std::isfinite(ray.direction[axis])) {
      return false;
    }
    moves = moves || ray.direction[axis] != 0;
  }
  return moves && std::isfinite(ray.t_min) && ray.t_min <= ray.t_max;
}

/// splitmix64
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  /// −1 … 1
  double unit() {
    state_ += kSplitMixGamma;
    return static_cast<double>(split_mix_finish(state_) >> 11U) * 0x1p-52 - 1.0;
  }
  /// Uniform on the unit sphere: a random point of the ball, normalised.
  std::array<double, 3> direction() {
    for (;;) {
      const std::array<double, 3> point{unit(), unit(), unit()};
      const double square = point[0] * point[0] + point[1] * point[1] + point[2] * point[2];
      if (square <= 1 && square > 0x1p-40) {
        const double length = std::sqrt(square);
        return {point[0] / length, point[1] / length, point[2] / length};
      }
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace

LeafCount leaf_count_variability(const Tree& tree, std::span<const QualityRay> rays) {
  if (tree.empty() || rays.empty()) {
    return {};
  }
  // Integers: equal sums in any order. No overflow for 2^32 rays with 2^16 leaves.
  struct Sums {
    std::uint64_t leaves = 0, squares = 0;
  };
  const Sums sums = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, rays.size(), 256), Sums{},
      [&](const tbb::blocked_range<std::size_t>& range, Sums sum) {
        std::vector<std::uint32_t> stack;
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          const std::uint64_t leaves = leaves_met(tree, rays[i], stack);
          sum.leaves += leaves;
          sum.squares += leaves * leaves;
        }
        return sum;
      },
      [](const Sums& a, const Sums& b) {
        return Sums{a.leaves + b.leaves, a.squares + b.squares};
      });
  const auto count = static_cast<double>(rays.size());
  const double mean = static_cast<double>(sums.leaves) / count;
  const double variance = static_cast<double>(sums.squares) / count - mean * mean;
  return {mean, std::sqrt(std::max(0.0, variance))};
}

std::vector<QualityRay> rays_of(const trace::Launch& launch, std::size_t most) {
  const trace::Rays& rays = launch.data.rays;
  std::vector<QualityRay> result;
  const std::size_t step = most == 0 ? 0 : (rays.size() + most - 1) / most;
  for (std::size_t i = 0; step > 0 && i < rays.size(); i += step) {
    const QualityRay ray{{rays.origin_x[i], rays.origin_y[i], rays.origin_z[i]},
                         {rays.direction_x[i], rays.direction_y[i], rays.direction_z[i]},
                         rays.t_min[i],
                         rays.t_max[i]};
    if (can_be_followed(ray)) {
      result.push_back(ray);
    }
  }
  return result;
}

std::vector<QualityRay> random_rays(const Box& bounds, std::size_t count, std::uint64_t seed) {
  std::vector<QualityRay> rays;
  if (bounds.empty()) {
    return rays;
  }
  std::array<double, 3> centre{};
  double square = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double half = static_cast<double>(bounds.high[axis]) / 2 - static_cast<double>(bounds.low[axis]) / 2;
    centre[axis] = static_cast<double>(bounds.low[axis]) + half;
    square += half * half;
  }
  const double radius = std::sqrt(square);
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<double, 3> from = random.direction();
    const std::array<double, 3> to = random.direction();
    QualityRay ray;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      ray.origin[axis] = static_cast<float>(centre[axis] + radius * from[axis]);
      // Also for a scene that is a point: lines through it.
      ray.direction[axis] = static_cast<float>((radius > 0 ? radius : 1) * (to[axis] - from[axis]));
    }
    ray.t_max = 1;
    if (can_be_followed(ray)) {
      rays.push_back(ray);
    }
  }
  return rays;
}

std::vector<QualityRay> to_object(const SceneInstance& instance, std::span<const QualityRay> rays) {
  std::vector<QualityRay> result(rays.begin(), rays.end());
  for (QualityRay& ray : result) {
    const QualityRay world = ray;
    for (std::size_t row = 0; row < 3; ++row) {
      double origin = instance.to_object[row * 4 + 3];
      double direction = 0;
      for (std::size_t column = 0; column < 3; ++column) {
        origin += instance.to_object[row * 4 + column] * static_cast<double>(world.origin[column]);
        direction += instance.to_object[row * 4 + column] * static_cast<double>(world.direction[column]);
      }
      ray.origin[row] = static_cast<float>(origin);
      ray.direction[row] = static_cast<float>(direction);
    }
  }
  std::erase_if(result, [](const QualityRay& ray) { return !can_be_followed(ray); });
  return result;
}

}  // namespace rayreplay::bvh
