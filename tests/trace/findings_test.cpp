// Notes on legal traces, counts of events, the order of faults; and the fast check of events against the plain one, on
// random damage.
#include <numeric>

#include "capture/trace/rules/event_context.hpp"
#include "capture/trace/rules/rules.hpp"
#include "capture/trace/texel_address.hpp"
#include "capture/trace/validate.hpp"
#include "tests/trace/support.hpp"
#include "tests/trace/whole_trace.hpp"

namespace rayreplay::trace {
namespace {

using test::Random;
using test::random_trace;
using testing::HasSubstr;

TEST(FindingsTest, LegalButWorthKnowing) {
  Trace trace = sound_trace();
  rays(trace).origin_y[2] = kNan;
  trace.scene.geometries[0].vertices[3] = kNan;
  trace.scene.instances[1].transform[7] = kNan;
  const Findings findings = find_faults(trace, "t", 10);
  EXPECT_TRUE(findings.faults.empty());
  EXPECT_THAT(
      findings.notes,
      testing::ElementsAre(HasSubstr("NaN in 1 coordinate;"), HasSubstr("NaN in 1 transform"),
                           HasSubstr("/launch/0: NaN in 1 of 4 rays"),
                           HasSubstr("/launch/0: 1 of 4 rays ended in no shader (the shader table is not known)")));
}

TEST(FindingsTest, AccessesToImagesWithoutARow) {
  Trace trace = sound_trace_with_everything();
  trace.access_sites.space[2] = AccessSpace::Image;
  trace.access_sites.binding[2] = 2;  // of set 0: the table has element 5 alone
  first(trace).data.accesses.site = {2, 0, 2, 2};
  first(trace).data.accesses.address = {pack({.x = 5, .element = 5}), 8, pack({.element = 1}),
                                        pack({.y = 3, .element = 5})};
  const auto counts = count_events(trace);
  EXPECT_THAT(collect_notes(trace, counts),
              testing::Contains(HasSubstr("/launch/0: 1 of 3 accesses to images are of descriptors whose image is not "
                                          "in the trace")));
  first(trace).images = {};
  EXPECT_THAT(collect_notes(trace, counts), testing::Contains(HasSubstr("/launch/0: 3 of 3 accesses to images")));
}

TEST(ConservationTest, CountsWhatIsThere) {
  const Findings findings = find_faults(sound_trace(), "t", 10);
  ASSERT_EQ(findings.counts.size(), 1U);
  const EventCounts& counts = findings.counts[0];
  EXPECT_EQ(counts.threads, 2U);
  EXPECT_EQ(counts.threads_with_events, 2U);
  EXPECT_EQ(counts.rays, 4U);
  EXPECT_EQ(counts.by_kind.at(static_cast<std::size_t>(EventKind::Begin)), 3U);
  EXPECT_EQ(counts.by_kind.at(static_cast<std::size_t>(EventKind::OcclusionBegin)), 1U);
  EXPECT_EQ(counts.by_kind.at(static_cast<std::size_t>(EventKind::Callable)), 2U);
  EXPECT_EQ(std::accumulate(counts.by_kind.begin(), counts.by_kind.end(), std::uint64_t{0}), 14U);
}

/// The last ray of the second thread has no end. The launch's properties give the reason.
TEST(ConservationTest, ARayWithoutAnEndHasAReasonOrIsLost) {
  Trace trace = sound_trace();
  Launch& launch = trace.launches[0];
  const auto expect = [&](NoEnd reason, const std::string& text) {
    const EventCounts counts = count_events(trace).at(0);
    EXPECT_EQ(counts.without_end(), 1U);
    EXPECT_EQ(counts.no_end.at(static_cast<std::size_t>(reason)), 1U) << to_string(reason);
    EXPECT_THAT(find_faults(trace, "t", 10).notes, testing::ElementsAre(HasSubstr(text)));
  };
  expect(NoEnd::TableUnknown, "is not known");
  const auto record = [](TableRegion region, std::uint32_t index) {
    ShaderRecord made;
    made.region = region;
    made.index = index;
    return made;
  };
  launch.shader_table = {record(TableRegion::Miss, 0), record(TableRegion::Hit, 0)};
  launch.shader_table[0].general = kMiss;
  expect(NoEnd::NoShader, "no shader there");  // the hit record has no closest-hit shader
  launch.shader_table[1].closest_hit = kHit;
  expect(NoEnd::Lost, "lost");
  launch.data.rays.miss_index[3] = 1;  // no such record
  expect(NoEnd::NoShader, "no shader there");
  launch.dropped_events = 1;
  expect(NoEnd::Dropped, "dropped");
  launch.dropped_events = 0;
  launch.data.events.ray = {0, 0, 0, 0, 0, 0, 1, 1, 1, kNone, kNone, 0, 0, 1};
  expect(NoEnd::HitObject, "hit objects");
}

TEST(FindingsTest, NanIsLegalInARejectedReport) {
  Trace trace = sound_trace();
  events(trace).t[2] = kNan;
  EXPECT_NO_THROW(check(trace, "t"));
}

TEST(FindingsTest, WithoutASceneIdsMayBeAnything) {
  Trace trace = sound_trace();
  trace.scene = {};
  events(trace).instance[5] = kNone;
  events(trace).primitive[5] = kNone;
  EXPECT_NO_THROW(check(trace, "t"));
}

TEST(FindingsTest, AllFaultsInOrderUpToTheLimit) {
  Trace trace = random_trace({.seed = 61, .size = {100, 20, 1}, .launches = 2});
  for (const std::size_t e : {std::size_t{5}, std::size_t{1000}, std::size_t{9000}}) {
    trace.launches[0].data.events.shader[e] = 999;
    trace.launches[1].data.events.shader[e] = 999;
  }
  const Findings all = find_faults(trace, "t", 100);
  ASSERT_EQ(all.faults.size(), 6U);
  EXPECT_EQ(all.faults[0].where, "t:/launch/0/events/shader[5]");
  EXPECT_EQ(all.faults[2].where, "t:/launch/0/events/shader[9000]");
  EXPECT_EQ(all.faults[5].where, "t:/launch/1/events/shader[9000]");
  EXPECT_EQ(find_faults(trace, "t", 2).faults.size(), 2U);
}

TEST(EventScanTest, AgreesWithThePlainCheckOnRandomDamage) {
  Random random(62);
  std::size_t broken = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Trace trace = random_trace({.seed = seed % 64,
                                .size = {6, 2, 1},
                                .scene = (seed & 8U) != 0,
                                .geometry = (seed & 1U) != 0,
                                .ray = (seed & 2U) != 0,
                                .group = (seed & 4U) != 0,
                                .capture = (seed & 16U) != 0});
    Events& e = events(trace);
    Rays& r = rays(trace);
    const std::size_t count = e.size();
    if (count == 0) {
      continue;
    }
    for (std::uint32_t damages = random.below(3); damages > 0; --damages) {
      const std::size_t at = random.below(count);
      switch (random.below(12)) {
        case 0:
          e.kind[at] = static_cast<EventKind>(random.below(13));
          break;
        case 1:
          e.kind[at] = static_cast<EventKind>(random.below(256));
          break;
        case 2:
          e.shader[at] = static_cast<std::uint16_t>(random.below(trace.shaders.size() + 1));
          break;
        case 3:
          e.t[at] = random.one_in(2) ? kNan : std::numeric_limits<float>::infinity();
          break;
        case 4:
          e.instance[at] = random.below(trace.scene.instances.size() + 1);
          break;
        case 5:
          e.primitive[at] = random.below(400);
          break;
        case 6:
          e.hit_kind[at] = static_cast<std::uint8_t>(random.below(3));
          break;
        case 7:
          e.accepted[at] = static_cast<std::uint8_t>(random.below(4));
          break;
        case 8:
          if (!e.ray.empty()) {
            e.ray[at] = random.one_in(3) ? kNone : random.below(5);
          }
          break;
        case 9:
          if (!e.group.empty()) {
            e.group[at] = random.below(45);
          }
          break;
        case 10:
          if (!e.geometry.empty()) {
            e.geometry[at] = static_cast<std::uint16_t>(random.below(4));
          }
          break;
        default:
          if (r.size() != 0) {
            const std::size_t ray = random.below(r.size());
            r.flags[ray] = static_cast<std::uint16_t>(random.below(16));
            r.sbt_offset[ray] = static_cast<std::uint8_t>(random.below(18));
            r.sbt_stride[ray] = static_cast<std::uint8_t>(random.below(18));
          }
      }
    }
    if (random.one_in(4)) {
      auto& offsets = first(trace).data.ray_offset;  // one ray goes to the neighbour
      auto& offset = offsets[1 + random.below(offsets.size() - 2)];
      offset += offset < r.size() && offset < (&offset)[1] ? 1U : 0U;
    }
    const EventContext context(first(trace), "/launch/0", trace.shaders, trace.scene);
    for (std::size_t thread = 0; thread < first(trace).data.threads(); ++thread) {
      FaultList faults(1, "t");
      explain_thread(context, thread, faults);
      EXPECT_EQ(threads_are_sound(context, thread, thread + 1), faults.list().empty())
          << "seed " << seed << ", thread " << thread << ": "
          << (faults.list().empty() ? "" : format_error(faults.list()[0]));
      broken += faults.list().empty() ? 0U : 1U;
    }
  }
  EXPECT_GT(broken, 500U);
}

}  // namespace
}  // namespace rayreplay::trace
