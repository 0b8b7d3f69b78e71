// Cutting paths: against an obvious twin on random launches, and by hand where the twin could share a mistake.
#include <gtest/gtest.h>

#include <set>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "tests/regrouping/support.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay {
namespace {

using scheduler::Cut;
using scheduler::cut_paths;
using scheduler::CutAt;
using scheduler::Segments;
using trace::EventKind;

struct ReferenceSegment {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t bounce;
  bool operator==(const ReferenceSegment&) const = default;
};

/// The segments of one thread, from the contract.
std::vector<ReferenceSegment> reference_cut(const trace::ThreadData& data, std::size_t thread, const Cut& cut) {
  std::vector<ReferenceSegment> result;
  std::uint64_t rays = 0;
  bool any_call = false;
  std::set<std::uint64_t> reordered;
  for (std::uint64_t row = data.event_offset.at(thread); row < data.event_offset.at(thread + 1); ++row) {
    const EventKind kind = data.events.kind.at(row);
    rays += trace::begins_ray(kind) ? 1U : 0U;
    std::uint64_t ray = rays > 0 ? rays - 1 : 0;
    if (!data.events.ray.empty()) {
      ray = data.events.ray.at(row) == trace::kNone ? 0 : data.events.ray.at(row);
    }
    if (kind == EventKind::Reorder) {
      reordered.insert(ray);
    }
    bool cuts = cut.at == CutAt::EveryCall && trace::is_warp_event(kind);
    if (cuts && any_call) {
      const EventKind before = data.events.kind.at(row - 1);
      const bool just_entered =
          (before == EventKind::ClosestHit || before == EventKind::Miss || before == EventKind::Callable) &&
          data.events.shader.at(row - 1) == data.events.shader.at(row);
      const bool reported = before == EventKind::ReportIntersection;
      cuts =
          !(trace::begins_ray(kind) && just_entered) && !(cut.inline_any_hit && kind == EventKind::AnyHit && reported);
    }
    if (cut.at == CutAt::PendingCall && (kind == EventKind::Miss || kind == EventKind::ClosestHit)) {
      cuts = ray >= cut.first_bounce;
      cuts = cuts && (!cut.site || data.rays.site.at(data.ray_offset.at(thread) + ray) == *cut.site);
      cuts = cuts && (!cut.captured_only || reordered.contains(ray));
    }
    if (result.empty() || (cuts && any_call)) {
      result.push_back({row, row, result.empty() ? 0 : ray});
    }
    any_call = any_call || trace::is_warp_event(kind);
    result.back().end = row + 1;
  }
  return result;
}

void expect_twin(const trace::Launch& launch, const Cut& cut) {
  const Segments segments = cut_paths(launch, cut);
  ASSERT_EQ(segments.first.size(), launch.data.threads() + 1);
  std::uint32_t next = 0;
  std::uint32_t most = 0;
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    ASSERT_EQ(segments.first[thread], next);
    const auto expected = reference_cut(launch.data, thread, cut);
    most = std::max(most, static_cast<std::uint32_t>(expected.size()));
    for (const ReferenceSegment& segment : expected) {
      const ReferenceSegment found{segments.event_offset.at(next), segments.event_offset.at(next + std::size_t{1}),
                                   segments.bounce.at(next)};
      ASSERT_EQ(found, segment) << "thread " << thread << ", segment " << next;
      ++next;
    }
  }
  EXPECT_EQ(segments.first.back(), next);
  EXPECT_EQ(segments.size(), next);
  EXPECT_EQ(segments.most_of_a_thread, most);
  EXPECT_EQ(segments.event_offset.back(), launch.data.events.size());
  const auto thread_of = thread_of_segments(segments);
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    for (std::uint32_t segment = segments.first[thread]; segment < segments.first[thread + 1]; ++segment) {
      ASSERT_EQ(thread_of.at(segment), thread);
    }
  }
}

TEST(CutPaths, AgreesWithTheTwinOnRandomLaunches) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const trace::Launch launch = test::RandomLaunch(11, seed).make(300, 9);
    expect_twin(launch, {});
    expect_twin(launch, {.at = CutAt::PendingCall});
    expect_twin(launch, {.at = CutAt::EveryCall});
    expect_twin(launch, {.at = CutAt::EveryCall, .inline_any_hit = true});
    expect_twin(launch, {.at = CutAt::PendingCall, .first_bounce = 2});
  }
}

