// The parameters that the shaders read: shaders/params.glsl in C++.
//
// Contract: std140 layout, so every vector is followed by a scalar. `make_params` fills in camera, sky and the options
// of a launch; what only one program uses stays zero.
#pragma once

#include <array>
#include <cstdint>

#include "capture/reference/scene.hpp"

namespace rayreplay::apps {

using Float3 = std::array<float, 3>;

struct Params {
  Float3 from{};
  float lens_radius = 0;
  Float3 right{};
  std::uint32_t width = 0;
  Float3 up{};
  std::uint32_t height = 0;
  Float3 horizontal{};
  float t_min = 0;
  Float3 vertical{};
  float t_max = 0;
  Float3 top_left{};
  std::uint32_t seed = 0;
  Float3 sky_bottom{};
  std::uint32_t samples = 0;
  Float3 sky_top{};
  std::uint32_t depth = 0;
  Float3 sun{};
  std::uint32_t ray_flags = 0;
  Float3 sun_radiance{};
  std::uint32_t sbt_stride = 0;
  std::uint32_t lights = 0;
  float light_power = 0;
  std::uint32_t hit_work = 0;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Params) == 11 * 16);

/// Push constants.
struct LaunchConstants {
  std::uint32_t launch = 0;
  std::uint32_t frame = 0;
  std::array<std::uint32_t, 2> unused{};
};

/// A material as shaders/surface.glsl has it (scalar layout).
struct MaterialRecord {
  Float3 color{};
  std::uint32_t kind = 0;
  float fuzz = 0;
  float refraction_index = 0;
  std::uint32_t texture = reference::kNoTexture;
  float alpha_cutoff = 0;
};
static_assert(sizeof(MaterialRecord) == 32);

inline constexpr std::uint32_t kRayFlagOpaque = 1;  // gl_RayFlagsOpaqueEXT

struct Options;
[[nodiscard]] Params make_params(const reference::Camera& camera, const reference::Sky& sky, const Options& options);
[[nodiscard]] MaterialRecord make_record(const reference::Material& material);

}  // namespace rayreplay::apps
