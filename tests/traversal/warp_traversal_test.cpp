// Warp traversals: masks written out for a tree made by hand; equality of every lane with the scalar near-first
// traversal; schedules against a twin that works on the letters of each ray's steps; any number of threads.
#include "traversal/warp_traversal.hpp"

#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bvh/bvh.hpp"
#include "tests/support/adversarial.hpp"
#include "tests/support/adversarial_rays.hpp"

namespace rayreplay::test {
namespace {

using traversal::Access;
using traversal::AccessKind;
using traversal::Ray;
using traversal::RayCounters;
using traversal::StepKind;
using traversal::TraceResult;
using traversal::Traversals;
using traversal::WarpTraceOptions;
using traversal::WarpTraceResult;
using traversal::WarpTraversals;

/// "N1101" for a step of nodes by lanes 0, 1 and 3 of four.
std::vector<std::string> letters(const WarpTraceResult& result, std::uint32_t warp_size) {
  std::vector<std::string> rows;
  for (const traversal::WarpStep& step : result.steps) {
    std::string row(1, "NLF"[static_cast<std::size_t>(step.kind)]);
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      row += (step.mask >> lane & 1U) != 0 ? '1' : '0';
    }
    rows.push_back(row);
  }
  return rows;
}

/// Tests by step sum up to those by ray.
void expect_tests_of_steps(const WarpTraceResult& result) {
  RayCounters by_ray;
  for (const RayCounters& ray : result.counters) {
    by_ray.boxes += ray.boxes;
    by_ray.leaves += ray.leaves;
  }
  RayCounters by_step;
  ASSERT_EQ(result.tests.size(), result.steps.size());
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    by_step.boxes += result.tests[i].boxes;
    by_step.leaves += result.tests[i].leaves;
    ASSERT_TRUE(result.steps[i].kind == StepKind::Node || result.tests[i].boxes == 0);
    ASSERT_TRUE(result.steps[i].kind == StepKind::Leaf || result.tests[i].leaves == 0);
  }
  ASSERT_EQ(by_step, by_ray);
}

WarpTraceResult run(const std::string& spec, const bvh::Bvh& bvh, const std::vector<Ray>& rays,
                    const std::vector<std::uint64_t>& first_ray, const WarpTraceOptions& options) {
  return WarpTraversals::create(spec).model->trace(bvh, rays, first_ray, options);
}

/// One instance of three triangles that face x. The root holds A (x = 1, y 0 … 1) as a leaf and a node with C (x = 5,
/// y 2 … 3) and D (x = 7, the same y).
class HandMade {
 public:
  HandMade() {
    SceneBuilder kit(1);
    kit.loose({{1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {5, 2, 0}, {5, 3, 0}, {5, 2, 1}, {7, 3, 1}, {7, 2, 1}, {7, 3, 0}});
    kit.place(kit.structure());
    scene_ = kit.scene;
    bvh_ = bvh::build_bvh(scene_, 0, "hand-made", {.layout = "binary"});
    bvh::Tree tree;
    const auto box = [&](std::uint32_t number) { return bvh_.scene.primitive_box(0, number); };
    bvh::Box both = box(1);
    both.extend(box(2));
    tree.bounds = both;
    tree.bounds.extend(box(0));
    tree.nodes = {{0, 2}, {2, 2}};
    tree.children = {{box(0), 0, 1}, {both, 1, 0}, {box(1), 1, 1}, {box(2), 2, 1}};
    tree.references = {0, 1, 2};
    const auto order = bvh::NodeOrders::create("depth-first");
    bvh_.bottoms[0] = bvh_.layout->encode(tree, *order.model);
  }
  [[nodiscard]] const bvh::Bvh& bvh() const {
    return bvh_;
  }
  static Ray ray(float y, float z, float dy) {
    return {.origin = {0, y, z}, .direction = {1, dy, 0}};
  }
  /// 0 hits A. 1 misses C inside its box and hits D. 2 misses A inside its box and hits C. 3 meets no child of the
  /// root.
  static std::vector<Ray> rays() {
    return {ray(0.25F, 0.25F, 0), ray(2.9F, 0.9F, 0), ray(0.5F, 0.25F, 0.4F), ray(1.5F, 0.5F, 0)};
  }

 private:
  trace::Scene scene_;
  bvh::Bvh bvh_;
};

using Rows = std::vector<std::string>;

TEST(WarpTraversal, MasksByHand) {
  const HandMade made;
  const WarpTraceOptions options{.warp_size = 4, .steps = true};
  const WarpTraceResult whiles = run("while-while", made.bvh(), HandMade::rays(), {0, 4}, options);
  EXPECT_EQ(letters(whiles, 4), (Rows{"N1111", "L1111", "N1111", "N0100", "L1110", "L0100", "N0010", "L0010"}));
  EXPECT_EQ(whiles.tally[0].steps, 4U);
  EXPECT_DOUBLE_EQ(whiles.tally[0].efficiency(4), 10.0 / 16);
  EXPECT_DOUBLE_EQ(whiles.tally[1].efficiency(4), 9.0 / 16);
  EXPECT_EQ(whiles.hits[0].primitive, 0U);
  EXPECT_EQ(whiles.hits[1].primitive, 2U);
  EXPECT_EQ(whiles.hits[2].primitive, 1U);
  EXPECT_FALSE(whiles.hits[3].found());
  EXPECT_EQ(whiles.hits[2].t, 5);

  const WarpTraceResult ifs = run("if-if", made.bvh(), HandMade::rays(), {0, 4}, options);
  EXPECT_EQ(letters(ifs, 4), (Rows{"N1111", "L1111", "N1111", "L1010", "N0110", "L0110", "L0100"}));

  const WarpTraceResult ahead = run("speculative-while-while", made.bvh(), HandMade::rays(), {0, 4}, options);
  EXPECT_EQ(letters(ahead, 4), (Rows{"N1111", "L1111", "N1111", "N0110", "L1110", "L0110"}));
  EXPECT_EQ(ahead.hits, whiles.hits);
  EXPECT_EQ(ahead.ray, (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 0, 1, 2, 1, 2}));
}