TEST(CutPaths, AgreesWithTheTwinOnRandomTraces) {
  for (const bool ray : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const trace::Trace trace =
          test::random_trace({.seed = seed, .size = {16, 8, 1}, .rays_per_thread = 8, .ray = ray, .capture = true});
      const trace::Launch& launch = trace.launches.at(0);
      expect_twin(launch, {.at = CutAt::PendingCall});
      expect_twin(launch, {.at = CutAt::EveryCall});
      expect_twin(launch, {.at = CutAt::EveryCall, .inline_any_hit = true});
      expect_twin(launch, {.at = CutAt::PendingCall, .first_bounce = 1, .captured_only = true});
      expect_twin(launch, {.at = CutAt::PendingCall, .site = launch.data.rays.site.at(0)});
    }
  }
}

TEST(CutPaths, AgreesWithTheTwinOnCaptures) {
  for (const char* const name : {"one-weekend", "one-weekend-ser", "teapot-alpha", "bunny"}) {
    const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + name + ".rrt");
    expect_twin(trace.launches.at(0), {.at = CutAt::PendingCall});
    expect_twin(trace.launches.at(0), {.at = CutAt::EveryCall});
    expect_twin(trace.launches.at(0), {.at = CutAt::EveryCall, .inline_any_hit = true});
  }
}

TEST(CutPaths, CutsOnlyReorderedRaysOfACapture) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend-ser.rrt");
  expect_twin(trace.launches.at(0), {.at = CutAt::PendingCall, .captured_only = true});
}

TEST(CutPaths, LeavesThreadsWithoutEventsOut) {
  const trace::Launch launch = test::LaunchBuilder({3, 1, 1}).thread().thread().begin(0).miss(1).build();
  const Segments segments = cut_paths(launch, {.at = CutAt::PendingCall});
  EXPECT_EQ(segments.first, (trace::Column<std::uint32_t>{0, 0, 2, 2}));
  EXPECT_EQ(segments.event_offset, (trace::Column<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(segments.most_of_a_thread, 2U);
}

TEST(CutPaths, TakesALaunchWithoutThreads) {
  const Segments segments = cut_paths(trace::Launch{}, {.at = CutAt::PendingCall});
  EXPECT_EQ(segments.size(), 0U);
  EXPECT_EQ(segments.event_offset.size(), 1U);
  EXPECT_EQ(segments.most_of_a_thread, 0U);
}

TEST(CutPaths, CutsNothingBeforeTheThreadsFirstCall) {
  const trace::Launch launch = test::LaunchBuilder({1, 1, 1}).thread().miss(1).begin(0).miss(1).build();
  const Segments segments = cut_paths(launch, {.at = CutAt::PendingCall});
  EXPECT_EQ(segments.event_offset, (trace::Column<std::uint64_t>{0, 2, 3}));
}

TEST(CutPaths, KeepsBouncesBelowTheirLimit) {
  test::LaunchBuilder builder({1, 1, 1});
  builder.thread();
  constexpr std::size_t kRays = 70'000;
  for (std::size_t ray = 0; ray < kRays; ++ray) {
    builder.begin(0).miss(1);
  }
  const Segments segments = cut_paths(builder.build(), {.at = CutAt::PendingCall});
  ASSERT_EQ(segments.size(), kRays + 1);
  EXPECT_EQ(segments.bounce[65'535], 65'534U);
  EXPECT_EQ(segments.bounce[65'536], 65'535U);
  EXPECT_EQ(segments.bounce.back(), 65'535U);
}

ErrorKind kind_of_error(const trace::Launch& launch, const Cut& cut, const std::string& says) {
  try {
    (void)cut_paths(launch, cut);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::Internal;
}

TEST(CutPaths, SaysWhatIsMissing) {
  trace::Launch launch = test::LaunchBuilder({1, 1, 1}).thread().begin(0).miss(1).build();
  EXPECT_EQ(kind_of_error(launch, {.at = CutAt::PendingCall, .site = 1}, "rays.site"), ErrorKind::Missing);
  EXPECT_EQ(kind_of_error(launch, {.at = CutAt::PendingCall, .captured_only = true}, "reorder calls"),
            ErrorKind::Missing);
  launch.data.rays.site = {4};
  EXPECT_EQ(kind_of_error(launch, {.at = CutAt::PendingCall, .site = 1}, "one of the sites of the launch: 4"),
            ErrorKind::Missing);
}

}  // namespace
}  // namespace rayreplay
