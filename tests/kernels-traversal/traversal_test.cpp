// Does a device find what the processor finds, bit for bit: hits, counters, accesses, unanswered questions?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/traversal/bvh_on_device.hpp"
#include "kernels/traversal/trace.hpp"
#include "tests/kernels-traversal/on_device.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/adversarial_rays.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::test {
namespace {

using traversal::Hit;
using traversal::Observed;
using traversal::ObservedShaders;
using traversal::Ray;
using traversal::TraceOptions;
using traversal::TraceResult;
using traversal::Traversals;

constexpr std::array kOrders{"near-first", "fixed-order", "ordered"};

std::uint32_t bits(float x) {
  return std::bit_cast<std::uint32_t>(x);
}

/// As bits: −0 is not 0 here.
void expect_equal(const TraceResult& device, const TraceResult& cpu, const std::string& what) {
  ASSERT_EQ(device.hits.size(), cpu.hits.size()) << what;
  for (std::size_t i = 0; i < cpu.hits.size(); ++i) {
    const Hit& a = device.hits[i];
    const Hit& b = cpu.hits[i];
    ASSERT_TRUE(a == b && bits(a.t) == bits(b.t) && bits(a.u) == bits(b.u) && bits(a.v) == bits(b.v))
        << what << ", ray " << i << ": t " << a.t << " for " << b.t << ", primitive " << a.instance << "/" << a.geometry
        << "/" << a.primitive << " for " << b.instance << "/" << b.geometry << "/" << b.primitive << ", u " << a.u
        << " for " << b.u << ", v " << a.v << " for " << b.v;
  }
  ASSERT_EQ(device.counters.size(), cpu.counters.size());
  for (std::size_t i = 0; i < cpu.counters.size(); ++i) {
    const traversal::RayCounters& a = device.counters[i];
    const traversal::RayCounters& b = cpu.counters[i];
    ASSERT_EQ(a, b) << what << ", ray " << i << ": nodes " << a.nodes << "/" << b.nodes << ", boxes " << a.boxes << "/"
                    << b.boxes << ", leaves " << a.leaves << "/" << b.leaves << ", triangles " << a.triangles << "/"
                    << b.triangles << ", instances " << a.instances << "/" << b.instances << ", depth " << a.stack_depth
                    << "/" << b.stack_depth;
  }
  ASSERT_EQ(device.accesses, cpu.accesses) << what;
  EXPECT_EQ(device.ignored_rays, cpu.ignored_rays) << what;
}

/// Traces on the device and on the processor, and says how many rays hit something.
std::size_t compare(const bvh::Bvh& bvh, const std::vector<Ray>& rays, const TraceOptions& options,
                    const std::string& order, const std::string& what) {
  EXPECT_EQ(kernels::BvhOnDevice(bvh).unfit(), "") << what;
  DeviceSlot on_device;
  TraceOptions there = options;
  there.accelerator = &shared_accelerator();
  there.on_device = &on_device;
  const auto model = Traversals::create(order).model;
  const auto* shaders = dynamic_cast<const ObservedShaders*>(options.shaders);
  const std::uint64_t before = shaders == nullptr ? 0 : shaders->unobserved();
  const TraceResult cpu = model->trace(bvh, rays, options);
  const std::uint64_t middle = shaders == nullptr ? 0 : shaders->unobserved();
  const TraceResult device = model->trace(bvh, rays, there);
  expect_equal(device, cpu, what);
  if (shaders != nullptr) {
    EXPECT_EQ(shaders->unobserved() - middle, middle - before) << what;
  }
  return static_cast<std::size_t>(
      std::count_if(cpu.hits.begin(), cpu.hits.end(), [](const Hit& hit) { return hit.found(); }));
}

TEST(TraversalOnDevice, EveryOrderOverEveryLayoutOnRandomScenes) {
  std::size_t hits = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const trace::Scene scene = random_scene({.seed = seed, .flags = seed % 2 == 0});
    const std::vector<Ray> rays = mixed_rays(seed, 700, seed % 3 != 0);
    for (const char* layout : kDeviceLayouts) {
      const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = layout, .vertex_order = "random"});
      for (const char* order : kOrders) {
        hits += compare(bvh, rays, {.accesses = true}, order,
                        std::string(layout) + " " + order + " seed " + std::to_string(seed));
      }
    }
  }
  EXPECT_GT(hits, 1000U);
}

TEST(TraversalOnDevice, BuildersAndLeavesOfAllSizes) {
  const trace::Scene scene = random_scene({.seed = 9});
  const std::vector<Ray> rays = mixed_rays(10, 500, true);
  for (const char* builder : {"median:leaf_size=32", "high", "medium:leaf_size=1"}) {
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.builder = builder, .layout = "wide-8"});
    compare(bvh, rays, {.accesses = true}, "near-first", builder);
  }
}

