// Is every verdict of the device the Judge's: kind, flags and every bit of t_enter?
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/classification/device_judge.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/adversarial_rays.hpp"
#include "tests/support/ray_scenes.hpp"
#include "tests/support/vulkan_device.hpp"

namespace rayreplay::test {
namespace {

using traversal::Classification;
using traversal::DeviceJudge;
using traversal::Judge;
using traversal::JudgedRay;
using traversal::JudgedTest;
using traversal::Ray;
using traversal::Verdict;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  std::uint64_t ray = 0;
  JudgedTest test;
};

/// Rays, their t* and tests of them.
struct Cases {
  std::vector<Ray> rays;
  std::vector<float> t_star;
  std::vector<Case> tests;
};

traversal::Candidate any_candidate(const bvh::PreparedScene& scene, Random& random) {
  for (;;) {
    traversal::Candidate candidate;
    candidate.instance = random.below(scene.instances.size());
    const bvh::SceneBlas& blas = scene.blases[scene.instances[candidate.instance].blas];
    if (blas.primitives() > 0) {
      const std::uint32_t number = random.below(blas.primitives());
      std::tie(candidate.geometry, candidate.primitive) =
          scene.locate(scene.instances[candidate.instance].blas, number);
      return candidate;
    }
    if (random.one_in(64)) {
      return candidate;  // of a structure that nobody has looked at
    }
  }
}

/// Distances at, just before and just behind where the ray enters a primitive's box.
float near_entry(float entry, float other, Random& random) {
  switch (random.below(7)) {
    case 0:
      return std::nextafter(entry, kInfinity);
    case 1:
      return std::nextafter(entry, -kInfinity);
    case 2:
      return entry * (1 + static_cast<float>(random.below(32)) * 0x1p-24F);
    case 3:
      return entry * (1 - static_cast<float>(random.below(32)) * 0x1p-24F);
    case 4:
      return other;
    case 5:
      return random.one_in(2) ? kInfinity : 0;
    default:
      return entry;
  }
}

/// A test of a box that the ray meets, and a t_min about where it enters it or behind: triangles and boxes of no extent
/// along an axis are left where they are entered.
JudgedTest leave_a_box(const bvh::PreparedScene& scene, Ray& ray, const Judge& judge, Random& random) {
  JudgedRay judged(ray);
  JudgedTest test;
  test.procedural = true;
  for (int tries = 0; tries < 200; ++tries) {
    test.candidate = any_candidate(scene, random);
    const Verdict plain = judge.judge(judged, test, kInfinity);
    if (!std::isnan(plain.t_enter)) {
      ray.t_min = near_entry(plain.t_enter, 0, random) + (random.one_in(2) ? 0 : std::abs(random.unit()));
      ray.t_min = std::isfinite(ray.t_min) && ray.t_min <= ray.t_max ? ray.t_min : 0;
      break;
    }
  }
  return test;
}

Cases make_cases(const bvh::PreparedScene& scene, const std::vector<Ray>& rays, const Judge& judge, Random& random) {
  constexpr std::uint32_t kTests = 6;
  Cases cases;
  cases.rays = rays;
  for (std::uint64_t ray = 0; ray < rays.size(); ++ray) {
    const std::uint64_t first = cases.tests.size();
    if (random.one_in(3)) {
      cases.tests.push_back({ray, leave_a_box(scene, cases.rays[ray], judge, random)});
    }
    JudgedRay judged(cases.rays[ray]);
    float entry = 1;
    while (cases.tests.size() < first + kTests) {
      Case& made = cases.tests.emplace_back();
      made.ray = ray;
      made.test.procedural = random.one_in(2);
      Verdict plain;
      for (int tries = 0; tries < 20; ++tries) {  // mostly one whose box is met
        made.test.candidate = any_candidate(scene, random);
        plain = judge.judge(judged, made.test, kInfinity);
        if (!std::isnan(plain.t_enter) || random.one_in(40)) {
          break;
        }
      }
      entry = std::isnan(plain.t_enter) || random.one_in(3) ? entry : plain.t_enter;
      made.test.hit = random.one_in(2);
      made.test.t = near_entry(entry, 2 * random.unit(), random);
      made.test.t_max = near_entry(entry, rays[ray].t_max, random);
    }
    cases.t_star.push_back(near_entry(entry, rays[ray].t_max, random));
  }
  return cases;
}

struct Settings {
  double slack = 8;
  bool culls = false;
  bool clips = false;
};

struct Found {
  bool counts_objects = false;
  std::uint64_t judged = 0;
  std::array<std::uint64_t, traversal::kTestKinds> kinds{};
};

Found expect_equal(kernels::Device& device, const trace::Scene& scene, const std::vector<Ray>& rays,
                   const Settings& settings, std::uint64_t seed) {
  const bvh::PreparedScene prepared = bvh::prepare_scene(scene, 0, "test");
  const traversal::EnlargedBoxes enlarged(scene, 0, "test", {{"compressed-wide-8", "half-4"}}, 0, nullptr);
  const Judge judge(prepared, enlarged, settings.slack, settings.slack, {settings.culls, settings.clips});
  Random random(seed);
  const Cases cases = make_cases(prepared, rays, judge, random);
  Found found;
  const std::string unfit = DeviceJudge::unfit(enlarged, judge);
  if (!unfit.empty()) {
    EXPECT_EQ(unfit, "an enlarged box reaches beyond the largest float");
    return found;
  }
  DeviceJudge on_device(device, prepared, enlarged, judge);
  found.counts_objects = on_device.counts_objects();
  Classification counted;
  traversal::Accumulator sums(counted, cases.rays.size(), cases.rays.size(), true);
  on_device.begin({0, cases.rays.size(), 0, cases.rays.size(), cases.tests.size(), true});
  Classification expected;
  traversal::Accumulator expected_sums(expected, cases.rays.size(), cases.rays.size(), true);
  for (std::uint64_t ray = 0; ray < cases.rays.size(); ++ray) {
    on_device.set_ray(ray, ray, cases.rays[ray], cases.t_star[ray], ray % 3 == 0);
  }
  std::vector<bool> taken;
  for (std::uint64_t i = 0; i < cases.tests.size(); ++i) {
    taken.push_back(on_device.set_test(i, cases.tests[i].ray, cases.tests[i].test));
  }
  on_device.judge(sums);
  sums.finish(on_device.objects());
  for (std::uint64_t i = 0; i < cases.tests.size(); ++i) {
    EXPECT_EQ(on_device.judged(i), taken[i]);
    if (!taken[i]) {
      continue;
    }
    const Case& one = cases.tests[i];
    JudgedRay judged(cases.rays[one.ray]);
    const Verdict verdict = judge.judge(judged, one.test, cases.t_star[one.ray]);
    const Verdict other = on_device.verdict(i);
    EXPECT_EQ(other.kind, verdict.kind) << "test " << i;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(other.t_enter), std::bit_cast<std::uint32_t>(verdict.t_enter))
        << "test " << i << ": " << other.t_enter << ", expected " << verdict.t_enter;
    EXPECT_EQ(other.inactive, verdict.inactive) << "test " << i;
    EXPECT_EQ(other.late, verdict.late) << "test " << i;
    const traversal::CountedTest what{
        one.ray, one.ray, one.test.candidate,
        cases.rays[one.ray].ends_on_first_hit() ? traversal::RayGoal::FirstHit : traversal::RayGoal::ClosestHit,
        one.test.procedural ? traversal::PrimitiveType::Procedural : traversal::PrimitiveType::Triangle};
    traversal::Accumulator::Worker& worker = expected_sums.local();
    expected_sums.count(worker, what, verdict);
    worker.assumed_tests += one.ray % 3 == 0 && (verdict.kind == traversal::TestKind::Overlap ||
                                                 verdict.kind == traversal::TestKind::Order ||
                                                 verdict.kind == traversal::TestKind::EnlargementOrOrder)
                                ? 1U
                                : 0U;
    ++found.judged;
    ++found.kinds[static_cast<std::size_t>(verdict.kind)];
  }
  expected_sums.finish();
  EXPECT_EQ(counted.total, expected.total);
  EXPECT_EQ(counted.split, expected.split);
  EXPECT_EQ(counted.by_thread, expected.by_thread);
  EXPECT_EQ(counted.by_ray, expected.by_ray);
  EXPECT_EQ(counted.by_object, expected.by_object);
  EXPECT_EQ(counted.inactive_tests, expected.inactive_tests);
  EXPECT_EQ(counted.late_tests, expected.late_tests);
  EXPECT_EQ(counted.assumed_tests, expected.assumed_tests);
  return found;
}

