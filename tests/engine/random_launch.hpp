// Random launches with a sound grammar, for comparing the experiment with the libraries it is made of.
#pragma once

#include <cstdint>
#include <random>

#include "tests/support/launch_builder.hpp"

namespace rayreplay::test {

/// Shaders: 0 ray generation, 1–2 intersection, 3 any-hit, 4–5 closest hit, 6 miss.
inline std::vector<trace::Shader> random_launch_shaders() {
  using trace::ShaderStage;
  return {{ShaderStage::RayGeneration, "main", "raygen", {}},
          {ShaderStage::Intersection, "main", "sphere", {}},
          {ShaderStage::Intersection, "main", "torus", {}},
          {ShaderStage::AnyHit, "main", "leaf", {}},
          {ShaderStage::ClosestHit, "main", "metal", {}},
          {ShaderStage::ClosestHit, "main", "glass", {}},
          {ShaderStage::Miss, "main", "sky", {}}};
}

inline trace::Trace random_trace(trace::LaunchSize size, std::uint32_t seed) {
  std::mt19937 random(seed);
  LaunchBuilder builder(size);
  for (std::uint64_t thread = 0; thread < size.threads(); ++thread) {
    builder.thread();
    const auto rays = random() % 5;
    for (unsigned ray = 0; ray < rays; ++ray) {
      builder.begin(0);
      const auto tests = random() % 4;
      for (unsigned i = 0; i < tests; ++i) {
        builder.intersection(static_cast<std::uint16_t>(1 + random() % 2));
      }
      if (random() % 4 == 0) {
        builder.any_hit(3).ignore(3);
      }
      if (random() % 3 == 0) {
        builder.miss(6);
      } else {
        builder.closest_hit(static_cast<std::uint16_t>(4 + random() % 2));
      }
    }
  }
  trace::Trace result;
  result.shaders = random_launch_shaders();
  result.launches.push_back(builder.build());
  result.hash = "0123456789abcdef0123456789abcdef";
  result.header.application = "test";
  return result;
}

}  // namespace rayreplay::test
