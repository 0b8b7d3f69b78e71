// Observed traversal against a twin that reads a ray's events as a list, on random traces, and against the events of
// GPU captures themselves.
#include "traversal/observed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <vector>

#include "capture/trace/reader.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using trace::EventKind;
using traversal::Observed;
using traversal::ObservedReport;
using traversal::ObservedShaders;
using traversal::ObservedTest;
using traversal::RayEnd;

struct TwinTest {
  ObservedTest test;
  std::vector<ObservedReport> reports;
};

bool same_number(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);  // refused reports may be NaN
}

void expect_same(const ObservedTest& a, const ObservedTest& b) {
  EXPECT_EQ(a.test.candidate, b.test.candidate);
  EXPECT_TRUE(same_number(a.test.t_max, b.test.t_max)) << a.test.t_max << " and " << b.test.t_max;
  EXPECT_TRUE(same_number(a.test.t, b.test.t)) << a.test.t << " and " << b.test.t;
  EXPECT_EQ(a.test.hit, b.test.hit);
  EXPECT_EQ(a.test.accepted, b.test.accepted);
  EXPECT_EQ(a.test.procedural, b.test.procedural);
  EXPECT_EQ(a.reports, b.reports);
}

/// The events of one ray of a thread, as rows.
std::vector<std::uint64_t> events_of(const trace::ThreadData& data, std::uint64_t thread, std::uint64_t ray) {
  std::vector<std::uint64_t> rows;
  std::uint64_t begun = 0;
  for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
    begun += trace::begins_ray(data.events.kind[row]) ? 1U : 0U;
    const std::uint64_t owner = data.events.ray.empty() ? begun - 1 : data.events.ray[row];
    if (owner == ray) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<TwinTest> tests_of(const trace::Events& events, const std::vector<std::uint64_t>& rows,
                               const traversal::Ray& ray) {
  std::vector<TwinTest> result;
  const auto kind = [&](std::size_t i) { return i < rows.size() ? events.kind[rows[i]] : EventKind::Callable; };
  const auto object = [&](std::size_t i) {
    return traversal::Candidate{events.instance[rows[i]], events.geometry.empty() ? 0U : events.geometry[rows[i]],
                                events.primitive[rows[i]]};
  };
  const auto stands_alone = [&](std::size_t i) {
    return kind(i) == EventKind::AnyHit && (kind(i - 1) != EventKind::ReportIntersection || object(i - 1) != object(i));
  };
  float t_max = ray.t_max;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool triangle = stands_alone(i);
    if (kind(i) != EventKind::Intersection && !triangle) {
      continue;
    }
    TwinTest twin;
    twin.test.event = rows[i];
    twin.test.test.procedural = !triangle;
    twin.test.test.candidate = object(i);
    t_max = triangle ? t_max : events.t[rows[i]];
    twin.test.test.t_max = t_max;
    if (triangle) {
      const bool ignored = kind(i + 1) == EventKind::IgnoreIntersection;
      twin.reports.push_back(
          {events.t[rows[i]], events.hit_kind[rows[i]], !ignored, true, kind(i + 1) == EventKind::TerminateRay});
    } else {
      for (std::size_t j = i + 1; j < rows.size() && kind(j) != EventKind::Intersection; ++j) {
        if (stands_alone(j)) {
          break;
        }
        if (kind(j) == EventKind::ReportIntersection) {
          const bool any_hit = kind(j + 1) == EventKind::AnyHit && !stands_alone(j + 1);
          const bool ignored = any_hit && kind(j + 2) == EventKind::IgnoreIntersection;
          const bool ended = any_hit && kind(j + 2) == EventKind::TerminateRay;
          twin.reports.push_back({events.t[rows[j]], events.hit_kind[rows[j]],
                                  ended || (events.accepted[rows[j]] != 0 && !ignored), any_hit, ended});
        }
      }
    }
    twin.test.reports = static_cast<std::uint32_t>(twin.reports.size());
    // The report that counts: the last accepted, else the nearest in range, else the nearest.
    const ObservedReport* counts = nullptr;
    for (const ObservedReport& report : twin.reports) {
      counts = report.accepted ? &report : counts;
      t_max = report.accepted ? std::min(t_max, report.t) : t_max;
    }
    const auto in_range = [&](const ObservedReport& report) {
      return triangle || (report.t >= ray.t_min && report.t <= twin.test.test.t_max);
    };
    const auto nearest = [&](bool needs_range) {
      for (const ObservedReport& report : twin.reports) {
        if ((!needs_range || in_range(report)) &&
            (counts == nullptr || report.t < counts->t || !(counts->t == counts->t))) {
          counts = &report;
        }
      }
    };
    if (counts == nullptr) {
      nearest(true);
    }
    if (counts == nullptr) {
      nearest(false);
    }
    if (counts != nullptr) {
      twin.test.test.t = counts->t;
      twin.test.test.accepted = counts->accepted;
      twin.test.test.hit = counts->accepted || in_range(*counts);
    }
    result.push_back(twin);
  }
  return result;
}

