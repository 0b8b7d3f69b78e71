// What tests of traversals on a device share: devices, scenes, rays, and answers of shaders that nobody captured.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/trace/reader.hpp"
#include "kernels/accelerator.hpp"
#include "tests/support/accelerator.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/ray_scenes.hpp"
#include "traversal/observed.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::test {

/// Random rays, and some that nobody traverses or that stretch what a ray may be.
[[nodiscard]] inline std::vector<traversal::Ray> mixed_rays(std::uint64_t seed, std::size_t count, bool flags) {
  std::vector<traversal::Ray> rays = random_rays(seed, count, flags);
  constexpr float kFar = std::numeric_limits<float>::infinity();
  rays.at(3).direction = {0, 0, 0};
  rays.at(5).origin[1] = std::numeric_limits<float>::quiet_NaN();
  rays.at(7).t_min = rays[7].t_max = kFar;
  rays.at(9).t_min = -kFar;
  rays.at(11).direction = {-0.0F, 1, 0.0F};
  rays.at(13).origin = {0x1p104F, 0, 0};
  rays.at(15).t_min = 2;
  rays.at(15).t_max = 1;
  rays.at(17).direction = {kFar, 0, 0};
  rays.at(19).t_min = -0.0F;
  return rays;
}

/// What a trace might have recorded of these rays: some of the candidates that they come to, with reports in and out of
/// reach, accepted and ignored.
[[nodiscard]] inline traversal::Observed invented_answers(std::uint64_t seed, const bvh::PreparedScene& scene,
                                                          const std::vector<traversal::Ray>& rays) {
  Random random(seed);
  traversal::Observed observed;
  observed.rays = rays;
  observed.tests.offset.push_back(0);
  for (const traversal::Ray& ray : rays) {
    const std::uint32_t tests = random.below(80);
    for (std::uint32_t i = 0; i < tests; ++i) {
      traversal::ObservedTest test;
      const std::uint32_t instance = random.below(static_cast<std::uint32_t>(scene.instances.size()));
      const bvh::SceneBlas& blas = scene.blases[scene.instances[instance].blas];
      const std::uint32_t geometry = random.below(blas.geometry_count);
      const trace::Geometry& source = scene.geometry(scene.instances[instance].blas, geometry);
      test.test.candidate = {instance, geometry, random.below(static_cast<std::uint32_t>(source.primitives()))};
      test.test.procedural = source.type == trace::GeometryType::Boxes;
      test.first_report = observed.reports.size();
      test.reports = test.test.procedural ? random.below(4) : 1;
      for (std::uint32_t r = 0; r < test.reports; ++r) {
        traversal::ObservedReport report;
        // Far enough not to lie before the entry into any box: then the order of visits would matter.
        report.t = ray.t_min + 6 * (random.unit() + 1.5F);
        report.hit_kind = static_cast<std::uint8_t>(random.below(3));
        report.any_hit = random.one_in(2);
        report.accepted = !random.one_in(3);
        observed.reports.push_back(report);
      }
      observed.tests.rows.push_back(test);
    }
    observed.tests.offset.push_back(observed.tests.rows.size());
  }
  return observed;
}

[[nodiscard]] inline trace::Trace captured(const std::string& name) {
  return trace::load(std::filesystem::path(RAYREPLAY_SOURCE_DIR) / "tests/data/h200" / name);
}

inline constexpr std::array kDeviceLayouts{"binary", "wide-8", "compressed-wide-8"};

}  // namespace rayreplay::test