TEST(JudgeOnDevice, EqualsTheProcessorOnRandomScenes) {
  const auto device = open_test_device();
  Found all;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    RandomSceneOptions options;
    options.seed = seed;
    const trace::Scene scene = random_scene(options);
    const Found found = expect_equal(*device, scene, random_rays(seed, 1000, true),
                                     {seed % 3 == 0 ? 0.0 : 8.0, seed % 2 == 0, seed % 4 == 3}, seed);
    EXPECT_GT(found.judged, 5000U);
    EXPECT_TRUE(found.counts_objects);
    for (std::size_t kind = 0; kind < traversal::kTestKinds; ++kind) {
      all.kinds[kind] += found.kinds[kind];
    }
  }
  for (std::size_t kind = 0; kind < traversal::kTestKinds; ++kind) {
    EXPECT_GT(all.kinds[kind], 100U) << to_string(static_cast<traversal::TestKind>(kind));
  }
}

TEST(JudgeOnDevice, EqualsTheProcessorOnAdversarialScenes) {
  const auto device = open_test_device();
  std::uint64_t judged = 0;
  for (const AdversarialScene& scene : adversarial_scenes(5)) {
    SCOPED_TRACE(scene.name);
    judged += expect_equal(*device, scene.scene, adversarial_rays(scene.scene, 400, 9), {}, 3).judged;
  }
  EXPECT_GT(judged, 20000U);
}

