#include "capture/apps/framework/params.hpp"

#include <cmath>
#include <numbers>

#include "capture/apps/framework/options.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::apps {
namespace {

Float3 to_array(const Vec3& v) {
  return {v.x(), v.y(), v.z()};
}

}  // namespace

Params make_params(const reference::Camera& camera, const reference::Sky& sky, const Options& options) {
  // The thin-lens camera of the book, set up as capture/reference/camera.hpp does.
  const double half_angle = static_cast<double>(camera.vertical_fov_degrees) * std::numbers::pi / 360;
  const float view_height = 2 * static_cast<float>(std::tan(half_angle));
  const float view_width = view_height * (static_cast<float>(options.width) / static_cast<float>(options.height));
  const Vec3 back = reference::normalize(camera.from - camera.at);
  const Vec3 right = reference::normalize(camera.up.cross(back));
  const Vec3 up = back.cross(right);
  const Vec3 horizontal = right * (camera.focus_distance * view_width);
  const Vec3 vertical = up * (camera.focus_distance * view_height);
  Params params;
  params.from = to_array(camera.from);
  params.lens_radius = camera.aperture / 2;
  params.right = to_array(right);
  params.up = to_array(up);
  params.horizontal = to_array(horizontal);
  params.vertical = to_array(vertical);
  params.top_left = to_array(vertical / 2 - horizontal / 2 - back * camera.focus_distance);
  params.sky_bottom = to_array(sky.bottom);
  params.sky_top = to_array(sky.top);
  params.width = options.width;
  params.height = options.height;
  params.seed = options.seed;
  params.samples = options.samples;
  params.depth = options.depth;
  params.hit_work = options.hit_work;
  return params;
}

MaterialRecord make_record(const reference::Material& material) {
  MaterialRecord record;
  record.color = to_array(material.color);
  record.kind = static_cast<std::uint32_t>(material.kind);
  record.fuzz = material.fuzz;
  record.refraction_index = material.refraction_index;
  record.texture = material.texture;
  record.alpha_cutoff = material.alpha_cutoff;
  return record;
}

}  // namespace rayreplay::apps
