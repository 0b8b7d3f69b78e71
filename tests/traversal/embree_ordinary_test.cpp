// Traversals against Embree's own on ordinary scenes and rays, millions of them: closest hits and occlusion.
//
// Scenes: a terrain of 200,000 triangles; the hall (alpha-tested foliage, instances); 400 rotated and mirrored
// instances of two meshes. Rays: as from a camera, from the points that those hit into all directions (as diffuse
// bounces), and uniformly random ones; a third each. near-first over wide-8 answers all of them; over compressed-wide-8
// a first batch, which must be the same bits. tests/support/embree_agreement.hpp says what agrees.
//
// Here nothing is aimed at edges, so that limits are tight, in each scene: at most 0.1 % may be tied (the hall has
// surfaces that coincide), and at most 0.05 % excused by Embree's single precision, 0.5 % where it takes every ray into
// turned instances in single precision as well; none may be wrong, out of range or Embree's own error.
#include <gtest/gtest.h>

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "bvh/bvh.hpp"
#include "capture/reference/scene.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/embree_agreement.hpp"
#include "tests/support/embree_scene.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/precise_scene.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::test {
namespace {

using traversal::Hit;
using traversal::Ray;
using traversal::TraceResult;
using traversal::Traversals;

constexpr std::size_t kBatch = 40'000;
constexpr std::size_t kBatches = 3;  // of each kind of ray, scene and query: 2.16 million in all
constexpr std::size_t kScenes = 3;

struct OrdinaryScene {
  std::string name;
  trace::Scene scene;
  Vec eye;     ///< of the camera
  Vec target;  ///< what it looks at
  double excused = 0.0005;
};

OrdinaryScene terrain() {
  return {"terrain", one_mesh(bumpy_terrain(200'000, 7)), {0.5, 0.9, -0.4}, {0.5, 0, 0.5}};
}

OrdinaryScene hall() {
  reference::RenderScene made = reference::make_scene("hall", nullptr);
  trace::Scene scene;
  for (reference::SceneGeometry& geometry : made.geometries) {
    scene.geometries.push_back(std::move(geometry.geometry));
  }
  scene.blases = made.blases;
  scene.instances = made.instances;
  const reference::Camera& camera = made.camera;
  return {"hall",
          std::move(scene),
          {camera.from.x(), camera.from.y(), camera.from.z()},
          {camera.at.x(), camera.at.y(), camera.at.z()}};
}

OrdinaryScene instances() {
  SceneBuilder kit(11);
  kit.scene.geometries.push_back(bumpy_terrain(4000, 3));
  kit.structure();
  kit.scene.geometries.push_back(bumpy_terrain(1500, 4));
  kit.structure();
  for (std::uint32_t i = 0; i < 400; ++i) {
    Matrix transform = adversarial::random_transform(kit, i % 2 == 0 ? 0 : 2);
    for (const std::size_t shift : {3U, 7U, 11U}) {
      transform[shift] *= 2;
    }
    kit.place(i % 3 == 0 ? 1 : 0, transform);
  }
  return {"instances", kit.scene, {0.1, 0.2, -9}, {0, 0, 0}, 0.005};
}

class OrdinaryRays {
 public:
  OrdinaryRays(const OrdinaryScene& scene, const bvh::PreparedScene& prepared) : scene_(&scene) {
    for (const bvh::SceneInstance& instance : prepared.instances) {
      if (instance.active) {
        bounds_.extend(instance.world);
      }
    }
    for (unsigned axis = 0; axis < 3; ++axis) {
      extent_ = std::max(extent_, bounds_.high[axis] - bounds_.low[axis]);
    }
  }

  /// Through a window of 90 degrees.
  Ray from_camera() {
    Vec direction;
    double distance = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      direction[axis] = scene_->target[axis] - scene_->eye[axis];
      distance += std::abs(direction[axis]);
    }
    for (double& x : direction) {
      x += 0.6 * distance * unit();
    }
    return make(scene_->eye, direction);
  }
  /// From where `ray` hit something.
  Ray bounced(const Ray& ray, const Hit& hit) {
    Vec origin;
    for (unsigned axis = 0; axis < 3; ++axis) {
      origin[axis] =
          static_cast<double>(ray.origin[axis]) + static_cast<double>(hit.t) * static_cast<double>(ray.direction[axis]);
    }
    return make(origin, anywhere());
  }
  Ray uniform() {
    Vec origin;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto low = static_cast<double>(bounds_.low[axis]);
      const auto high = static_cast<double>(bounds_.high[axis]);
      origin[axis] = low + (high - low) * (unit() + 1) / 2;
    }
    return make(origin, anywhere());
  }
  void limit(Ray& ray) {
    ray.t_max = extent_ * (0.51F + 0.5F * static_cast<float>(unit()));
    ray.flags = trace::kRayFlagTerminateOnFirstHit | trace::kRayFlagSkipClosestHit;
  }

 private:
  double unit() {
    return static_cast<double>(random_.unit());
  }
  /// A point of the unit sphere.
  Vec anywhere() {
    while (true) {
      const Vec at{unit(), unit(), unit()};
      const double square = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
      if (square > 0.01 && square < 1) {
        return {at[0] / std::sqrt(square), at[1] / std::sqrt(square), at[2] / std::sqrt(square)};
      }
    }
  }
  [[nodiscard]] Ray make(const Vec& origin, const Vec& direction) const {
    Ray ray;
    for (unsigned axis = 0; axis < 3; ++axis) {
      ray.origin[axis] = static_cast<float>(origin[axis]);
      ray.direction[axis] = static_cast<float>(direction[axis]);
    }
    ray.t_min = 1e-4F * extent_;
    return ray;
  }

  const OrdinaryScene* scene_;
  Random random_{23};
  bvh::Box bounds_;
  float extent_ = 0;
};

class EmbreeOrdinary : public testing::TestWithParam<std::size_t> {};

TEST_P(EmbreeOrdinary, ClosestHitsAndOcclusion) {
  const OrdinaryScene ordinary = GetParam() == 0 ? terrain() : GetParam() == 1 ? hall() : instances();
  const PreciseScene arbiter(ordinary.scene, true);
  const EmbreeScene embree(arbiter, ordinary.scene);
  const bvh::Bvh wide = bvh::build_bvh(ordinary.scene, 0, ordinary.name, {});
  const bvh::Bvh quantised = bvh::build_bvh(ordinary.scene, 0, ordinary.name, {.layout = "compressed-wide-8"});
  const auto near_first = Traversals::create("near-first");
  OrdinaryRays source(ordinary, arbiter.prepared());
  EmbreeTally tally;
  std::uint64_t found = 0;
  std::uint64_t quantised_rays = 0;
  const auto compare = [&](const std::vector<Ray>& rays, bool any, bool both) {
    const PreciseShaders shaders(arbiter, rays);
    TraceResult ours = near_first.model->trace(wide, rays, {.counters = false, .shaders = &shaders});
    EXPECT_EQ(ours.ignored_rays, 0U);
    for (const Hit& hit : ours.hits) {
      found += hit.found() ? 1U : 0U;
    }
    if (both) {
      quantised_rays += rays.size();
      const TraceResult again = near_first.model->trace(quantised, rays, {.counters = false, .shaders = &shaders});
      for (std::size_t row = 0; row < rays.size(); ++row) {
        const bool same = any ? again.hits[row].found() == ours.hits[row].found() : again.hits[row] == ours.hits[row];
        EXPECT_TRUE(same) << describe(rays[row], row, ours.hits[row], again.hits[row]);
      }
    }
    std::vector<Hit> theirs(rays.size());
    oneapi::tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t row) {
      const Hit& a = ours.hits[row];
      Hit& b = theirs[row];
      if (any) {
        b.instance = embree.occluded(row, rays[row], shaders) ? 0 : trace::kNone;
      } else {
        b = embree.intersect(row, rays[row], shaders);
      }
      if (any ? a.found() == b.found() : same_answer(rays[row], a, b)) {
        ++tally.agree;
      } else {
        tally.judge(arbiter, row, rays[row], a, b, any, true);
      }
    });
    const std::size_t wrong = tally.a_wrong_ray;
    EXPECT_EQ(tally.wrong, 0U) << describe(rays[wrong], wrong, ours.hits[wrong], theirs[wrong]);
    const std::size_t own = tally.an_own_ray;
    EXPECT_EQ(tally.embrees_own, 0U) << describe(rays[own], own, ours.hits[own], theirs[own]);
    return ours.hits;
  };
  const auto compare_both = [&](std::vector<Ray> rays, bool both) {
    std::vector<Hit> hits = compare(rays, false, both);
    for (Ray& ray : rays) {
      source.limit(ray);
    }
    (void)compare(rays, true, both);
    return hits;
  };
  std::uint64_t compared = 0;
  for (std::size_t batch = 0; batch < kBatches && !HasFailure(); ++batch) {
    std::vector<Ray> camera(kBatch);
    std::vector<Ray> uniform(kBatch);
    for (std::size_t i = 0; i < kBatch; ++i) {
      camera[i] = source.from_camera();
      uniform[i] = source.uniform();
    }
    const std::vector<Hit> hits = compare_both(camera, batch == 0);
    (void)compare_both(uniform, false);
    ASSERT_TRUE(std::ranges::any_of(hits, &Hit::found));
    std::vector<Ray> bounced;
    for (std::size_t i = 0; bounced.size() < kBatch; i = (i + 1) % kBatch) {
      if (hits[i].found()) {
        bounced.push_back(source.bounced(camera[i], hits[i]));
      }
    }
    (void)compare_both(bounced, batch == 0);
    compared += 6 * kBatch;
  }
  std::cout << ordinary.name << ": " << compared << " rays, " << found << " hit, " << tally.agree << " agree, "
            << tally.tied << " tied, " << tally.excused << " excused\n";
  EXPECT_EQ(compared, 6 * kBatch * kBatches);
  EXPECT_GE(quantised_rays * 8, compared);
  EXPECT_GE(found * 10, compared) << "the rays must meet the scene";
  EXPECT_EQ(tally.out_of_range, 0U);
  EXPECT_LE(tally.tied * 1000, compared);
  EXPECT_LE(static_cast<double>(tally.excused), ordinary.excused * static_cast<double>(compared));
}

INSTANTIATE_TEST_SUITE_P(Scenes, EmbreeOrdinary, testing::Range<std::size_t>(0, kScenes));

}  // namespace
}  // namespace rayreplay::test
