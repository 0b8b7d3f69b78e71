// Traversals against Embree's own on adversarial scenes and rays: closest hits and occlusion.
//
// tests/support/embree_agreement.hpp says what agrees, is tied, excused, or wrong. The shares of the excused are
// limited: of all rays, most of which are aimed at just such places, to a quarter; of the rays in general position
// (kinds 0 and 5) to 2 %. Neither holds where the triangles themselves are as small as the rounding (of_rounding_size).
// Where Embree takes no such numbers at all, the arbiter alone judges ours.
//
// RAYREPLAY_ADVERSARIAL_RAYS=n: rays per scene and test instead of the 12,000 that keep this quick.
#include <gtest/gtest.h>

#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/adversarial_rays.hpp"
#include "tests/support/embree_agreement.hpp"
#include "tests/support/embree_scene.hpp"
#include "tests/support/precise_scene.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::test {
namespace {

using traversal::Hit;
using traversal::Ray;
using traversal::TraceResult;
using traversal::Traversals;

constexpr std::uint64_t kSeed = 2026;

std::size_t rays_per_scene() {
  const char* text = std::getenv("RAYREPLAY_ADVERSARIAL_RAYS");
  return text == nullptr ? 12'000 : std::strtoull(text, nullptr, 10);
}

class EmbreeDifferential : public testing::TestWithParam<std::size_t> {
 protected:
  static const AdversarialScene& scene() {
    static const std::vector<AdversarialScene> scenes = adversarial_scenes(kSeed);
    return scenes[GetParam()];
  }

  /// Compares ours with Embree's. `any`: occlusion.
  static void compare(bool any) {
    const AdversarialScene& adversarial = scene();
    std::vector<Ray> rays = adversarial_rays(adversarial.scene, rays_per_scene(), any ? kSeed + 1 : kSeed);
    for (Ray& ray : rays) {
      ray.flags = any ? trace::kRayFlagTerminateOnFirstHit | trace::kRayFlagSkipClosestHit : 0;
    }
    const PreciseScene arbiter(adversarial.scene);
    const PreciseShaders shaders(arbiter, rays);
    const EmbreeScene embree(arbiter, adversarial.scene);
    const bvh::Bvh bvh = bvh::build_bvh(adversarial.scene, 0, adversarial.name, {});
    const TraceResult ours = Traversals::create("near-first").model->trace(bvh, rays, {.shaders = &shaders});
    EmbreeTally tally;
    std::vector<Hit> theirs(rays.size());
    oneapi::tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t row) {
      const Ray& ray = rays[row];
      const Hit& a = ours.hits[row];
      const bool general = row % kRayKinds == 0 || row % kRayKinds == 5;
      if (!traversal::is_traversable(ray)) {
        tally.wrong += a.found() ? 1U : 0U;
        return;
      }
      if (!adversarial.in_float_range || !embree_takes(ray)) {
        ++tally.alone;
        tally.judge_alone(arbiter, row, ray, a, any);
        return;
      }
      Hit& b = theirs[row];
      bool same = false;
      if (any) {
        b.instance = embree.occluded(row, ray, shaders) ? 0 : trace::kNone;
        same = a.found() == b.found();
      } else {
        b = embree.intersect(row, ray, shaders);
        same = same_answer(ray, a, b);
      }
      if (same) {
        ++tally.agree;
      } else {
        tally.judge(arbiter, row, ray, a, b, any, general);
      }
    });
    const std::uint64_t compared = rays.size() - ours.ignored_rays;
    std::cout << adversarial.name << ": " << compared << " rays, " << tally.agree << " agree, " << tally.tied
              << " tied, " << tally.excused << " excused, " << tally.out_of_range << " out of Embree's range, "
              << tally.alone << " judged alone, " << ours.ignored_rays << " ignored\n";
    const std::size_t wrong = tally.a_wrong_ray;
    EXPECT_EQ(tally.wrong, 0U) << describe(rays[wrong], wrong, ours.hits[wrong], theirs[wrong]);
    const std::size_t own = tally.an_own_ray;
    EXPECT_EQ(tally.embrees_own, 0U) << describe(rays[own], own, ours.hits[own], theirs[own]);
    if (!adversarial.of_rounding_size) {
      EXPECT_LE(tally.excused * 4, compared);
      EXPECT_LE(tally.excused_in_general_position * kRayKinds, compared * 2 / 50);
    }
  }
};

TEST_P(EmbreeDifferential, ClosestHits) {
  compare(false);
}

TEST_P(EmbreeDifferential, Occlusion) {
  compare(true);
}

INSTANTIATE_TEST_SUITE_P(Scenes, EmbreeDifferential, testing::Range<std::size_t>(0, adversarial_scenes(1).size()));

}  // namespace
}  // namespace rayreplay::test
