// The thin-lens camera of "Ray Tracing in One Weekend" (Shirley, §12 and §13) for one image size.
#pragma once

#include <cmath>
#include <numbers>

#include "capture/reference/random.hpp"
#include "capture/reference/ray.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {

class CameraRays {
 public:
  CameraRays(const Camera& camera, std::uint32_t width, std::uint32_t height)
      : from_(camera.from), lens_radius_(camera.aperture / 2) {
    const double half_angle = static_cast<double>(camera.vertical_fov_degrees) * std::numbers::pi / 360;
    const float view_height = 2 * static_cast<float>(std::tan(half_angle));
    const float view_width = view_height * (static_cast<float>(width) / static_cast<float>(height));
    const Vec3 back = normalize(camera.from - camera.at);
    right_ = normalize(camera.up.cross(back));
    up_ = back.cross(right_);
    horizontal_ = right_ * (camera.focus_distance * view_width);
    vertical_ = up_ * (camera.focus_distance * view_height);
    top_left_ = vertical_ / 2 - horizontal_ / 2 - back * camera.focus_distance;
  }

  /// Through (s, t) of the image, from (0, 0) at its top left to (1, 1). The direction is of unit length.
  [[nodiscard]] Ray through(float s, float t, float t_min, float t_max, Random& random) const {
    Vec3 offset{0, 0, 0};
    if (lens_radius_ > 0) {
      const Vec3 lens = random.in_unit_disk() * lens_radius_;
      offset = right_ * lens.x() + up_ * lens.y();
    }
    return {from_ + offset, normalize(top_left_ + horizontal_ * s - vertical_ * t - offset), t_min, t_max};
  }

 private:
  Vec3 from_;
  Vec3 right_;
  Vec3 up_;
  Vec3 horizontal_;
  Vec3 vertical_;
  Vec3 top_left_;
  float lens_radius_;
};

}  // namespace rayreplay::reference