void expect_as_twin(const trace::Launch& launch, std::uint64_t first, std::uint64_t last) {
  const Observed observed = traversal::observe(launch, first, last);
  const trace::ThreadData& data = launch.data;
  ASSERT_EQ(observed.first_ray, data.ray_offset[first]);
  ASSERT_EQ(observed.rays.size(), data.ray_offset[last] - data.ray_offset[first]);
  for (std::uint64_t thread = first; thread < last; ++thread) {
    for (std::uint64_t i = 0; i < data.ray_offset[thread + 1] - data.ray_offset[thread]; ++i) {
      const std::uint64_t ray = data.ray_offset[thread] + i - observed.first_ray;
      const std::vector<std::uint64_t> rows = events_of(data, thread, i);
      const std::vector<TwinTest> twins = tests_of(data.events, rows, observed.rays[ray]);
      const auto tests = observed.tests.of(ray);
      ASSERT_EQ(tests.size(), twins.size()) << "ray " << ray;
      std::uint32_t any_hits = 0;
      RayEnd end = RayEnd::None;
      for (const std::uint64_t row : rows) {
        any_hits += data.events.kind[row] == EventKind::AnyHit ? 1U : 0U;
        end = data.events.kind[row] == EventKind::OcclusionBegin ? RayEnd::ImplicitHit : end;
        end = data.events.kind[row] == EventKind::Miss ? RayEnd::Miss : end;
        if (data.events.kind[row] == EventKind::ClosestHit) {
          end = RayEnd::ClosestHit;
          ASSERT_EQ(observed.hits[ray].t, data.events.t[row]);
          ASSERT_EQ(observed.hits[ray].instance, data.events.instance[row]);
          ASSERT_EQ(observed.hits[ray].primitive, data.events.primitive[row]);
          ASSERT_EQ(observed.hits[ray].hit_kind, data.events.hit_kind[row]);
        }
      }
      ASSERT_EQ(observed.ends[ray], end);
      ASSERT_EQ(observed.counters[ray].any_hits, any_hits);
      for (std::size_t t = 0; t < twins.size(); ++t) {
        expect_same(tests[t], twins[t].test);
        ASSERT_FALSE(testing::Test::HasFailure()) << "ray " << ray << " test " << t;
        ASSERT_EQ(tests[t].event, twins[t].test.event);
        const auto reports = observed.reports_of(tests[t]);
        const auto same_report = [](const ObservedReport& a, const ObservedReport& b) {
          return same_number(a.t, b.t) && a.hit_kind == b.hit_kind && a.accepted == b.accepted &&
                 a.any_hit == b.any_hit && a.ended == b.ended;
        };
        ASSERT_TRUE(std::ranges::equal(reports, twins[t].reports, same_report)) << "ray " << ray << " test " << t;
      }
      if (end == RayEnd::Miss || end == RayEnd::None) {
        ASSERT_FALSE(observed.hits[ray].found());
      }
    }
  }
}

