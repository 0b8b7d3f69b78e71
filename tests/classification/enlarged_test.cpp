// Are the enlarged boxes those of the layouts: around the original ones, and not around much more?
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "bvh/scene.hpp"
#include "tests/classification/traces.hpp"
#include "traversal/classification/enlarged.hpp"

namespace rayreplay::test {
namespace {

using traversal::EnlargedBoxes;

template <class Visit>
void for_active(const bvh::PreparedScene& scene, const Visit& visit) {
  std::vector<bool> used(scene.blases.size());
  for (const bvh::SceneInstance& instance : scene.instances) {
    if (instance.active) {
      used[instance.blas] = true;
    }
  }
  for (std::uint32_t blas = 0; blas < used.size(); ++blas) {
    for (std::uint32_t number = 0; used[blas] && number < scene.blases[blas].primitives(); ++number) {
      if (const bvh::Box own = scene.primitive_box(blas, number); !own.empty()) {
        visit(blas, number, own);
      }
    }
  }
}

double diagonal(const bvh::Box& box) {
  double squares = 0;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double extent = static_cast<double>(box.high[axis]) - static_cast<double>(box.low[axis]);
    squares += extent * extent;
  }
  return std::sqrt(squares);
}

TEST(Enlarged, ContainsTheOriginalBoxes) {
  const trace::Trace trace = mixed_trace(1, "path");
  const bvh::PreparedScene scene = bvh::prepare_scene(trace.scene, 0, "test");
  const EnlargedBoxes boxes(trace.scene, 0, "test", {{"compressed-wide-8", "quantised-6", "half-4"}}, 0, nullptr);
  ASSERT_EQ(boxes.models(), 3U);
  int larger = 0;
  int all = 0;
  for_active(scene, [&](std::uint32_t blas, std::uint32_t number, const bvh::Box& own) {
    for (std::size_t model = 0; model < boxes.models(); ++model) {
      const bvh::Box& box = boxes.box(model, blas, number);
      ASSERT_TRUE(box.contains(own));
      // A quantised box is larger by about a 255th of its node at most; nodes here are a few units wide.
      ASSERT_LE(diagonal(box), diagonal(own) + 0.2);
      larger += box == own ? 0 : 1;
      ++all;
    }
  });
  EXPECT_GT(larger, all / 2);
}

TEST(Enlarged, IsWhatWasAskedFor) {
  const trace::Trace trace = mixed_trace(2, "path");
  const bvh::PreparedScene scene = bvh::prepare_scene(trace.scene, 0, "test");
  const EnlargedBoxes boxes(trace.scene, 0, "test", {{}}, 0.25, nullptr);
  ASSERT_EQ(boxes.models(), 1U);
  for_active(scene, [&](std::uint32_t blas, std::uint32_t number, const bvh::Box& own) {
    const bvh::Box& box = boxes.box(0, blas, number);
    const double push = 0.25 * diagonal(own);
    for (unsigned axis = 0; axis < 3; ++axis) {
      ASSERT_NEAR(static_cast<double>(own.low[axis]) - static_cast<double>(box.low[axis]), push, 1e-5);
      ASSERT_NEAR(static_cast<double>(box.high[axis]) - static_cast<double>(own.high[axis]), push, 1e-5);
    }
  });
}

TEST(Enlarged, EveryLayoutOverEveryBuilder) {
  const trace::Trace trace = mixed_trace(3, "path");
  const bvh::PreparedScene scene = bvh::prepare_scene(trace.scene, 0, "test");
  EnlargedBoxes boxes(trace.scene, 0, "test", {{"quantised-6", "half-4"}, {"low", "median:leaf_size=3"}}, 0, nullptr);
  ASSERT_EQ(boxes.models(), 4U);
  bvh::BvhOptions options;
  options.layout = "half-4";
  options.builder = "median:leaf_size=3";
  boxes.add(bvh::build_bvh(trace.scene, 0, "test", options));
  ASSERT_EQ(boxes.models(), 5U);
  EXPECT_EQ(boxes.names()[3], boxes.names()[4]);
  int shared = 0;
  for_active(scene, [&](std::uint32_t blas, std::uint32_t number, const bvh::Box& own) {
    for (std::size_t model = 0; model < boxes.models(); ++model) {
      ASSERT_TRUE(boxes.box(model, blas, number).contains(own));
    }
    ASSERT_EQ(boxes.box(3, blas, number), boxes.box(4, blas, number));
    shared += boxes.box(3, blas, number) == boxes.box(1, blas, number) ? 0 : 1;
  });
  EXPECT_GT(shared, 0);
}

TEST(Enlarged, NothingAskedForNothingBuilt) {
  const trace::Trace trace = sphere_trace(1);
  EXPECT_EQ(EnlargedBoxes(trace.scene, 0, "test", {{}}, 0, nullptr).models(), 0U);
  EXPECT_THROW(EnlargedBoxes(trace.scene, 0, "test", {{"wide8"}}, 0, nullptr), Error);
}

}  // namespace
}  // namespace rayreplay::test
