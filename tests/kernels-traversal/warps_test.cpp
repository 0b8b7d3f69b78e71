// Do warps on a device take the steps that they take on the processor: masks, tallies, lanes, accesses?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/traversal/bvh_on_device.hpp"
#include "tests/kernels-traversal/on_device.hpp"
#include "traversal/warp_traversal.hpp"

namespace rayreplay::test {
namespace {

using traversal::Observed;
using traversal::ObservedShaders;
using traversal::Ray;
using traversal::WarpTraceOptions;
using traversal::WarpTraceResult;
using traversal::WarpTraversals;

void expect_equal(const WarpTraceResult& device, const WarpTraceResult& cpu, const std::string& what) {
  ASSERT_EQ(device.hits, cpu.hits) << what;
  ASSERT_EQ(device.counters, cpu.counters) << what;
  EXPECT_EQ(device.tally, cpu.tally) << what;
  ASSERT_EQ(device.steps, cpu.steps) << what;
  ASSERT_EQ(device.ray, cpu.ray) << what;
  ASSERT_EQ(device.access_offset, cpu.access_offset) << what;
  ASSERT_EQ(device.accesses, cpu.accesses) << what;
  EXPECT_EQ(device.ignored_rays, cpu.ignored_rays) << what;
}

/// Warps of random sizes, some empty, not from the first ray on and not to the last.
std::vector<std::uint64_t> ragged_warps(std::uint64_t seed, std::size_t rays, std::uint32_t warp_size) {
  Random random(seed);
  std::vector<std::uint64_t> first{2};
  while (first.back() + warp_size + 3 < rays) {
    first.push_back(first.back() + random.below(warp_size + 1));
  }
  return first;
}

std::uint64_t compare(const bvh::Bvh& bvh, const std::vector<Ray>& rays, const std::vector<std::uint64_t>& first_ray,
                      const WarpTraceOptions& options, const std::string& what,
                      Accelerator& devices = shared_accelerator()) {
  DeviceSlot on_device;
  WarpTraceOptions there = options;
  there.accelerator = &devices;
  there.on_device = &on_device;
  std::uint64_t steps = 0;
  for (const char* schedule : {"while-while", "if-if"}) {
    const auto model = WarpTraversals::create(schedule).model;
    const WarpTraceResult cpu = model->trace(bvh, rays, first_ray, options);
    expect_equal(model->trace(bvh, rays, first_ray, there), cpu, what + " " + schedule);
    steps += cpu.tally[0].steps;
  }
  return steps;
}

TEST(WarpsOnDevice, EveryWarpSizeAgainstTheDevicesSubgroup) {
  const trace::Scene scene = random_scene({.seed = 2});
  const std::vector<Ray> rays = mixed_rays(3, 500, true);
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = "compressed-wide-8"});
  for (const std::uint32_t size : {1U, 2U, 8U, 31U, 32U, 33U, 64U}) {
    const auto warps = ragged_warps(size, rays.size(), size);
    EXPECT_GT(compare(bvh, rays, warps, {.warp_size = size, .accesses = true}, "size " + std::to_string(size)), 100U);
  }
}

TEST(WarpsOnDevice, EveryLayoutAndWhatIsAskedFor) {
  const trace::Scene scene = random_scene({.seed = 4, .flags = false});
  const std::vector<Ray> rays = mixed_rays(5, 400, false);
  const auto warps = ragged_warps(1, rays.size(), 16);
  for (const char* layout : kDeviceLayouts) {
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = layout});
    compare(bvh, rays, warps, {.warp_size = 16, .counters = false}, std::string(layout) + " tallies");
    compare(bvh, rays, warps, {.warp_size = 16, .steps = true}, std::string(layout) + " steps");
  }
}

TEST(WarpsOnDevice, CapturedTraces) {
  for (const char* name : {"one-weekend.rrt", "teapot-alpha.rrt"}) {
    const trace::Trace trace = captured(name);
    const trace::Launch& launch = trace.launches.at(0);
    const Observed observed = traversal::observe(launch, 0, traversal::batch_end(launch, 0, 2000, 1'000'000));
    const ObservedShaders shaders(observed);
    const bvh::Bvh bvh = bvh::build_bvh(trace.scene, 0, name, {.layout = "wide-8"});
    const auto warps = ragged_warps(3, observed.rays.size(), 32);
    compare(bvh, observed.rays, warps, {.accesses = true, .shaders = &shaders}, name);
  }
}

TEST(WarpsOnDevice, SeveralDevicesAndLittleMemoryChangeNothing) {
  const trace::Scene scene = random_scene({.seed = 6});
  const std::vector<Ray> rays = mixed_rays(7, 900, true);
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = "binary"});
  kernels::DeviceOptions tight;
  tight.memory_limit = std::uint64_t{3} << 20U;
  tight.batch_seconds = 1e-4;
  const auto several = open_accelerator(2, true, tight);
  compare(bvh, rays, ragged_warps(9, rays.size(), 32), {.accesses = true}, "two devices", *several);
  compare(bvh, rays, {0}, {.accesses = true}, "no warp", *several);
  compare(bvh, rays, {0, 5}, {.accesses = true}, "one warp", *several);
}

}  // namespace
}  // namespace rayreplay::test
