// Adversarial scenes and rays: all traversals, layouts, builders and orders find the same bits as near-first over the
// default structure, which tests/traversal/embree_closest_hit_test.cpp compares with Embree. Closed meshes have no
// holes. Rays that cannot be traversed are counted.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "bvh/bvh.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/adversarial_rays.hpp"
#include "tests/support/precise_scene.hpp"
#include "traversal/traversal.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::test {
namespace {

using traversal::Hit;
using traversal::Ray;
using traversal::TraceResult;
using traversal::Traversals;
using traversal::WarpTraversals;

constexpr std::uint64_t kSeed = 404;

std::vector<std::uint64_t> warps_of(std::size_t rays) {
  std::vector<std::uint64_t> first;
  for (std::size_t row = 0; row < rays; row += 32) {
    first.push_back(row);
  }
  first.push_back(rays);
  return first;
}

/// `any`: found or not is all that has to agree.
void expect_same(const std::vector<Hit>& hits, const std::vector<Hit>& expected, bool any, const std::string& what) {
  ASSERT_EQ(hits.size(), expected.size());
  for (std::size_t row = 0; row < hits.size(); ++row) {
    const bool same = any ? hits[row].found() == expected[row].found() : hits[row] == expected[row];
    ASSERT_TRUE(same) << what << ": ray " << row << " of kind " << row % kRayKinds << ": t " << hits[row].t << " at "
                      << hits[row].instance << "/" << hits[row].geometry << "/" << hits[row].primitive << ", expected "
                      << expected[row].t << " at " << expected[row].instance << "/" << expected[row].geometry << "/"
                      << expected[row].primitive;
  }
}

TEST(AdversarialAgreement, AllTraversalsLayoutsAndBuilders) {
  struct Structure {
    const char* layout;
    const char* builder;
    const char* order;
  };
  constexpr std::array<Structure, 7> kStructures{{{"wide-8", "high", "van-emde-boas"},
                                                  {"wide-4", "medium", "treelet"},
                                                  {"binary", "median", "breadth-first"},
                                                  {"compressed-wide-8", "low", "depth-first"},
                                                  {"quantised-6", "medium", "breadth-first"},
                                                  {"quantised-6:leaves=quads", "medium", "depth-first"},
                                                  {"half-4", "high", "depth-first"}}};
  std::uint64_t traced = 0;
  for (const AdversarialScene& scene : adversarial_scenes(kSeed)) {
    const PreciseScene precise(scene.scene);
    const bvh::Bvh plain = bvh::build_bvh(scene.scene, 0, scene.name, {});
    for (const bool any : {false, true}) {
      std::vector<Ray> rays = adversarial_rays(scene.scene, 1200, kSeed + (any ? 1 : 0));
      for (Ray& ray : rays) {
        ray.flags = any ? trace::kRayFlagTerminateOnFirstHit | trace::kRayFlagSkipClosestHit : 0;
      }
      const PreciseShaders shaders(precise, rays);
      const TraceResult expected = Traversals::create("near-first").model->trace(plain, rays, {.shaders = &shaders});
      for (const Structure& structure : kStructures) {
        const bvh::Bvh bvh =
            bvh::build_bvh(scene.scene, 0, scene.name,
                           {.builder = structure.builder, .layout = structure.layout, .node_order = structure.order});
        for (const std::string& name : Traversals::names()) {
          const std::string what = scene.name + ", " + structure.layout + ", " + name;
          const TraceResult result = Traversals::create(name).model->trace(bvh, rays, {.shaders = &shaders});
          expect_same(result.hits, expected.hits, any, what);
          ASSERT_EQ(result.ignored_rays, expected.ignored_rays) << what;
          traced += rays.size();
        }
        for (const std::string& name : WarpTraversals::names()) {
          const std::string what = scene.name + ", " + structure.layout + ", " + name;
          const auto result =
              WarpTraversals::create(name).model->trace(bvh, rays, warps_of(rays.size()), {.shaders = &shaders});
          expect_same(result.hits, expected.hits, any, what);
          ASSERT_EQ(result.ignored_rays, expected.ignored_rays) << what;
          traced += rays.size();
        }
      }
    }
  }
  std::cout << traced << " rays traced\n";
}

TEST(AdversarialAgreement, ClosedMeshesHaveNoHoles) {
  std::size_t meshes = 0;
  for (const AdversarialScene& scene : adversarial_scenes(kSeed)) {
    if (!scene.closed) {
      continue;
    }
    ++meshes;
    // From the origin, which lies inside, through vertices, along edges and everywhere else.
    const trace::Geometry& mesh = scene.scene.geometries[0];
    std::vector<Ray> rays;
    Random random(kSeed);
    for (std::size_t i = 0; i < 60000; ++i) {
      const std::uint32_t* corner = &mesh.indices[random.below(mesh.indices.size() / 3) * std::size_t{3}];
      const float* a = &mesh.vertices[corner[0] * std::size_t{3}];
      const float* b = &mesh.vertices[corner[1] * std::size_t{3}];
      Ray ray;
      const float weight = i % 3 == 0 ? 0 : i % 3 == 1 ? 0.5F : std::abs(random.unit());
      for (std::size_t axis = 0; axis < 3; ++axis) {
        ray.direction[axis] = a[axis] + (b[axis] - a[axis]) * weight;
        ray.origin[axis] = i % 2 == 0 ? 0 : 0.1F * random.unit();
      }
      rays.push_back(ray);
    }
    const bvh::Bvh bvh = bvh::build_bvh(scene.scene, 0, scene.name, {});
    const bvh::Bvh quantised = bvh::build_bvh(scene.scene, 0, scene.name, {.layout = "half-4"});
    for (const bvh::Bvh* structure : {&bvh, &quantised}) {
      const TraceResult result = Traversals::create("near-first").model->trace(*structure, rays);
      for (std::size_t row = 0; row < rays.size(); ++row) {
        ASSERT_TRUE(result.hits[row].found()) << scene.name << " ray " << row;
      }
    }
  }
  EXPECT_EQ(meshes, 3U);
}

TEST(AdversarialAgreement, BadRaysAreCounted) {
  const AdversarialScene scene = adversarial_scenes(kSeed).front();
  const bvh::Bvh bvh = bvh::build_bvh(scene.scene, 0, scene.name, {});
  std::vector<Ray> rays = adversarial_rays(scene.scene, 12, kSeed);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  rays[0].origin[1] = nan;
  rays[1].direction[2] = nan;
  rays[2].origin[0] = -infinite;
  rays[3].direction[0] = infinite;
  rays[4].direction = {0, -0.0F, 0};
  rays[5].t_min = 2, rays[5].t_max = 1;
  rays[6].t_min = nan;
  rays[7].t_max = nan;
  rays[8].t_min = infinite, rays[8].t_max = infinite;  // sound, but nothing is there
  rays[9].t_min = -infinite;
  for (const std::string& name : Traversals::names()) {
    const TraceResult result = Traversals::create(name).model->trace(bvh, rays);
    EXPECT_EQ(result.ignored_rays, 8U) << name;
    for (std::size_t row = 0; row < 9; ++row) {
      EXPECT_FALSE(result.hits[row].found()) << name << " ray " << row;
      EXPECT_TRUE(row == 8 || result.counters[row] == traversal::RayCounters{}) << name << " ray " << row;
    }
  }
  for (const std::string& name : WarpTraversals::names()) {
    const auto result = WarpTraversals::create(name).model->trace(bvh, rays, warps_of(rays.size()));
    EXPECT_EQ(result.ignored_rays, 8U) << name;
    for (std::size_t row = 0; row < 9; ++row) {
      EXPECT_FALSE(result.hits[row].found()) << name << " ray " << row;
    }
  }
}

TEST(AdversarialAgreement, EmptyScenes) {
  SceneBuilder kit(1);
  kit.loose({{std::numeric_limits<double>::quiet_NaN(), 0, 0}, {1, 0, 0}, {0, 1, 0}});
  kit.place(kit.structure());
  const bvh::Bvh bvh = bvh::build_bvh(kit.scene, 0, "empty", {});
  EXPECT_EQ(bvh.scene.ignored.triangles_not_finite, 1U);
  EXPECT_EQ(bvh.scene.ignored.instances_empty, 1U);
  const std::vector<Ray> rays(40, Ray{.direction = {0, 0, 1}});
  for (const std::string& name : Traversals::names()) {
    const TraceResult result = Traversals::create(name).model->trace(bvh, rays);
    for (const Hit& hit : result.hits) {
      EXPECT_FALSE(hit.found()) << name;
    }
  }
  for (const std::string& name : WarpTraversals::names()) {
    const auto result = WarpTraversals::create(name).model->trace(bvh, rays, warps_of(rays.size()));
    EXPECT_EQ(result.tally[0].steps, 0U) << name;
  }
}

}  // namespace
}  // namespace rayreplay::test
