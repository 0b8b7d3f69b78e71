#include "capture/reference/scenes/textures.hpp"

#include <numbers>
#include <type_traits>

namespace rayreplay::reference {
namespace {

std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t seed) {
  std::uint32_t h = x * 0x9E37'79B1U + y * 0x85EB'CA77U + seed * 0xC2B2'AE3DU;
  h = (h ^ (h >> 15U)) * 0x2C1B'3C6DU;
  h = (h ^ (h >> 12U)) * 0x297A'2D39U;
  return h ^ (h >> 15U);
}

/// Smooth noise in [0, 1] that repeats after `period` cells.
double noise(double x, double y, std::uint32_t period, std::uint32_t seed) {
  const auto corner = [&](double i, double j) {
    const auto a = static_cast<std::uint32_t>(i) % period;
    const auto b = static_cast<std::uint32_t>(j) % period;
    return static_cast<double>(hash(a, b, seed)) / 4294967295.0;
  };
  const double i = std::floor(x);
  const double j = std::floor(y);
  const auto ease = [](double t) { return t * t * (3 - 2 * t); };
  const double u = ease(x - i);
  const double v = ease(y - j);
  const double bottom = corner(i, j) * (1 - u) + corner(i + 1, j) * u;
  const double top = corner(i, j + 1) * (1 - u) + corner(i + 1, j + 1) * u;
  return bottom * (1 - v) + top * v;
}

double clouds(double u, double v, std::uint32_t period, std::uint32_t octaves, std::uint32_t seed) {
  double sum = 0;
  double weight = 0.5;
  for (std::uint32_t o = 0; o < octaves; ++o, weight /= 2, period *= 2) {
    sum += weight * noise(u * period, v * period, period, seed + o);
  }
  return sum / (1 - 2 * weight);
}

template <class Color>
Texture paint(std::uint32_t size, Color&& color) {
  static_assert(std::is_same_v<std::invoke_result_t<Color&, double, double, bool&>, Vec3>,
                "a vector, not an expression that refers to locals");
  Texture texture{size, size, {}};
  texture.rgba.reserve(std::size_t{4} * size * size);
  for (std::uint32_t y = 0; y < size; ++y) {
    for (std::uint32_t x = 0; x < size; ++x) {
      bool solid = true;
      const Vec3 c = color((x + 0.5) / size, (y + 0.5) / size, solid);
      for (const float channel : c) {
        texture.rgba.push_back(static_cast<std::uint8_t>(std::clamp(channel, 0.0F, 1.0F) * 255 + 0.5F));
      }
      texture.rgba.push_back(solid ? 255 : 0);
    }
  }
  return texture;
}

}  // namespace

Texture stone_texture(std::uint32_t size, const Vec3& light, const Vec3& dark, std::uint32_t seed) {
  return paint(size, [&](double u, double v, bool&) {
    const double cloud = clouds(u, v, 4, 5, seed);
    const double ridge = std::fabs(clouds(u, v, 6, 4, seed + 40) - 0.5) * 2;
    const double vein = std::max(0.0, 1 - ridge * 9) * 0.5;
    const double grain = noise(u * size / 2, v * size / 2, size / 2, seed + 90) * 0.12;
    return lerp(light, dark, static_cast<float>(std::clamp(cloud * 0.55 + vein + grain - 0.1, 0.0, 1.0)));
  });
}

Texture wood_texture(std::uint32_t size, const Vec3& light, const Vec3& dark, std::uint32_t seed) {
  return paint(size, [&](double u, double v, bool&) {
    const double bend = noise(u * 4, v * 2, 4, seed) * 0.6;
    const double rings = std::fabs(std::sin((u * 9 + bend) * std::numbers::pi));
    const double fibre = noise(u * size / 2, v * 8, size / 2, seed + 3);
    return lerp(light, dark, static_cast<float>(0.6 * rings + 0.4 * fibre));
  });
}

Texture cloth_texture(std::uint32_t size, const Vec3& ground, const Vec3& pattern) {
  return paint(size, [&](double u, double v, bool&) -> Vec3 {
    const double weave = 0.88 + 0.12 * std::sin(u * size) * std::sin(v * size);
    const auto fold = [](double x) { return std::fabs(x * 4 - std::floor(x * 4) - 0.5); };
    const double diamond = fold(u) + fold(v);
    const bool line = std::fabs(diamond - 0.5) < 0.05 || diamond < 0.12;
    const bool border = v < 0.06 || (v > 0.08 && v < 0.1) || v > 0.97;
    return (line || border ? pattern : ground) * static_cast<float>(weave);
  });
}

Texture ivy_leaf_texture(std::uint32_t size) {
  return paint(size, [](double u, double v, bool& solid) -> Vec3 {
    const double x = (u - 0.5) * 2;
    const double y = (v - 0.42) * 2;
    const double angle = std::atan2(x, y);
    const double radius = std::hypot(x, y);
    // Five lobes around the stalk, the middle one the longest.
    const double lobes = 0.55 + 0.25 * std::cos(angle * 5) + 0.22 * std::cos(angle) - 0.12 * std::cos(angle * 2);
    solid = radius < lobes;
    const double vein = std::fabs(std::sin(angle * 2.5)) * radius;
    const double shade = 0.75 + 0.25 * radius;
    const Vec3 green = lerp({0.16F, 0.34F, 0.09F}, {0.30F, 0.50F, 0.14F}, static_cast<float>(radius));
    return vein < 0.035 ? Vec3{0.55F, 0.66F, 0.36F} : green * static_cast<float>(shade);
  });
}

Texture palm_leaf_texture(std::uint32_t size) {
  return paint(size, [](double u, double v, bool& solid) {
    const double x = std::fabs(u - 0.5) * 2;
    // Leaflets: the outline is notched along v.
    const double notch = v * 22 + x * 3;
    const double saw = notch - std::floor(notch);
    const double width = std::sin(std::min(v * 1.15 + 0.04, 1.0) * std::numbers::pi);
    solid = x < 0.05 || (x < width && saw < 0.8 - 0.25 * x);
    return x < 0.05 ? Vec3{0.52F, 0.58F, 0.28F}
                    : lerp({0.10F, 0.30F, 0.08F}, {0.26F, 0.48F, 0.12F}, static_cast<float>(saw));
  });
}

}  // namespace rayreplay::reference
