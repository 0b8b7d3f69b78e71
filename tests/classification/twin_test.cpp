// Does the classification agree with its slow twin, test for test?
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bvh/scene.hpp"
#include "tests/classification/traces.hpp"
#include "tests/classification/twin.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/classification/classify.hpp"
#include "traversal/classification/enlarged.hpp"

namespace rayreplay::test {
namespace {

using traversal::Classification;
using traversal::ClassifyOptions;

/// Boxes of the quantised layouts, which the twin takes as given (enlarged_test.cpp looks at them).
class Enlarged {
 public:
  Enlarged(const trace::Trace& trace, std::uint32_t tlas, const ClassifyOptions& options)
      : scene_(bvh::prepare_scene(trace.scene, tlas, "test")),
        boxes_(trace.scene, tlas, "test", {options.enlarged_layouts, options.enlarged_builders}, options.enlarge,
               nullptr) {}

  [[nodiscard]] std::vector<TwinBox> operator()(std::uint32_t instance, std::uint32_t geometry,
                                                std::uint32_t primitive) const {
    const std::uint32_t blas = scene_.instances[instance].blas;
    const std::uint32_t number = scene_.blases[blas].first_primitive[geometry] + primitive;
    std::vector<TwinBox> list;
    for (std::size_t model = 0; model < boxes_.models(); ++model) {
      const bvh::Box& box = boxes_.box(model, blas, number);
      TwinBox& twin = list.emplace_back();
      twin.empty = box.empty();
      for (unsigned axis = 0; axis < 3; ++axis) {
        twin.low[axis] = box.low[axis];
        twin.high[axis] = box.high[axis];
      }
    }
    return list;
  }

 private:
  bvh::PreparedScene scene_;
  traversal::EnlargedBoxes boxes_;
};

/// `own_replay`: the twin finds by itself what the rays without a closest-hit or miss shader hit.
void expect_agreement(const trace::Trace& trace, std::uint32_t launch, ClassifyOptions options, bool own_replay) {
  options.per_test = true;
  options.per_ray = true;
  const Classification fast = traversal::classify(trace, launch, "test", options);
  const Enlarged enlarged(trace, trace.launches[launch].tlas, options);
  TwinOptions twin_options;
  twin_options.slack = options.slack;
  twin_options.enlarged = std::cref(enlarged);
  if (!own_replay) {
    twin_options.t_star = [&](std::uint64_t ray) { return fast.t_star[ray]; };
  }
  const TwinResult slow = classify_slowly(trace, launch, twin_options);
  ASSERT_EQ(fast.tests.size(), slow.tests.size());
  std::vector<traversal::KindCounts> by_thread(trace.launches[launch].data.threads());
  std::uint64_t replayed = 0;
  for (std::size_t i = 0; i < slow.tests.size(); ++i) {
    ASSERT_EQ(fast.tests[i].event, slow.tests[i].event);
    ASSERT_EQ(fast.tests[i].ray, slow.tests[i].ray);
    ASSERT_EQ(static_cast<int>(fast.tests[i].kind), static_cast<int>(slow.tests[i].kind))
        << "event " << slow.tests[i].event << " ray " << slow.tests[i].ray << " instance " << slow.tests[i].instance
        << " primitive " << slow.tests[i].primitive << " t* " << fast.t_star[slow.tests[i].ray];
    ++by_thread[slow.tests[i].thread][static_cast<std::size_t>(slow.tests[i].kind)];
  }
  for (std::size_t ray = 0; ray < slow.t_star.size(); ++ray) {
    replayed += slow.replayed[ray] ? 1U : 0U;
    const auto expected = static_cast<double>(slow.t_star[ray]);
    if (!std::isnan(expected)) {
      const auto found = static_cast<double>(fast.t_star[ray]);
      ASSERT_TRUE(found == expected || std::abs(found - expected) <= 1e-5 * std::abs(expected))
          << "ray " << ray << ": " << found << ", expected " << expected;
    }
  }
  EXPECT_EQ(fast.by_thread, by_thread);
  EXPECT_EQ(fast.replayed_rays, replayed);
}

TEST(Twin, AgreesOnRandomEvents) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    RandomTraceOptions options;
    options.seed = seed;
    options.size = {16, 8, 1};
    options.geometry = seed % 2 == 0;
    options.ray = seed % 3 == 0;
    options.capture = seed % 4 == 0;
    const trace::Trace trace = random_trace(options);
    if (trace.launches[0].tlas == trace::kNone) {
      EXPECT_THROW(static_cast<void>(traversal::classify(trace, 0, "test")), Error);
      continue;
    }
    ClassifyOptions classify;
    classify.enlarged_layouts = {"compressed-wide-8"};
    expect_agreement(trace, 0, classify, false);
  }
}

TEST(Twin, AgreesOnTheBuiltInTracer) {
  for (const char* integrator : {"path", "ao"}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      SCOPED_TRACE(fmt::format("{} {}", integrator, seed));
      expect_agreement(mixed_trace(seed, integrator), 0, {}, true);
    }
  }
}

TEST(Twin, AgreesOnRaysThatLeaveBoxes) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    for (const double slack : {0.0, 8.0}) {
      ClassifyOptions options;
      options.slack = slack;
      const trace::Trace trace = leaving_trace(seed);
      expect_agreement(trace, 0, options, true);
      const auto total = traversal::classify(trace, 0, "test", options).total;
      EXPECT_GT(total[static_cast<std::size_t>(traversal::TestKind::BeforeTMin)], 500U);
    }
  }
}

TEST(Twin, AgreesWithKnownEnlargementAndOtherSlack) {
  for (const double slack : {0.0, 64.0}) {
    ClassifyOptions options;
    options.slack = slack;
    options.enlarged_layouts.clear();
    options.enlarge = 0.1;
    expect_agreement(sphere_trace(4), 0, options, true);
  }
}

TEST(Twin, AgreesOnCapturesOfAGpu) {
  for (const std::string& name : captures()) {
    SCOPED_TRACE(name);
    // The twin tries every triangle for every replayed ray: bunny has 6 such rays, teapot-alpha 2,663 of 992 triangles.
    expect_agreement(load_capture(name), 0, {}, true);
  }
}

}  // namespace
}  // namespace rayreplay::test