TEST(WarpTraversal, PersistentByHand) {
  const HandMade made;
  const std::vector<Ray> all = HandMade::rays();
  const std::vector<Ray> rays{all[3], all[2], all[0]};
  const WarpTraceOptions options{.warp_size = 2, .steps = true};
  const std::vector<std::uint64_t> first_ray{0, 2, 3};
  const WarpTraceResult dynamic =
      run("persistent-while-while:warps=1,threshold=2", made.bvh(), rays, first_ray, options);
  EXPECT_EQ(letters(dynamic, 2), (Rows{"F11", "N11", "L11", "N11", "L01", "F10", "N11", "L11", "N10", "L10"}));
  EXPECT_EQ(dynamic.ray, (std::vector<std::uint32_t>{0, 1, 0, 1, 0, 1, 0, 1, 1, 2, 2, 1, 2, 1, 2, 2}));
  const WarpTraceResult batches = run("persistent-while-while:warps=1", made.bvh(), rays, first_ray, options);
  EXPECT_EQ(letters(batches, 2),
            (Rows{"F11", "N11", "L11", "N11", "L01", "N01", "L01", "F10", "N10", "L10", "N10", "L10"}));
  const WarpTraceResult turns =
      run("persistent-while-while:warps=2,queue=global", made.bvh(), rays, first_ray, options);
  EXPECT_EQ(letters(turns, 2),
            (Rows{"F11", "N11", "L11", "N11", "L01", "N01", "L01", "F10", "N10", "L10", "N10", "L10"}));
  EXPECT_EQ(turns.steps[7].warp, 1U);
  EXPECT_EQ(turns.hits, dynamic.hits);
  const WarpTraceResult share =
      run("persistent-while-while:warps=2,threshold=20,queue=share", made.bvh(), rays, first_ray, options);
  EXPECT_EQ(letters(share, 2).front(), "F10") << "three rays for two warps: one and two";
  EXPECT_EQ(share.hits, dynamic.hits);
}

/// The letters of a ray's steps in the scalar traversal, told from what it reads: for layouts without leaf blocks.
std::string steps_of(std::span<const Access> accesses) {
  std::string steps;
  for (const Access& access : accesses) {
    if (access.kind == AccessKind::Node) {
      steps += 'N';
    } else if (access.kind != AccessKind::Vertex) {
      steps += 'L';  // an instance, a triangle's indices or a box begins a reference
    }
  }
  return steps;
}

/// The twin: which lanes step together, from the letters alone.
struct TwinWarp {
  std::vector<std::string> steps;  ///< of each lane
  std::vector<std::size_t> at;
  std::vector<std::string> rows;

