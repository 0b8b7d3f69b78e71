// A second way to the same number: the ordered traversal over exact boxes, with the trace's shaders, makes exactly the
// tests that are necessary, box misses or R1, and none of R2, R3 or "R2 or R3".
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tests/classification/traces.hpp"
#include "traversal/classification/classify.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::test {
namespace {

using traversal::Candidate;
using traversal::TestKind;

struct Membership {
  std::uint64_t base = 0, base_not_made = 0;  ///< of necessary, box miss, R1
  std::uint64_t other = 0, other_made = 0;    ///< of R2, R3, "R2 or R3"
};

Membership compare(const trace::Trace& trace, double slack) {
  const trace::Launch& launch = trace.launches[0];
  traversal::ClassifyOptions options;
  options.per_test = true;
  options.slack = slack;
  const traversal::Classification result = traversal::classify(trace, 0, "test", options);

  bvh::BvhOptions exact;
  exact.leaf_size = 1;
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, launch.tlas, "test", exact);
  const traversal::Observed observed = traversal::observe(launch, 0, launch.data.threads());
  std::vector<traversal::Ray> rays = observed.rays;
  for (traversal::Ray& ray : rays) {
    ray.flags = static_cast<std::uint16_t>(ray.flags & ~trace::kRayFlagTerminateOnFirstHit);
  }
  const traversal::ObservedShaders shaders(observed);
  traversal::TraceOptions trace_options;
  trace_options.tests = true;
  trace_options.shaders = &shaders;
  const auto ordered = traversal::Traversals::create("ordered");
  const traversal::TraceResult made = ordered.model->trace(structure, rays, trace_options);
  std::vector<std::set<Candidate>> made_by(rays.size());
  for (std::size_t ray = 0; ray < rays.size(); ++ray) {
    for (const traversal::PrimitiveTest& test : made.tests.of(ray)) {
      made_by[ray].insert(test.candidate);
    }
  }
  Membership membership;
  const trace::Events& events = launch.data.events;
  for (const traversal::ClassifiedTest& test : result.tests) {
    const Candidate candidate{events.instance[test.event], events.geometry.empty() ? 0U : events.geometry[test.event],
                              events.primitive[test.event]};
    const bool is_made = made_by[test.ray].contains(candidate);
    if (test.kind <= TestKind::Overlap) {
      ++membership.base;
      membership.base_not_made += is_made ? 0U : 1U;
    } else {
      ++membership.other;
      membership.other_made += is_made ? 1U : 0U;
    }
  }
  return membership;
}

void expect_membership(const trace::Trace& trace) {
  const Membership wide = compare(trace, 8);
  EXPECT_EQ(wide.other_made, 0U) << "of " << wide.other;
  const Membership strict = compare(trace, 0);
  EXPECT_EQ(strict.base_not_made, 0U) << "of " << strict.base;
  // Between the two lies what rounding decides: next to nothing.
  EXPECT_LE(wide.base_not_made, 1 + wide.base / 1000);
  EXPECT_LE(strict.other_made, 1 + wide.base / 1000);
}

TEST(Membership, TracesOfTheTracer) {
  for (const char* integrator : {"path", "ao"}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      SCOPED_TRACE(integrator + std::to_string(seed));
      expect_membership(mixed_trace(seed, integrator));
    }
  }
  expect_membership(sphere_trace(1));
}

TEST(Membership, CapturesOfAGpu) {
  for (const std::string& name : captures()) {
    SCOPED_TRACE(name);
    expect_membership(load_capture(name));
  }
}

}  // namespace
}  // namespace rayreplay::test
