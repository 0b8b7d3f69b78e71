// Reorder keys, part by part.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "tests/regrouping/support.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay {
namespace {

using scheduler::KeyParts;
using scheduler::SpatialKey;
using Keys = trace::Column<std::uint64_t>;

constexpr std::uint64_t kHit = std::uint64_t{1} << 16;

/// Four threads of one ray: hits at (0,0,1), (3,0,1), a miss along +z, and a hit at (0,3,1) by shader 2.
trace::Launch launch() {
  return test::LaunchBuilder({4, 1, 1})
      .thread()
      .begin(0, 0, 0, 0)
      .closest_hit(1, 0, 0, 1)
      .thread()
      .begin(0, 3, 0, 0)
      .closest_hit(1, 0, 0, 1)
      .thread()
      .begin(0, 1, 0, 0)
      .miss(3)
      .thread()
      .begin(0, 0, 3, 0)
      .closest_hit(2, 0, 0, 1)
      .build();
}
std::vector<trace::Shader> shaders() {
  using trace::ShaderStage;
  return test::shaders_of(
      {ShaderStage::RayGeneration, ShaderStage::ClosestHit, ShaderStage::ClosestHit, ShaderStage::Miss});
}

class ReorderKeys : public testing::Test {
 protected:
  ReorderKeys() : plan_(launch(), shaders(), 4) {
    plan_.cut({.at = scheduler::CutAt::PendingCall});
  }
  /// Of the pending calls alone: every second segment.
  Keys pending(const KeyParts& parts) {
    const Keys keys = scheduler::reorder_keys(plan_.context(), parts);
    Keys result;
    for (std::size_t segment = 0; segment < keys.size(); segment += 2) {
      EXPECT_EQ(keys[segment], 0U);
      result.push_back(keys[segment + 1]);
    }
    return result;
  }
  std::string error(const test::Plan& plan, const KeyParts& parts, ErrorKind kind) {
    return test::message_of(kind, [&] { (void)scheduler::reorder_keys(plan.context(), parts); });
  }

  test::Plan plan_;
};

TEST_F(ReorderKeys, NumberCallsByKindThenShader) {
  EXPECT_EQ(pending({}), (Keys{kHit | 1, kHit | 1, 3, kHit | 2}));
}

TEST_F(ReorderKeys, TakeTheLowBitsOfTheShader) {
  EXPECT_EQ(pending({.shader_bits = 1}), (Keys{1, 1, 1, 0}));
  EXPECT_EQ(pending({.shader_bits = 0}), (Keys{0, 0, 0, 0}));
}

TEST_F(ReorderKeys, PutHitPointsBehindTheShader) {
  // Two cells an axis: x is bit 0, y bit 1, z has no extent. The miss goes by its direction (0,0,1): cells 1, 1, 1.
  const KeyParts parts{.spatial = SpatialKey::Hit, .spatial_bits = 1};
  EXPECT_EQ(pending(parts), (Keys{(kHit | 1) << 3, (kHit | 1) << 3 | 1, 3 << 3 | 7, (kHit | 2) << 3 | 2}));
}

TEST_F(ReorderKeys, TakeTheRaysOriginWhereAsked) {
  const KeyParts parts{.shader_bits = 0, .spatial = SpatialKey::Ray, .spatial_bits = 2};
  // Origins 0, 3, 1 and 0 along x; y is 3 for the last.
  EXPECT_EQ(pending(parts), (Keys{0, 0b1001, 0b0001, 0b10010}));
}

TEST_F(ReorderKeys, PutHintsBetweenShaderAndPlace) {
  trace::Trace trace;
  trace.shaders = shaders();
  trace.launches.push_back(launch());
  trace.launches[0].data.rays.hint = {5, 6, 7, 0};
  trace.launches[0].data.rays.hint_bits = {3, 3, 3, 3};
  test::Plan plan(trace, test::linear_assignment(4, 4));
  plan.cut({.at = scheduler::CutAt::PendingCall});
  const auto key_of = [&](const KeyParts& parts, std::size_t thread) {
    return scheduler::reorder_keys(plan.context(), parts).at(2 * thread + 1);
  };
  const std::uint64_t all = key_of({.shader_bits = 0}, 1);
  EXPECT_NE(all, 0U);
  EXPECT_GT(key_of({.shader_bits = 0}, 2), all);
  EXPECT_EQ(key_of({.shader_bits = 0, .hint_bits = 1}, 1), 1U);
  EXPECT_EQ(key_of({.shader_bits = 0, .hint = "none"}, 1), 0U);
  EXPECT_EQ(key_of({.shader_bits = 17, .hint_bits = 1}, 1), (kHit | 1) << 1 | 1);
}

TEST_F(ReorderKeys, SayWhenTheyDoNotFit) {
  const KeyParts parts{.spatial = SpatialKey::Hit, .spatial_bits = 16};
  EXPECT_NE(error(plan_, parts, ErrorKind::Usage).find("64 bits"), std::string::npos);
  EXPECT_NE(error(plan_, {.shader_bits = 18}, ErrorKind::Usage).find("shader_bits"), std::string::npos);
  EXPECT_NE(error(plan_, {.spatial = SpatialKey::Hit, .spatial_bits = 17}, ErrorKind::Usage).find("spatial_bits"),
            std::string::npos);
}

TEST_F(ReorderKeys, SayWhenPointsAreMissing) {
  trace::Launch without = launch();
  without.data.rays = {};
  test::Plan no_rays(without, shaders(), 4);
  no_rays.cut({.at = scheduler::CutAt::PendingCall});
  EXPECT_NE(error(no_rays, {.spatial = SpatialKey::Ray}, ErrorKind::Missing).find("without its rays"),
            std::string::npos);
  trace::Launch flat = launch();
  std::fill(flat.data.events.t.begin(), flat.data.events.t.end(), 0.0F);
  test::Plan no_hits(flat, shaders(), 4);
  no_hits.cut({.at = scheduler::CutAt::PendingCall});
  EXPECT_NE(error(no_hits, {.spatial = SpatialKey::Hit}, ErrorKind::Missing).find("finite distance"),
            std::string::npos);
}

}  // namespace
}  // namespace rayreplay
