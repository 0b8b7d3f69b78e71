#include "traversal/ray.hpp"

#include <cmath>

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