  bool step(char kind) {
    std::string row(1, kind);
    for (std::size_t lane = 0; lane < steps.size(); ++lane) {
      const bool takes = at[lane] < steps[lane].size() && steps[lane][at[lane]] == kind;
      row += takes ? '1' : '0';
    }
    if (row.find('1') == std::string::npos) {
      return false;
    }
    for (std::size_t lane = 0; lane < steps.size(); ++lane) {
      at[lane] += row[lane + 1] == '1' ? 1U : 0U;
    }
    rows.push_back(row);
    return true;
  }
  void while_while() {
    bool more = true;
    while (more) {
      more = false;
      while (step('N')) {
        more = true;
      }
      while (step('L')) {
        more = true;
      }
    }
  }
  void if_if() {
    bool more = true;
    while (more) {
      const bool node = step('N');
      more = step('L') || node;
    }
  }
};

std::vector<std::uint64_t> uneven_warps(std::size_t rays, std::uint32_t warp_size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint64_t> first{0};
  while (first.back() < rays) {
    first.push_back(std::min<std::uint64_t>(rays, first.back() + random.below(warp_size + 1)));
  }
  return first;
}

struct Case {
  const char* layout;
  const char* builder;
  std::uint32_t warp_size;
};

class WarpTraversalTwins : public testing::TestWithParam<Case> {};