TEST(Observed, EqualsItsTwinOnRandomTraces) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const trace::Trace trace = random_trace({.seed = seed,
                                             .size = {16, 8, 1},
                                             .rays_per_thread = 6,
                                             .geometry = seed % 2 == 0,
                                             .ray = seed % 3 == 0,
                                             .capture = seed % 5 == 0});
    expect_as_twin(trace.launches[0], 0, 128);
    expect_as_twin(trace.launches[0], 17, 90);
    if (HasFatalFailure()) {
      FAIL() << "seed " << seed;
    }
  }
}

/// One thread, built event by event.
struct Story {
  trace::Launch launch;
  Story(std::uint16_t flags, std::size_t rays) {
    launch.size = {1, 1, 1};
    launch.data.event_offset = {0, 0};
    launch.data.ray_offset = {0, rays};
    trace::Rays& r = launch.data.rays;
    for (std::size_t i = 0; i < rays; ++i) {
      r.origin_x.push_back(0), r.origin_y.push_back(0), r.origin_z.push_back(0);
      r.direction_x.push_back(0), r.direction_y.push_back(0), r.direction_z.push_back(1);
      r.t_min.push_back(0.5F), r.t_max.push_back(100);
      r.flags.push_back(flags), r.cull_mask.push_back(0xFF);
    }
  }
  Story& add(std::uint32_t ray, EventKind kind, float t = 0, std::uint32_t primitive = 0, std::uint8_t accepted = 0) {
    trace::Events& e = launch.data.events;
    e.kind.push_back(kind), e.shader.push_back(0), e.t.push_back(t), e.instance.push_back(0);
    e.primitive.push_back(primitive), e.hit_kind.push_back(static_cast<std::uint8_t>(primitive));
    e.accepted.push_back(accepted), e.ray.push_back(ray);
    ++launch.data.event_offset[1];
    return *this;
  }
};

TEST(Observed, SeveralReportsInOneCallAndTheSameCandidateTwice) {
  Story story(0, 1);
  story.add(0, EventKind::Begin)
      .add(0, EventKind::Intersection, 100, 3)
      .add(0, EventKind::ReportIntersection, 9, 3)  // ignored
      .add(0, EventKind::AnyHit, 9, 3)
      .add(0, EventKind::IgnoreIntersection)
      .add(0, EventKind::ReportIntersection, 12, 3, 1)
      .add(0, EventKind::AnyHit, 12, 3)
      .add(0, EventKind::Intersection, 12, 4)
      .add(0, EventKind::ReportIntersection, 20, 4)  // beyond t_max: refused
      .add(0, EventKind::AnyHit, 7, 5)               // a triangle, twice
      .add(0, EventKind::IgnoreIntersection)
      .add(0, EventKind::AnyHit, 7, 5)
      .add(0, EventKind::ClosestHit, 7, 5);
  const Observed observed = traversal::observe(story.launch, 0, 1);
  const auto tests = observed.tests.of(0);
  ASSERT_EQ(tests.size(), 4U);
  EXPECT_EQ(tests[0].test, (traversal::PrimitiveTest{{0, 0, 3}, 100, 12, true, true, true}));
  EXPECT_EQ(tests[1].test, (traversal::PrimitiveTest{{0, 0, 4}, 12, 20, false, false, true}));
  EXPECT_EQ(tests[2].test, (traversal::PrimitiveTest{{0, 0, 5}, 12, 7, true, false, false}));
  EXPECT_EQ(tests[3].test, (traversal::PrimitiveTest{{0, 0, 5}, 12, 7, true, true, false}));
  EXPECT_EQ(observed.counters[0].procedurals, 2U);
  EXPECT_EQ(observed.counters[0].any_hits, 4U);
  EXPECT_EQ(observed.ends[0], RayEnd::ClosestHit);
  EXPECT_EQ(observed.hits[0].primitive, 5U);

  const ObservedShaders shaders(observed);
  const auto report = [&](std::uint32_t primitive, float t_max) {
    const traversal::Report r = shaders.intersect(0, {0, 0, primitive}, t_max);
    return r.found ? r.t : -1;
  };
  EXPECT_EQ(report(3, 100), 12) << "the report that was not ignored wins over a nearer one";
  EXPECT_EQ(report(3, 10), 9) << "only the ignored one is left";
  EXPECT_EQ(report(3, 8), -1);
  EXPECT_EQ(report(4, 100), 20) << "with a larger t_max the refused report counts";
  EXPECT_FALSE(shaders.accept(0, {0, 0, 3}, 9, 3));
  EXPECT_TRUE(shaders.accept(0, {0, 0, 3}, 12, 3));
  EXPECT_TRUE(shaders.accept(0, {0, 0, 5}, 7.0001F, 5)) << "a triangle is accepted if any call did";
  EXPECT_EQ(shaders.unobserved(), 0U);
  EXPECT_EQ(report(6, 100), -1);
  EXPECT_TRUE(shaders.accept(0, {0, 0, 7}, 3, 0));
  EXPECT_EQ(shaders.unobserved(), 2U);
  EXPECT_FALSE(shaders.knows(0, {0, 0, 6}));
  EXPECT_TRUE(shaders.knows(0, {0, 0, 4}));
}