TEST(JudgeOnDevice, LeavesWhatItIsNotExactFor) {
  const auto device = open_test_device();
  SceneBuilder builder(1);
  builder.boxes({0, 0, 0, 1, 1, 1});
  const std::uint32_t blas = builder.structure();
  builder.place(blas);
  // An inverse with an entry of 10^-35, below 2^-100.
  builder.place(blas, {1, 1e-35F, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
  const bvh::PreparedScene prepared = bvh::prepare_scene(builder.scene, 0, "test");
  const traversal::EnlargedBoxes none;
  const Judge judge(prepared, none, 8, 8, {});
  EXPECT_EQ(DeviceJudge::unfit(none, judge), "");
  EXPECT_NE(DeviceJudge::unfit(none, Judge(prepared, none, 0x1p25, 8, {})), "");
  DeviceJudge on_device(*device, prepared, none, judge);
  Ray ray;
  ray.direction = {0, 0, 1};
  Ray endless = ray;
  endless.origin[1] = kInfinity;
  on_device.begin({0, 1, 0, 4, 8, true});
  on_device.set_ray(0, 0, ray, 1, false);
  on_device.set_ray(1, 0, ray, std::numeric_limits<float>::quiet_NaN(), false);
  on_device.set_ray(2, 0, endless, 1, false);
  on_device.set_ray(3, 0, ray, -kInfinity, false);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(on_device.set_test(0, 0, {{0, 0, 0}, false, nan, 1, true}));
  EXPECT_FALSE(on_device.set_test(1, 0, {{0, 0, 0}, true, nan, 1, true}));
  EXPECT_FALSE(on_device.set_test(2, 0, {{0, 0, 0}, false, 0, nan, true}));
  EXPECT_FALSE(on_device.set_test(3, 0, {{0, 0, 1}, false, 0, 1, true}));  // no such primitive
  EXPECT_FALSE(on_device.set_test(4, 0, {{0, 1, 0}, false, 0, 1, true}));
  EXPECT_FALSE(on_device.set_test(5, 0, {{2, 0, 0}, false, 0, 1, true}));
  EXPECT_FALSE(on_device.set_test(6, 0, {{1, 0, 0}, false, 0, 1, true}));
  for (const std::uint64_t bad : {1U, 2U, 3U}) {
    EXPECT_FALSE(on_device.set_test(7, bad, {{0, 0, 0}, false, 0, 1, true}));
  }
  Classification counted;
  traversal::Accumulator sums(counted, 1, 4, false);
  on_device.judge(sums);
  sums.finish(on_device.objects());
  EXPECT_EQ(traversal::sum(counted.total), 1U);
  ASSERT_EQ(counted.by_object.size(), 1U);
  EXPECT_EQ(traversal::sum(counted.by_object[0].counts), 1U);
}

TEST(JudgeOnDevice, ObjectsWithoutRoomOnTheDevice) {
  kernels::DeviceOptions little;
  little.memory_limit = std::uint64_t{24} << 20U;
  const auto device = open_test_device(little);
  SceneBuilder builder(2);
  std::vector<float> rows;
  for (int i = 0; i < 3000; ++i) {
    const Vec low = builder.point();
    for (int corner = 0; corner < 2; ++corner) {
      for (const double x : low) {
        rows.push_back(static_cast<float>(x + corner * 0.1));
      }
    }
  }
  builder.boxes(rows);
  const std::uint32_t blas = builder.structure();
  for (int i = 0; i < 80; ++i) {
    builder.place(blas);
  }
  const Found found = expect_equal(*device, builder.scene, adversarial_rays(builder.scene, 200, 1), {}, 4);
  EXPECT_FALSE(found.counts_objects);
  EXPECT_GT(found.judged, 1000U);
}

}  // namespace
}  // namespace rayreplay::test