TEST_P(WarpTraversalTwins, EveryLaneEqualsTheScalarTraversal) {
  const Case& which = GetParam();
  for (const AdversarialScene& scene : adversarial_scenes(71)) {
    SCOPED_TRACE(scene.name);
    const bvh::Bvh bvh = bvh::build_bvh(scene.scene, 0, scene.name, {.builder = which.builder, .layout = which.layout});
    std::vector<Ray> rays = adversarial_rays(scene.scene, 400, 5);
    for (std::size_t i = 0; i < rays.size(); i += 3) {
      rays[i].flags = i % 2 == 0 ? trace::kRayFlagTerminateOnFirstHit : trace::kRayFlagCullBackFacing;
    }
    rays[7].direction = {0, 0, 0};
    rays[100].t_min = 3;
    rays[100].t_max = 2;
    const TraceResult scalar = Traversals::create("near-first").model->trace(bvh, rays, {.accesses = true});
    const bool plain = std::string(which.layout).starts_with("wide") || std::string(which.layout) == "binary";
    const std::vector<std::uint64_t> warps = uneven_warps(rays.size(), which.warp_size, 3);
    const WarpTraceOptions options{.warp_size = which.warp_size, .accesses = true, .tests = true};
    for (const char* spec : {"while-while", "if-if"}) {
      SCOPED_TRACE(spec);
      const WarpTraceResult result = run(spec, bvh, rays, warps, options);
      ASSERT_EQ(result.hits, scalar.hits);
      ASSERT_EQ(result.counters, scalar.counters);
      ASSERT_EQ(result.ignored_rays, scalar.ignored_rays);
      ASSERT_GE(result.ignored_rays, 2U);
      // The accesses of a ray's steps, put together, are the scalar traversal's.
      std::vector<std::vector<Access>> by_ray(rays.size());
      ASSERT_EQ(result.access_offset.size(), result.ray.size() + 1);
      for (std::size_t i = 0; i < result.ray.size(); ++i) {
        for (std::uint64_t row = result.access_offset[i]; row < result.access_offset[i + 1]; ++row) {
          by_ray[result.ray[i]].push_back(result.accesses[row]);
        }
      }
      for (std::size_t ray = 0; ray < rays.size(); ++ray) {
        ASSERT_TRUE(std::ranges::equal(by_ray[ray], scalar.accesses.of(ray))) << ray;
      }
      if (!plain) {
        continue;
      }
      std::vector<std::string> expected;
      for (std::size_t warp = 0; warp + 1 < warps.size(); ++warp) {
        TwinWarp twin;
        for (std::uint64_t ray = warps[warp]; ray < warps[warp + 1]; ++ray) {
          twin.steps.push_back(steps_of(scalar.accesses.of(ray)));
        }
        twin.steps.resize(which.warp_size);
        twin.at.resize(which.warp_size);
        std::string(spec) == "if-if" ? twin.if_if() : twin.while_while();
        expected.insert(expected.end(), twin.rows.begin(), twin.rows.end());
      }
      ASSERT_EQ(letters(result, which.warp_size), expected);
    }
    for (const char* spec : {"speculative-while-while", "persistent-while-while:warps=3,threshold=20,speculative=true",
                             "persistent-while-while:warps=5,threshold=65,speculative=true,queue=share",
                             "persistent-while-while:warps=3,threshold=20", "persistent-while-while:warps=2"}) {
      SCOPED_TRACE(spec);
      const WarpTraceResult result = run(spec, bvh, rays, warps, options);
      ASSERT_EQ(result.hits, scalar.hits);
      ASSERT_EQ(result.ignored_rays, scalar.ignored_rays);
      std::uint64_t nodes = 0;
      std::uint64_t lanes = 0;
      for (const RayCounters& counters : result.counters) {
        nodes += counters.nodes;
      }
      for (const traversal::WarpStep& step : result.steps) {
        lanes += static_cast<std::uint64_t>(std::popcount(step.mask));
      }
      ASSERT_EQ(result.tally[0].lanes, nodes);
      expect_tests_of_steps(result);
      ASSERT_EQ(lanes, result.ray.size());
      if (std::string(spec).find("speculative") == std::string::npos) {
        ASSERT_EQ(result.counters, scalar.counters) << "without speculation, fetching changes no ray's own steps";
      } else {
        for (std::size_t ray = 0; ray < rays.size(); ++ray) {
          ASSERT_GE(result.counters[ray].nodes, scalar.counters[ray].nodes) << ray;
        }
      }
      if (std::string(spec).starts_with("persistent")) {
        ASSERT_EQ(result.tally[2].lanes, rays.size()) << "every ray is fetched once";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, WarpTraversalTwins,
                         testing::Values(Case{"wide-8", "medium", 32}, Case{"wide-4", "high", 8},
                                         Case{"binary", "median", 64}, Case{"compressed-wide-8", "medium", 5},
                                         Case{"quantised-6", "low", 16}, Case{"half-4", "medium", 1}),
                         [](const auto& chosen) {
                           std::string name = chosen.param.layout;
                           std::erase(name, '-');
                           return name;
                         });

TEST(WarpTraversal, SameForAnyNumberOfThreads) {
  const std::vector<AdversarialScene> scenes = adversarial_scenes(3);
  const auto found = std::ranges::find(scenes, "instances", &AdversarialScene::name);
  ASSERT_NE(found, scenes.end());
  const bvh::Bvh bvh = bvh::build_bvh(found->scene, 0, "test", {});
  const std::vector<Ray> rays = adversarial_rays(found->scene, 4000, 8);
  const std::vector<std::uint64_t> warps = uneven_warps(rays.size(), 32, 4);
  for (const std::string& name : WarpTraversals::names()) {
    const WarpTraceOptions options{.accesses = true};
    const WarpTraceResult many = run(name, bvh, rays, warps, options);
    const oneapi::tbb::global_control one(oneapi::tbb::global_control::max_allowed_parallelism, 1);
    const WarpTraceResult single = run(name, bvh, rays, warps, options);
    EXPECT_EQ(many.hits, single.hits) << name;
    EXPECT_EQ(many.counters, single.counters) << name;
    EXPECT_EQ(many.steps, single.steps) << name;
    EXPECT_EQ(many.ray, single.ray) << name;
    EXPECT_EQ(many.accesses, single.accesses) << name;
    EXPECT_EQ(many.access_offset, single.access_offset) << name;
    const WarpTraceResult tallies = run(name, bvh, rays, warps, {.counters = false});
    EXPECT_EQ(tallies.tally, single.tally) << name;
    EXPECT_EQ(tallies.hits, single.hits) << name;
    EXPECT_TRUE(tallies.steps.empty());
  }
}

TEST(WarpTraversal, WrongWarpsAreErrors) {
  const HandMade made;
  const std::vector<Ray> rays = HandMade::rays();
  const auto fails = [&](const std::vector<std::uint64_t>& first_ray, std::uint32_t warp_size) {
    for (const std::string& name : WarpTraversals::names()) {
      EXPECT_THROW((void)run(name, made.bvh(), rays, first_ray, {.warp_size = warp_size}), Error) << name;
    }
  };
  fails({0, 4}, 0);
  fails({0, 4}, 65);
  fails({0, 4}, 3);
  fails({0, 3, 2}, 4);
  fails({0, 5}, 8);
  const WarpTraceResult none = run("while-while", made.bvh(), rays, {}, {});
  EXPECT_EQ(none.hits.size(), 4U);
  EXPECT_EQ(none.tally[0].steps, 0U);
}

}  // namespace
}  // namespace rayreplay::test
