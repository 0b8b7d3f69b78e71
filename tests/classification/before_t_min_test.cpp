// Rays that leave a box before their t_min: what kind is a test of that box (MODELS.md §8)?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tests/classification/traces.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"
#include "traversal/classification/classify.hpp"
#include "traversal/classification/simulate.hpp"

namespace rayreplay::test {
namespace {

using traversal::Classification;
using traversal::classify;
using traversal::ClassifyOptions;
using traversal::KindCounts;
using traversal::TestKind;

using Vector = std::array<float, 3>;
using Corners = std::array<float, 6>;

constexpr float kForever = std::numeric_limits<float>::infinity();
constexpr double kSlack = 8;

/// One ray that tests one box and hits nothing.
struct Leaving {
  Corners box{};
  Vector origin{};
  Vector direction{};
  float t_min = 0.001F;
  float t_max = 1e4F;
  TestKind expected = TestKind::BeforeTMin;
};

trace::Trace trace_of(const std::vector<Leaving>& cases) {
  LaunchBuilder builder({static_cast<std::uint32_t>(cases.size()), 1, 1});
  trace::Geometry boxes;
  boxes.type = trace::GeometryType::Boxes;
  for (const Leaving& one : cases) {
    const auto primitive = static_cast<std::uint32_t>(boxes.boxes.size() / 6);
    boxes.boxes.insert(boxes.boxes.end(), one.box.begin(), one.box.end());
    builder.thread()
        .begin(0, one.origin[0], one.origin[1], one.origin[2], one.direction[0], one.direction[1], one.direction[2])
        .intersection(1, 0, primitive)
        .miss(2);
  }
  trace::Trace trace;
  trace.scene.geometries.push_back(std::move(boxes));
  trace.scene.blases = {{0, 1}};
  trace.scene.instances.resize(1);
  trace.launches = {builder.build()};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    trace.launches[0].data.rays.t_min[i] = cases[i].t_min;
    trace.launches[0].data.rays.t_max[i] = cases[i].t_max;
  }
  return trace;
}

Classification classified(const trace::Trace& trace, double slack = kSlack) {
  ClassifyOptions options;
  options.slack = slack;
  options.per_test = true;
  return classify(trace, 0, "test", options);
}

/// The box is [0, 1]³ unless given; rays start on it or in it.
const std::vector<Leaving>& by_hand() {
  using Kind = TestKind;
  constexpr Corners kUnitBox{0, 0, 0, 1, 1, 1};
  static const std::vector<Leaving> cases{
      // From a face, outwards: the box is touched at 0 alone.
      {kUnitBox, {1, 0.5F, 0.5F}, {1, 0, 0}},
      {kUnitBox, {0.5F, 0.5F, 0}, {0.25F, 0.5F, -1}},
      // From an edge and from a corner.
      {kUnitBox, {1, 1, 0.5F}, {1, 1, 0}},
      {kUnitBox, {1, 1, 1}, {1, 2, 3}},
      // Across a corner of the box: left at 2^-11, before t_min = 2^-10.
      {kUnitBox, {1, 1 - 0x1p-11F, 0.5F}, {0, 1, 0}, 0x1p-10F},
      // In a face, past its edge.
      {kUnitBox, {1 - 0x1p-11F, 1, 0.5F}, {1, 0, 0}, 0x1p-10F},
      // From inside, out before t_min.
      {kUnitBox, {0.5F, 0.5F, 0.5F}, {0, 0, 1}, 0.75F},
      // In front of the ray, but left before t_min.
      {kUnitBox, {-1, 0.5F, 0.5F}, {1, 0, 0}, 2.5F},
      // Boxes of no extent: one that the origin lies in, a point, one that is crossed before t_min.
      {{0, 0, 0, 1, 1, 0}, {0.5F, 0.5F, 0}, {0, 0, 1}},
      {{2, 2, 2, 2, 2, 2}, {2, 2, 2}, {1, 0, 0}},
      {{0, 0, 5, 1, 1, 5}, {0.5F, 0.5F, 4}, {0, 0, 1}, 1.5F},
      // Nothing is before t_min = 0: the touch counts as meeting.
      {kUnitBox, {1, 0.5F, 0.5F}, {1, 0, 0}, 0, 1e4F, Kind::BoxMiss},
      // Touched exactly at t_min: a face, an edge, a corner, a box of no extent.
      {kUnitBox, {0.75F, 0.5F, 0.5F}, {1, 0, 0}, 0.25F, 1e4F, Kind::BoxMiss},
      {kUnitBox, {0.75F, 0.75F, 0.5F}, {1, 1, 0}, 0.25F, 1e4F, Kind::BoxMiss},
      {kUnitBox, {0.75F, 0.75F, 0.75F}, {1, 1, 1}, 0.25F, 1e4F, Kind::BoxMiss},
      {{0, 0, 5, 1, 1, 5}, {0.5F, 0.5F, 4}, {0, 0, 1}, 1, 1e4F, Kind::BoxMiss},
      // From inside, out after t_min; along a face, from a face inwards.
      {kUnitBox, {0.5F, 0.5F, 0.5F}, {0, 0, 1}, 0.25F, 1e4F, Kind::BoxMiss},
      {kUnitBox, {1, 0.5F, 0.5F}, {0, 1, 0}, 0.001F, 1e4F, Kind::BoxMiss},
      {kUnitBox, {1, 0.5F, 0.5F}, {-1, 0, 0}, 0.001F, 1e4F, Kind::BoxMiss},
      // Behind the origin, beside the ray, beyond t_max: only a larger box has them.
      {kUnitBox, {1.5F, 0.5F, 0.5F}, {1, 0, 0}, 0.001F, 1e4F, Kind::Enlargement},
      {kUnitBox, {1.5F, 0.5F, 0.5F}, {0, 1, 0}, 0.001F, 1e4F, Kind::Enlargement},
      {kUnitBox, {-3, 0.5F, 0.5F}, {1, 0, 0}, 0.001F, 2, Kind::Enlargement},
  };
  return cases;
}

TEST(BeforeTMin, ExactCounts) {
  const trace::Trace trace = trace_of(by_hand());
  const Classification result = classified(trace);
  KindCounts expected{};
  ASSERT_EQ(result.tests.size(), by_hand().size());
  for (std::size_t i = 0; i < by_hand().size(); ++i) {
    EXPECT_STREQ(to_string(result.tests[i].kind), to_string(by_hand()[i].expected)) << "case " << i;
    EXPECT_EQ(std::isnan(result.tests[i].t_enter), by_hand()[i].expected != TestKind::BoxMiss) << "case " << i;
    ++expected[static_cast<std::size_t>(by_hand()[i].expected)];
  }
  EXPECT_EQ(result.total, expected);
  EXPECT_EQ(result.total, (KindCounts{0, 8, 0, 3, 0, 0, 11}));
  EXPECT_EQ(traversal::beyond(result.total), 14U);
}

TEST(BeforeTMin, TheSameAtEveryScale) {
  // Origins, boxes and t grow together; by powers of two without rounding.
  for (const int exponent : {-40, -20, -3, 5, 20, 40}) {
    std::vector<Leaving> cases = by_hand();
    const float scale = std::ldexp(1.0F, exponent);
    for (Leaving& one : cases) {
      for (float& x : one.box) {
        x *= scale;
      }
      for (float& x : one.origin) {
        x *= scale;
      }
      one.t_min *= scale;
      one.t_max *= scale;
    }
    EXPECT_EQ(classified(trace_of(cases)).total, (KindCounts{0, 8, 0, 3, 0, 0, 11})) << exponent;
  }
}

TEST(BeforeTMin, TheSlackIsItsBound) {
  // The far face at 1, the origin at 0: its plane is moved by 2 · 8 · 2^-24 (its own magnitude and its distance), and
  // t_min by 8 · 2^-24 of itself. Below 1 + 24 · 2^-24 the box counts as met at t_min.
  const auto kind_of = [](float origin, float t_min) {
    const trace::Trace trace = trace_of({{{0, 0, 0, 1, 1, 1}, {origin, 0.5F, 0.5F}, {1, 0, 0}, t_min}});
    return classified(trace).tests.front().kind;
  };
  EXPECT_EQ(kind_of(0, 1 + 0x16p-24F), TestKind::BoxMiss);
  EXPECT_EQ(kind_of(0, 1 + 0x1Ap-24F), TestKind::BeforeTMin);
  // An origin that rounding has put outside: within 2 · 8 · 2^-24 it is taken to be on the face, beyond it is behind.
  EXPECT_EQ(kind_of(1 + 0x0Ep-24F, 0.001F), TestKind::BeforeTMin);
  EXPECT_EQ(kind_of(1 + 0x14p-24F, 0.001F), TestKind::Enlargement);
}

TEST(BeforeTMin, ExactArithmeticAgreesWhereRoundingCannotDecide) {
  // The exact test is the slab test in long double, without slack. If it meets the box within [t_min, t_max], the class
  // is a box miss; if it meets the box within [0, t_max], the class is not enlargement. A test of class "before t_min"
  // meets a box and an interval that are larger by the slack.
  const auto meets = [](const Leaving& one, long double t_min, long double t_max, long double grown) {
    long double from = t_min;
    long double to = t_max;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const long double low = static_cast<long double>(one.box[axis]) - grown;
      const long double high = static_cast<long double>(one.box[axis + 3]) + grown;
      const long double origin = one.origin[axis];
      const long double d = one.direction[axis];
      if (d == 0) {
        if (origin < low || origin > high) {
          return false;
        }
        continue;
      }
      from = std::max(from, std::min((low - origin) / d, (high - origin) / d));
      to = std::min(to, std::max((low - origin) / d, (high - origin) / d));
    }
    return from <= to;
  };
  Random random(11);
  std::vector<Leaving> cases;
  for (int i = 0; i < 40'000; ++i) {
    Leaving one;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const float a = random.unit();
      const float b = random.one_in(8) ? a : random.unit();
      one.box[axis] = std::min(a, b);
      one.box[axis + 3] = std::max(a, b);
      const float inside = a + (b - a) * 0.5F * (1 + random.unit());
      one.origin[axis] = random.one_in(12) ? random.unit() : random.one_in(3) ? a : inside;
      one.direction[axis] = random.one_in(5) ? 0 : random.unit();
    }
    if (one.direction == Vector{}) {
      one.direction[random.below(3)] = 1;
    }
    one.t_min = std::ldexp(1.0F, -static_cast<int>(random.below(14))) * (1 + random.unit());
    one.t_max = random.one_in(4) ? kForever : one.t_min + 1;
    cases.push_back(one);
  }
  const Classification result = classified(trace_of(cases));
  ASSERT_EQ(result.tests.size(), cases.size());
  // Sums of magnitudes are below 8 here (origin, plane and distance, the last at most √3 · 2).
  constexpr long double kGrown = kSlack * 0x1p-24L * 8;
  KindCounts decided{};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Leaving& one = cases[i];
    const TestKind kind = result.tests[i].kind;
    const long double t_min = one.t_min;
    const long double raised = one.t_max * (1 + kSlack * 0x1p-24L);
    if (meets(one, t_min, one.t_max, 0)) {
      ASSERT_EQ(kind, TestKind::BoxMiss) << i;
    } else if (meets(one, 0, one.t_max, 0)) {
      ASSERT_NE(kind, TestKind::Enlargement) << i;
    }
    if (kind == TestKind::BeforeTMin) {
      ASSERT_TRUE(meets(one, 0, raised, kGrown)) << i;
    } else if (kind == TestKind::Enlargement) {
      ASSERT_FALSE(meets(one, 0, one.t_max, 0)) << i;
    }
    if (!meets(one, t_min * (1 - kSlack * 0x1p-24L), raised, kGrown) && meets(one, 0, one.t_max, 0)) {
      ASSERT_EQ(kind, TestKind::BeforeTMin) << i;
    }
    ++decided[static_cast<std::size_t>(kind)];
  }
  EXPECT_EQ(traversal::sum(decided), cases.size());
  EXPECT_GT(decided[static_cast<std::size_t>(TestKind::BeforeTMin)], 4'000U);
  EXPECT_GT(decided[static_cast<std::size_t>(TestKind::Enlargement)], 1'000U);
  EXPECT_GT(decided[static_cast<std::size_t>(TestKind::BoxMiss)], 4'000U);
}

TEST(BeforeTMin, AHitOutsideTheBoxIsStillNecessary) {
  // The shader of the box reports a hit at 3, which the box does not reach; without it, the hit lies behind t* = 2.
  LaunchBuilder launch({1, 1, 1});
  launch.thread()
      .begin(0)
      .intersection(1, 0, 0)
      .report(1, 0, 0, 3, false)
      .intersection(1, 0, 1)
      .report(1, 0, 1, 2)
      .intersection(1, 0, 0)
      .report(1, 0, 0, 1, false)
      .closest_hit(2, 0, 1, 2);
  trace::Trace trace;
  trace.scene.geometries.resize(1);
  trace.scene.geometries[0].type = trace::GeometryType::Boxes;
  trace.scene.geometries[0].boxes = {-1, -1, -1, 1, 1, 0, -1, -1, 1, 1, 1, 3};
  trace.scene.blases = {{0, 1}};
  trace.scene.instances.resize(1);
  trace.launches = {launch.build()};
  const Classification result = classified(trace);
  ASSERT_EQ(result.tests.size(), 3U);
  EXPECT_EQ(result.tests[0].kind, TestKind::BeforeTMin);
  EXPECT_EQ(result.tests[1].kind, TestKind::Necessary);
  EXPECT_EQ(result.tests[2].kind, TestKind::Necessary);
}

TEST(BeforeTMin, SimulatedHardwareClipsItsBoxes) {
  // A simulated traversal tests a box that the ray has left only if the box was enlarged: the kind is empty.
  traversal::SimulateOptions options;
  options.structure.layout = "wide-8";
  options.structure.enlarge = 0.5;
  options.classify.enlarged_layouts.clear();
  options.classify.enlarge = 0.5;
  const Classification result = traversal::simulate(leaving_trace(3), 0, "test", options).classification;
  EXPECT_EQ(result.total[static_cast<std::size_t>(TestKind::BeforeTMin)], 0U);
  EXPECT_GT(result.total[static_cast<std::size_t>(TestKind::Enlargement)], 100U);
}

}  // namespace
}  // namespace rayreplay::test