TEST(TraversalOnDevice, ATerrain) {
  const trace::Scene scene = one_mesh(bumpy_terrain(20000, 3));
  std::vector<Ray> rays = mixed_rays(5, 6000, false);
  // None from behind: the kernels' variant for most rays there are.
  for (Ray& ray : rays) {
    ray.t_min = std::abs(ray.t_min);
    ray.origin = {0.5F + 0.1F * ray.origin[0], 1, 0.5F + 0.1F * ray.origin[2]};
    ray.direction[1] = -1;
  }
  for (const char* layout : kDeviceLayouts) {
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = layout});
    EXPECT_GT(compare(bvh, rays, {}, "near-first", layout), 1000U);
  }
}

TEST(TraversalOnDevice, AdversarialScenes) {
  for (const AdversarialScene& one : adversarial_scenes(2)) {
    const std::vector<Ray> rays = adversarial_rays(one.scene, 400, 3);
    const bvh::Bvh bvh = bvh::build_bvh(one.scene, 0, "test", {.layout = "compressed-wide-8"});
    if (kernels::BvhOnDevice(bvh).unfit().empty()) {
      compare(bvh, rays, {.accesses = true}, "near-first", one.name);
    }
  }
}

/// Everything is entered at once, so that everything waits: queues that begin too short.
TEST(TraversalOnDevice, OrderedWithLongQueues) {
  trace::Geometry mesh;
  constexpr std::uint32_t kTriangles = 900;
  for (std::uint32_t i = 0; i < kTriangles; ++i) {
    const float at = static_cast<float>(i) / kTriangles;
    mesh.vertices.insert(mesh.vertices.end(), {0, 0, at, 1, at, 1, at, 1, 0});
    mesh.indices.insert(mesh.indices.end(), {3 * i, 3 * i + 1, 3 * i + 2});
  }
  const trace::Scene scene = one_mesh(std::move(mesh));
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = "compressed-wide-8"});
  std::vector<Ray> rays = mixed_rays(12, 300, false);
  for (Ray& ray : rays) {
    ray.origin = {ray.origin[0], ray.origin[1], -1};
    ray.direction = {0.5F - ray.origin[0], 0.5F - ray.origin[1], 1};
  }
  compare(bvh, rays, {.accesses = true}, "ordered", "long queues");
  std::uint32_t longest = 0;
  for (const traversal::RayCounters& ray : Traversals::create("ordered").model->trace(bvh, rays, {}).counters) {
    longest = std::max(longest, ray.stack_depth);
  }
  EXPECT_GT(longest, 256U);
}

TEST(TraversalOnDevice, WithoutOwnBoxes) {
  const trace::Scene scene = random_scene({.seed = 3});
  bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = "wide-8"});
  bvh.own_boxes = false;
  compare(bvh, mixed_rays(4, 500, true), {.accesses = true}, "near-first", "without own boxes");
}

TEST(TraversalOnDevice, InventedAnswersOfShaders) {
  std::uint64_t any_hits = 0;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const trace::Scene scene = random_scene({.seed = seed});
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = "compressed-wide-8"});
    const std::vector<Ray> all = mixed_rays(seed + 40, 600, true);
    const Observed observed = invented_answers(seed, bvh.scene, all);
    // Backwards, and every ray twice.
    std::vector<std::uint64_t> places;
    std::vector<Ray> rays;
    for (std::size_t i = 2 * all.size(); i-- > 0;) {
      places.push_back(i % all.size());
      rays.push_back(all[places.back()]);
    }
    const ObservedShaders shaders(observed, places);
    for (const char* order : kOrders) {
      compare(bvh, rays, {.accesses = true, .shaders = &shaders}, order, "seed " + std::to_string(seed));
    }
    for (const auto& ray : Traversals::create("near-first").model->trace(bvh, rays, {.shaders = &shaders}).counters) {
      any_hits += ray.any_hits + ray.procedurals;
    }
  }
  EXPECT_GT(any_hits, 1000U);
}

TEST(TraversalOnDevice, CapturedTraces) {
  for (const char* name : {"one-weekend.rrt", "teapot-alpha.rrt", "bunny.rrt"}) {
    const trace::Trace trace = captured(name);
    const trace::Launch& launch = trace.launches.at(0);
    const std::uint64_t threads = traversal::batch_end(launch, 0, 4000, 1'000'000);
    const Observed observed = traversal::observe(launch, 0, threads);
    const ObservedShaders shaders(observed);
    const bvh::Bvh bvh = bvh::build_bvh(trace.scene, 0, name, {.layout = "compressed-wide-8"});
    EXPECT_GT(compare(bvh, observed.rays, {.accesses = true, .shaders = &shaders}, "near-first", name), 100U);
    compare(bvh, observed.rays, {.accesses = true, .shaders = &shaders}, "ordered", name);
  }
}