TEST(Observed, RaysBetweenEachOther) {
  Story story(0, 2);
  story.add(0, EventKind::Begin)
      .add(0, EventKind::Intersection, 100, 1)
      .add(1, EventKind::Begin)
      .add(1, EventKind::AnyHit, 6, 2)
      .add(1, EventKind::TerminateRay)
      .add(0, EventKind::ReportIntersection, 8, 1, 1)
      .add(1, EventKind::ClosestHit, 6, 2)
      .add(trace::kNone, EventKind::Callable)
      .add(0, EventKind::ClosestHit, 8, 1);
  const Observed observed = traversal::observe(story.launch, 0, 1);
  ASSERT_EQ(observed.tests.of(0).size(), 1U);
  ASSERT_EQ(observed.tests.of(1).size(), 1U);
  EXPECT_EQ(observed.tests.of(0)[0].test, (traversal::PrimitiveTest{{0, 0, 1}, 100, 8, true, true, true}));
  EXPECT_TRUE(observed.reports_of(observed.tests.of(1)[0])[0].ended);
  EXPECT_EQ(observed.hits[0].primitive, 1U);
  EXPECT_EQ(observed.hits[1].primitive, 2U);
  const std::vector<std::uint64_t> swapped{1, 0};
  const ObservedShaders shaders(observed, swapped);
  EXPECT_TRUE(shaders.knows(0, {0, 0, 2}));
  EXPECT_TRUE(shaders.intersect(1, {0, 0, 1}, 50).found);
}

TEST(Observed, OcclusionHitsAreImplicit) {
  Story story(trace::kRayFlagSkipClosestHit | trace::kRayFlagTerminateOnFirstHit, 3);
  story.add(0, EventKind::OcclusionBegin)
      .add(0, EventKind::AnyHit, 4, 9)
      .add(1, EventKind::OcclusionBegin)
      .add(2, EventKind::OcclusionBegin)
      .add(2, EventKind::Miss);
  const Observed observed = traversal::observe(story.launch, 0, 1);
  EXPECT_EQ(observed.ends[0], RayEnd::ImplicitHit);
  EXPECT_EQ(observed.hits[0].primitive, 9U);
  EXPECT_EQ(observed.ends[1], RayEnd::ImplicitHit);
  EXPECT_FALSE(observed.hits[1].found()) << "it hit something that no shader saw";
  EXPECT_EQ(observed.ends[2], RayEnd::Miss);
}

