// Reorder keys made on the device against those made on the processor.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "tests/kernels-regrouping/support.hpp"
#include "tests/regrouping/support.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay {
namespace {

using scheduler::KeyParts;
using scheduler::PlanContext;

class KeysOnDevice : public testing::Test {
 protected:
  void use(const trace::Trace& trace, const scheduler::Cut& cut) {
    trace_ = trace;
    plan_ = std::make_unique<test::Plan>(trace_, test::linear_assignment(trace_.launches.at(0).data.threads(), 8));
    plan_->hints["captured12"] = {.origin = scheduler::HintOrigin::Captured, .bits = 12};
    plan_->hints["formula"] = {.origin = scheduler::HintOrigin::Expression, .bits = 9, .text = "bounce*8+shader%8"};
    plan_->cut(cut);
    on_device_ = std::make_unique<trace::AcceleratedLaunch>(test::shared_accelerator(), plan_->launch());
  }
  void expect_twin(const KeyParts& parts) {
    const PlanContext on_cpu = plan_->context();
    PlanContext on_device = on_cpu;
    on_device.on_device = on_device_.get();
    EXPECT_EQ(scheduler::reorder_keys(on_device, parts), scheduler::reorder_keys(on_cpu, parts))
        << parts.hint << ", " << parts.shader_bits << " + " << parts.hint_bits << " bits";
  }

  trace::Trace trace_;
  std::unique_ptr<test::Plan> plan_;
  std::unique_ptr<trace::AcceleratedLaunch> on_device_;
};

TEST_F(KeysOnDevice, ShadersAndHints) {
  for (const bool ray : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      use(test::random_trace({.seed = seed, .size = {16, 8, 1}, .rays_per_thread = 8, .ray = ray, .capture = true}),
          {.at = seed == 3 ? scheduler::CutAt::EveryCall : scheduler::CutAt::PendingCall});
      for (const char* const hint : {"auto", "none", "captured", "captured12", "formula"}) {
        expect_twin({.hint = hint});
        expect_twin({.shader_bits = 3, .hint_bits = 5, .hint = hint});
        expect_twin({.shader_bits = 0, .hint = hint});
        expect_twin({.hint_bits = 0, .hint = hint});
      }
      expect_twin({.shader_bits = 0, .hint_bits = 0});
    }
  }
}

TEST_F(KeysOnDevice, HintsOfRaysBeyond16Bits) {
  test::LaunchBuilder builder({1, 1, 1});
  builder.thread();
  constexpr std::uint32_t kRays = 66'000;
  for (std::uint32_t ray = 0; ray < kRays; ++ray) {
    builder.begin(0).miss(1);
  }
  trace::Trace trace;
  trace.launches.push_back(builder.build());
  trace::Rays& rays = trace.launches[0].data.rays;
  for (std::uint32_t ray = 0; ray < kRays; ++ray) {
    rays.hint.push_back(ray);
    rays.hint_bits.push_back(17);
  }
  // Few of them are cut, for finding such a ray takes a walk along its thread.
  use(trace, {.at = scheduler::CutAt::PendingCall, .first_bounce = 65'500});
  expect_twin({.hint = "captured"});
}

TEST_F(KeysOnDevice, ACaptureWithHints) {
  use(trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend-ser.rrt"), {.at = scheduler::CutAt::PendingCall});
  expect_twin({});
}

TEST_F(KeysOnDevice, Places) {
  const auto expect_places = [&] {
    for (const scheduler::SpatialKey spatial : {scheduler::SpatialKey::Hit, scheduler::SpatialKey::Ray}) {
      for (const std::uint32_t bits : {1U, 8U, 15U}) {
        expect_twin({.hint_bits = 2, .spatial = spatial, .spatial_bits = bits});
      }
    }
    expect_twin({.shader_bits = 4, .hint = "none", .spatial = scheduler::SpatialKey::Hit, .spatial_bits = 16});
  };
  for (const char* const name : {"one-weekend", "teapot-alpha"}) {
    use(trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + name + ".rrt"),
        {.at = scheduler::CutAt::PendingCall});
    expect_places();
  }
  for (const bool ray : {false, true}) {
    trace::Trace trace =
        test::random_trace({.seed = 9, .size = {16, 8, 1}, .rays_per_thread = 8, .ray = ray, .capture = true});
    // Rays from nowhere, to nowhere, without a direction, and so small that they are subnormal.
    trace::Rays& rays = trace.launches.at(0).data.rays;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i + 5 < rays.size(); i += 12) {
      rays.origin_x[i] = std::numeric_limits<float>::quiet_NaN();
      rays.direction_y[i + 1] = -kInfinity;
      rays.direction_x[i + 2] = rays.direction_y[i + 2] = rays.direction_z[i + 2] = 0;
      rays.direction_x[i + 3] = rays.direction_y[i + 3] = rays.direction_z[i + 3] = 1e-42F;
      rays.origin_z[i + 4] = -0.0F;
    }
    use(trace, {.at = scheduler::CutAt::PendingCall});
    expect_places();
  }
  const auto& records = test::shared_accelerator().records();
  EXPECT_TRUE(std::none_of(records.begin(), records.end(), [](const StageRecord& record) {
    return record.stage == "reorder keys" && record.device == "CPU";
  }));
}

TEST_F(KeysOnDevice, TheSameErrors) {
  use(test::random_trace({.seed = 5, .capture = true}), {.at = scheduler::CutAt::PendingCall});
  const PlanContext on_cpu = plan_->context();
  PlanContext on_device = on_cpu;
  on_device.on_device = on_device_.get();
  for (const KeyParts& parts :
       {KeyParts{.shader_bits = 18}, KeyParts{.hint = "unknown"},
        KeyParts{.hint = "captured", .spatial = scheduler::SpatialKey::Hit, .spatial_bits = 16}}) {
    const auto of = [&](const PlanContext& context) {
      return test::said([&] { static_cast<void>(scheduler::reorder_keys(context, parts)); });
    };
    EXPECT_EQ(of(on_device).kind, ErrorKind::Usage);
    EXPECT_EQ(of(on_device).text, of(on_cpu).text);
  }
}

}  // namespace
}  // namespace rayreplay