TEST(TraversalOnDevice, NothingAtAllAndOneRay) {
  trace::Scene scene = random_scene({.seed = 2, .instances = 1});
  scene.instances[0].mask = 0xFF;
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = "binary"});
  std::vector<Ray> one = random_rays(1, 1, false);
  one[0].t_min = -1;
  for (const char* order : kOrders) {
    compare(bvh, {}, {.accesses = true}, order, "no ray");
    compare(bvh, one, {.accesses = true}, order, "one ray");
  }
  scene.instances[0].mask = 0;
  const bvh::Bvh empty = bvh::build_bvh(scene, 0, "test", {.layout = "compressed-wide-8"});
  EXPECT_TRUE(empty.top.empty());
  EXPECT_EQ(compare(empty, mixed_rays(3, 300, true), {.accesses = true}, "near-first", "empty"), 0U);
}

TEST(TraversalOnDevice, SeveralDevicesAndLittleMemoryChangeNothing) {
  const trace::Scene scene = random_scene({.seed = 7});
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = "compressed-wide-8"});
  const std::vector<Ray> rays = mixed_rays(8, 2500, true);
  const Observed observed = invented_answers(8, bvh.scene, rays);
  const ObservedShaders shaders(observed);
  kernels::DeviceOptions tight;
  tight.memory_limit = std::uint64_t{6} << 20U;
  tight.batch_seconds = 1e-4;
  const auto several = open_accelerator(2, true, tight);
  for (const char* order : {"near-first", "ordered"}) {
    const auto model = Traversals::create(order).model;
    const TraceResult cpu = model->trace(bvh, rays, {.accesses = true, .shaders = &shaders});
    const TraceResult device =
        model->trace(bvh, rays, {.accesses = true, .shaders = &shaders, .accelerator = several.get()});
    expect_equal(device, cpu, order);
  }
}

TEST(TraversalOnDevice, WhatHasNoKernelRunsOnTheProcessorAndSaysSo) {
  const trace::Scene scene = random_scene({.seed = 7});
  const std::vector<Ray> rays = mixed_rays(8, 100, true);
  const auto own = open_accelerator();
  const bvh::Bvh half = bvh::build_bvh(scene, 0, "test", {.layout = "half-4"});
  const bvh::Bvh wide = bvh::build_bvh(scene, 0, "test", {.layout = "wide-8"});
  const SphereShaders spheres(wide.scene, rays);
  const auto near = Traversals::create("near-first").model;
  expect_equal(near->trace(half, rays, {.accelerator = own.get()}), near->trace(half, rays, {}), "half-4");
  expect_equal(near->trace(wide, rays, {.tests = true, .accelerator = own.get()}),
               near->trace(wide, rays, {.tests = true}), "tests");
  expect_equal(near->trace(wide, rays, {.shaders = &spheres, .accelerator = own.get()}),
               near->trace(wide, rays, {.shaders = &spheres}), "spheres");
  const auto any = Traversals::create("any-order").model;
  expect_equal(any->trace(wide, rays, {.accelerator = own.get()}), any->trace(wide, rays, {}), "any-order");
  std::vector<std::string> reasons;
  for (const StageRecord& record : own->records()) {
    EXPECT_EQ(record.stage, "traversal");
    EXPECT_EQ(record.device, "CPU");
    reasons.push_back(record.reason);
  }
  EXPECT_THAT(reasons, testing::UnorderedElementsAre(testing::HasSubstr("half-4"), testing::HasSubstr("tests"),
                                                     testing::HasSubstr("shaders"), testing::HasSubstr("any-order")));
}

TEST(TraversalOnDevice, CopiesOfAnotherStructureAreAnError) {
  const trace::Scene scene = random_scene({.seed = 7});
  const bvh::Bvh one = bvh::build_bvh(scene, 0, "test", {.layout = "wide-8"});
  const bvh::Bvh other = bvh::build_bvh(scene, 0, "test", {.layout = "wide-8"});
  DeviceSlot copies = std::make_shared<kernels::BvhOnDevice>(other);
  EXPECT_THROW(static_cast<void>(Traversals::create("near-first")
                                     .model->trace(one, random_rays(1, 10, false),
                                                   {.accelerator = &shared_accelerator(), .on_device = &copies})),
               Error);
}

}  // namespace
}  // namespace rayreplay::test
