// The same input gives the same bytes, whatever is not part of the question.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/reference/support.hpp"

namespace rayreplay::test {
namespace {

using reference::HitGroups;

struct Run {
  MemorySink sink;
  reference::TracerResult result;
};

std::unique_ptr<Run> run(const reference::RenderScene& scene, const reference::TracerOptions& options) {
  auto made = std::make_unique<Run>();
  made->result = reference::trace_scene(scene, options, &made->sink);
  return made;
}

TEST(Determinism, WorkersAndBatchesDoNotMatter) {
  const auto scene = mixed_scene(21);
  auto options = small_options();
  options.next_event = true;
  options.workers = 1;
  const auto one = run(scene, options);
  options.workers = 2;
  const auto two = run(scene, options);
  options.batch_threads = 7;
  const auto small_batches = run(scene, options);
  EXPECT_TRUE(same(one->sink.data, two->sink.data));
  EXPECT_TRUE(same(one->sink.data, small_batches->sink.data));
  EXPECT_EQ(one->result.image.rgb, two->result.image.rgb);
  EXPECT_EQ(one->result.image.rgb, small_batches->result.image.rgb);
}

TEST(Determinism, TheSeedMatters) {
  const auto scene = sphere_cloud(30, 22);
  auto options = small_options();
  const auto one = run(scene, options);
  options.seed = 8;
  const auto other = run(scene, options);
  EXPECT_FALSE(same(one->sink.data, other->sink.data));
  EXPECT_NE(one->result.image.rgb, other->result.image.rgb);
}

TEST(Determinism, RecordingDoesNotChangeThePicture) {
  for (const std::string integrator : {"path", "ao", "primary"}) {
    auto options = small_options();
    options.integrator = integrator;
    options.next_event = true;
    const auto scene = mixed_scene(23);
    const auto with = run(scene, options);
    const auto without = reference::trace_scene(scene, options, nullptr);
    EXPECT_EQ(with->result.image.rgb, without.image.rgb);
    EXPECT_EQ(with->result.rays, without.rays);
    EXPECT_EQ(without.events, (std::array<std::uint64_t, trace::kEventKinds>{}));
  }
}

TEST(Determinism, HitGroupsChangeShaderIdsAndNothingElse) {
  const auto scene = mixed_scene(24);
  auto options = small_options();
  options.next_event = true;
  const auto single = run(scene, options);
  options.hit_groups = HitGroups::PerMaterial;
  const auto several = run(scene, options);
  EXPECT_EQ(single->result.image.rgb, several->result.image.rgb);
  EXPECT_NE(single->sink.data.events.shader, several->sink.data.events.shader);
  auto renamed = several->sink.data;
  renamed.events.shader = single->sink.data.events.shader;
  renamed.rays.sbt_stride = single->sink.data.rays.sbt_stride;
  EXPECT_TRUE(same(single->sink.data, renamed));
}

/// Another tree may test boxes in another order, but the hits, and the boxes in front of them, are the same.
TEST(Determinism, FlatteningKeepsHits) {
  const auto scene = sphere_cloud(100, 25);
  auto options = small_options();
  const auto flat = run(scene, options);
  options.flatten = false;
  const auto instanced = run(scene, options);
  EXPECT_EQ(flat->result.image.rgb, instanced->result.image.rgb);
  const auto a = flat->sink.stories();
  const auto b = instanced->sink.stories();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].events.back(), b[i].events.back());
  }
}

/// The picture depends on IEEE arithmetic, the seed and the scene alone: these bytes are the same on every machine.
TEST(Determinism, PinnedPicture) {
  auto options = small_options();
  options.next_event = true;
  const auto result = reference::trace_scene(mixed_scene(26), options, nullptr);
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;
  for (const float value : result.image.rgb) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * 0x100'0000'01B3U;
  }
  EXPECT_EQ(hash, 4716973027832828298U);
}

}  // namespace
}  // namespace rayreplay::test