TEST(Observed, CapturesOfAGpu) {
  const std::filesystem::path folder = std::filesystem::path(RAYREPLAY_SOURCE_DIR) / "tests/data/h200";
  std::size_t files = 0;
  for (const char* name : {"one-weekend.rrt", "one-weekend-ser.rrt", "bunny.rrt", "teapot-alpha.rrt"}) {
    SCOPED_TRACE(name);
    const trace::Trace trace = trace::load(folder / name);
    for (const trace::Launch& launch : trace.launches) {
      expect_as_twin(launch, 0, launch.size.threads());
      const Observed observed = traversal::observe(launch, 0, launch.size.threads());
      std::uint64_t tests = 0;
      bool after_report = false;
      for (std::size_t i = 0; i < launch.data.events.size(); ++i) {
        const EventKind kind = launch.data.events.kind[i];
        tests += kind == EventKind::Intersection || (kind == EventKind::AnyHit && !after_report) ? 1U : 0U;
        after_report = kind == EventKind::ReportIntersection;
      }
      EXPECT_EQ(observed.tests.rows.size(), tests);
      EXPECT_GT(tests, 0U);
      // The closest hit of a ray is what its last accepted test was, wherever that left a record.
      std::uint64_t recorded = 0;
      std::uint64_t agree = 0;
      for (std::size_t ray = 0; ray < observed.rays.size(); ++ray) {
        for (const ObservedTest& test : observed.tests.of(ray)) {
          if (test.test.accepted && observed.ends[ray] == RayEnd::ClosestHit && test.test.procedural) {
            ++recorded;
            agree += test.test.t >= observed.hits[ray].t ? 1U : 0U;
          }
        }
      }
      EXPECT_EQ(agree, recorded) << "no accepted report lies in front of the closest hit";
    }
    ++files;
  }
  EXPECT_EQ(files, 4U);
}

TEST(Observed, BatchesJoinToTheWhole) {
  const trace::Trace trace = random_trace({.seed = 5, .size = {32, 8, 1}, .rays_per_thread = 5, .ray = true});
  const trace::Launch& launch = trace.launches[0];
  const std::uint64_t threads = launch.size.threads();
  const Observed whole = traversal::observe(launch, 0, threads);
  std::uint64_t rays = 0;
  std::uint64_t tests = 0;
  for (std::uint64_t first = 0; first < threads;) {
    const std::uint64_t last = traversal::batch_end(launch, first, 20, 60);
    ASSERT_GT(last, first);
    const Observed part = traversal::observe(launch, first, last);
    ASSERT_TRUE(last == first + 1 || part.rays.size() <= 20U);
    for (std::size_t ray = 0; ray < part.rays.size(); ++ray) {
      ASSERT_EQ(part.hits[ray], whole.hits[rays + ray]);
      ASSERT_EQ(part.ends[ray], whole.ends[rays + ray]);
    }
    for (const ObservedTest& test : part.tests.rows) {
      expect_same(test, whole.tests.rows[tests++]);
    }
    rays += part.rays.size();
    first = last;
  }
  EXPECT_EQ(rays, whole.rays.size());
  EXPECT_EQ(tests, whole.tests.rows.size());
}

TEST(Observed, AListOfThreadsIsTheSameThreadByThread) {
  const trace::Trace trace = random_trace({.seed = 9, .size = {32, 8, 1}, .rays_per_thread = 5, .ray = true});
  const trace::Launch& launch = trace.launches[0];
  std::vector<std::uint32_t> threads;
  for (std::uint32_t i = 0; i < 256; i += 3) {
    threads.push_back((i * 41U) % 256);
  }
  const Observed list = traversal::observe(launch, threads);
  std::size_t ray = 0;
  for (const std::uint32_t thread : threads) {
    const Observed one = traversal::observe(launch, thread, thread + 1);
    for (std::size_t i = 0; i < one.rays.size(); ++i, ++ray) {
      ASSERT_EQ(list.hits[ray], one.hits[i]);
      ASSERT_EQ(list.ends[ray], one.ends[i]);
      ASSERT_EQ(list.counters[ray], one.counters[i]);
      ASSERT_EQ(list.tests.of(ray).size(), one.tests.of(i).size());
      for (std::size_t test = 0; test < one.tests.of(i).size(); ++test) {
        expect_same(list.tests.of(ray)[test], one.tests.of(i)[test]);
        EXPECT_EQ(list.tests.of(ray)[test].event, one.tests.of(i)[test].event);
      }
    }
  }
  EXPECT_EQ(ray, list.rays.size());
}

}  // namespace
}  // namespace rayreplay::test
