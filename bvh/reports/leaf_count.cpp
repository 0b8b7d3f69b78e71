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

std::array<double, 3> widened(const Vec3& values) {
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
  return ray.origin.allFinite() && ray.direction.allFinite() && ray.direction != Vec3::Zero() &&
         std::isfinite(ray.t_min) && ray.t_min <= ray.t_max;
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
  Vec3d direction() {
    for (;;) {
      const Vec3d point{unit(), unit(), unit()};
      const double square = dot(point, point);
      if (square <= 1 && square > 0x1p-40) {
        return point / std::sqrt(square);
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
  const Vec3d half = bounds.high.cast<double>() / 2 - bounds.low.cast<double>() / 2;
  const Vec3d centre = bounds.low.cast<double>() + half;
  const double radius = std::sqrt(dot(half, half));
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d from = random.direction();
    const Vec3d to = random.direction();
    QualityRay ray;
    ray.origin = (centre + radius * from).cast<float>();
    // Also for a scene that is a point: lines through it.
    ray.direction = ((radius > 0 ? radius : 1) * (to - from)).cast<float>();
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
    Vec3d origin = instance.to_object.col(3);
    Vec3d direction;
    for (unsigned column = 0; column < 3; ++column) {
      origin += instance.to_object.col(column) * static_cast<double>(ray.origin[column]);
      direction += instance.to_object.col(column) * static_cast<double>(ray.direction[column]);
    }
    ray.origin = origin.cast<float>();
    ray.direction = direction.cast<float>();
  }
  std::erase_if(result, [](const QualityRay& ray) { return !can_be_followed(ray); });
  return result;
}

}  // namespace rayreplay::bvh
