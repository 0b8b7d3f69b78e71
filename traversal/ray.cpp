#include "traversal/ray.hpp"

#include <cmath>
#include <functional>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

namespace rayreplay::traversal {
namespace {

bool all_finite(const std::array<float, 3>& v) {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}

}  // namespace

bool is_traversable(const Ray& ray) {
  const auto& d = ray.direction;
  return all_finite(ray.origin) && all_finite(d) && (d[0] != 0 || d[1] != 0 || d[2] != 0) && ray.t_min <= ray.t_max;
}

std::uint64_t count_ignored(const trace::Rays& rays) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, rays.size(), 4096), std::uint64_t{0},
      [&](const auto& rows, std::uint64_t count) {
        for (std::size_t row = rows.begin(); row < rows.end(); ++row) {
          count += is_traversable(ray_of(rays, row)) ? 0U : 1U;
        }
        return count;
      },
      std::plus<>{});
}

Ray ray_of(const trace::Rays& rays, std::size_t row) {
  Ray ray;
  ray.origin = {rays.origin_x[row], rays.origin_y[row], rays.origin_z[row]};
  ray.t_min = rays.t_min[row];
  ray.direction = {rays.direction_x[row], rays.direction_y[row], rays.direction_z[row]};
  ray.t_max = rays.t_max[row];
  ray.flags = rays.flags[row];
  ray.cull_mask = rays.cull_mask[row];
  return ray;
}

}  // namespace rayreplay::traversal
