// Do counters, access logs and test logs say what happened, and do they agree with each other?
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bvh/bvh.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/ray_scenes.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {
namespace {

/// Three boxes in a row along x, one instance: what a ray along x does can be counted by hand.
struct Row {
  Row() {
    trace::Geometry boxes;
    boxes.type = trace::GeometryType::Boxes;
    boxes.opaque = false;
    for (const float x : {0.0F, 10.0F, 20.0F}) {
      boxes.boxes.insert(boxes.boxes.end(), {x, 0.0F, 0.0F, x + 1, 1.0F, 1.0F});
    }
    scene = test::one_mesh(boxes);
    bvh = bvh::build_bvh(scene, 0, "test", {.builder = "medium:leaf_size=1"});
    ray.origin = {-1, 0.5F, 0.5F};
    ray.direction = {1, 0, 0};
  }

  trace::Scene scene;
  bvh::Bvh bvh;
  Ray ray;
};

/// Hits every box where the ray enters it; accepts those whose primitive is at least `first`.
class EntryShaders final : public Shaders {
 public:
  explicit EntryShaders(std::uint32_t first) : first_(first) {}
  [[nodiscard]] Report intersect(std::size_t /*ray*/, const Candidate& candidate, float /*t_max*/) const override {
    return {true, 1 + 10 * static_cast<float>(candidate.primitive), 3};
  }
  [[nodiscard]] bool accept(std::size_t /*ray*/, const Candidate& candidate, float /*t*/,
                            std::uint8_t hit_kind) const override {
    EXPECT_EQ(hit_kind, 3);
    return candidate.primitive >= first_;
  }

 private:
  std::uint32_t first_;
};

TEST(Counters, ByHand) {
  const Row row;
  const EntryShaders shaders(1);
  for (const char* name : {"near-first", "ordered", "short-stack"}) {
    const TraceResult result =
        Traversals::create(name).model->trace(row.bvh, {&row.ray, 1}, {.tests = true, .shaders = &shaders});
    EXPECT_EQ(result.hits[0].t, 11) << name;
    EXPECT_EQ(result.hits[0].primitive, 1U) << name;
    EXPECT_EQ(result.hits[0].hit_kind, 3) << name;
    const RayCounters& counters = result.counters[0];
    EXPECT_EQ(counters.nodes, 2U) << name << ": a root a level";
    EXPECT_EQ(counters.boxes, 4U) << name << ": one child above, three below";
    EXPECT_EQ(counters.leaves, 3U) << name << ": the instance's, and two of the three below";
    EXPECT_EQ(counters.instances, 1U) << name;
    EXPECT_EQ(counters.triangles, 0U) << name;
    EXPECT_EQ(counters.procedurals, 2U) << name << ": the third box lies behind the hit";
    EXPECT_EQ(counters.any_hits, 2U) << name;
    EXPECT_EQ(counters.restarts, 0U) << name;
    const auto tests = result.tests.of(0);
    ASSERT_EQ(tests.size(), 2U) << name;
    EXPECT_TRUE(tests[0].hit && !tests[0].accepted && tests[0].procedural && tests[0].t == 1) << name;
    EXPECT_TRUE(tests[1].hit && tests[1].accepted && tests[1].t == 11) << name;
  }
}

TEST(Counters, FirstHitEndsTheTraversal) {
  Row row;
  row.ray.flags = trace::kRayFlagTerminateOnFirstHit;
  const EntryShaders shaders(0);
  const TraceResult result = Traversals::create("ordered").model->trace(row.bvh, {&row.ray, 1}, {.shaders = &shaders});
  EXPECT_EQ(result.hits[0].t, 1);
  EXPECT_EQ(result.counters[0].procedurals, 1U);
}

TEST(Counters, NoShadersNoHits) {
  const Row row;
  const TraceResult result = Traversals::create("near-first").model->trace(row.bvh, {&row.ray, 1});
  EXPECT_FALSE(result.hits[0].found());
  EXPECT_EQ(result.counters[0].procedurals, 3U);
}

TEST(Accesses, AddressesByHand) {
  const Row row;
  const TraceResult result = Traversals::create("near-first").model->trace(row.bvh, {&row.ray, 1}, {.accesses = true});
  const auto& memory = row.bvh.memory;
  const std::uint32_t bytes = row.bvh.traits.node_bytes;
  const std::uint64_t boxes = memory.geometries[0].boxes;
  const std::vector<Access> want{{memory.top_nodes, bytes, AccessKind::Node},
                                 {memory.instances, 64, AccessKind::Instance},
                                 {memory.bottom_nodes[0], bytes, AccessKind::Node},
                                 {boxes, 24, AccessKind::Box},
                                 {boxes + 24, 24, AccessKind::Box},
                                 {boxes + 48, 24, AccessKind::Box}};
  EXPECT_EQ(std::vector(result.accesses.of(0).begin(), result.accesses.of(0).end()), want);
}

/// Leaves that hold what they are: one access each, and none for their tests.
TEST(Accesses, LeavesThatHoldPrimitives) {
  const Row row;
  const bvh::Bvh bvh = bvh::build_bvh(row.scene, 0, "test", {.layout = "quantised-6:leaves=quads"});
  for (const char* name : {"near-first", "ordered", "short-stack"}) {
    const TraceResult result = Traversals::create(name).model->trace(bvh, {&row.ray, 1}, {.accesses = true});
    const std::uint64_t bottom = bvh.memory.bottom_nodes[0];
    const std::vector<Access> want{{bvh.memory.top_nodes, 64, AccessKind::Node},
                                   {bvh.memory.top_nodes + 64, 64, AccessKind::Instance},
                                   {bottom, 64, AccessKind::Node},
                                   {bottom + 64, 64, AccessKind::Box},
                                   {bottom + 128, 64, AccessKind::Box},
                                   {bottom + 192, 64, AccessKind::Box}};
    std::vector<Access> made(result.accesses.of(0).begin(), result.accesses.of(0).end());
    std::ranges::sort(made, {}, &Access::address);
    EXPECT_EQ(made, want) << name;
    EXPECT_EQ(result.counters[0].procedurals, 3U) << name;
  }
}

TEST(Accesses, TriangleReadsItsIndicesAndVertices) {
  trace::Geometry mesh;
  mesh.vertices = {9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  mesh.indices = {1, 2, 3};
  const trace::Scene scene = test::one_mesh(mesh);
  Ray ray;
  ray.origin = {0.25F, 0.25F, 1};
  ray.direction = {0, 0, -1};
  for (const char* order : {"as-given", "random"}) {
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.vertex_order = order});
    const auto result = Traversals::create("near-first").model->trace(bvh, {&ray, 1}, {.accesses = true});
    const auto rows = result.accesses.of(0);
    ASSERT_EQ(rows.size(), 7U);
    const bvh::GeometryMemory& memory = bvh.memory.geometries[0];
    EXPECT_EQ(rows[3], (Access{memory.indices, 12, AccessKind::Index}));
    for (std::uint32_t corner = 0; corner < 3; ++corner) {
      const std::uint32_t place = memory.vertex_place.empty() ? corner + 1 : memory.vertex_place[corner + 1];
      EXPECT_EQ(rows[4 + corner], (Access{memory.vertices + std::uint64_t{place} * 12, 12, AccessKind::Vertex}));
    }
  }
}

TEST(Accesses, AgreeWithCountersAndTests) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const trace::Scene scene = test::random_scene({.seed = seed});
    const std::vector<Ray> rays = test::random_rays(seed, 300, true);
    std::vector<std::string> layouts = bvh::Layouts::names();
    layouts.emplace_back("quantised-6:leaves=quads");
    for (const std::string& layout : layouts) {
      const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = layout});
      const test::SphereShaders shaders(bvh.scene, rays);
      for (const std::string& name : Traversals::names()) {
        const auto result =
            Traversals::create(name).model->trace(bvh, rays, {.accesses = true, .tests = true, .shaders = &shaders});
        for (std::size_t ray = 0; ray < rays.size(); ++ray) {
          const RayCounters& counters = result.counters[ray];
          const auto accesses = result.accesses.of(ray);
          const auto count = [&](AccessKind kind) {
            return static_cast<std::uint32_t>(std::ranges::count(accesses, kind, &Access::kind));
          };
          const std::string what = layout + " " + name + " ray " + std::to_string(ray);
          ASSERT_GE(count(AccessKind::Node), counters.nodes) << what;
          ASSERT_LE(count(AccessKind::Node), counters.nodes + counters.leaves) << what;
          if (bvh.traits.holds_primitives) {
            ASSERT_EQ(count(AccessKind::Node), counters.nodes) << what;
            ASSERT_EQ(count(AccessKind::Index), 0U) << what;
            ASSERT_EQ(count(AccessKind::Instance) + count(AccessKind::Vertex) + count(AccessKind::Box), counters.leaves)
                << what;
            ASSERT_LE(counters.triangles, 2 * count(AccessKind::Vertex)) << what;
          } else {
            ASSERT_EQ(count(AccessKind::Index), counters.triangles) << what;
            ASSERT_EQ(count(AccessKind::Vertex), 3 * counters.triangles) << what;
          }
          ASSERT_GE(count(AccessKind::Box), counters.procedurals) << what;
          ASSERT_GE(count(AccessKind::Instance), counters.instances) << what;
          ASSERT_LE(counters.boxes, counters.nodes * bvh.traits.width) << what;
          ASSERT_GE(counters.boxes, counters.nodes) << what;
          const auto tests = result.tests.of(ray);
          ASSERT_EQ(tests.size(), counters.triangles + counters.procedurals) << what;
          for (const Access& access : accesses) {
            ASSERT_LE(access.address + access.bytes, bvh.memory.end) << what;
          }
          float limit = bvh::kFarthest;
          for (const PrimitiveTest& test : tests) {
            ASSERT_LE(test.t_max, limit) << what;
            limit = test.t_max;
            ASSERT_TRUE(!test.accepted || test.hit) << what;
            ASSERT_TRUE(!test.hit || test.t <= test.t_max) << what;
          }
        }
      }
    }
  }
}

/// The stack's size changes what is read, never what is tested.
TEST(ShortStack, TestsWhatNearFirstTests) {
  const trace::Scene scene = test::random_scene({.seed = 4, .primitives = 400});
  const std::vector<Ray> rays = test::random_rays(4, 500, true);
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test");
  const test::SphereShaders shaders(bvh.scene, rays);
  const TraceOptions options{.tests = true, .shaders = &shaders};
  const TraceResult full = Traversals::create("near-first").model->trace(bvh, rays, options);
  std::uint64_t nodes_before = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint32_t entries : {1U, 2U, 5U, 64U}) {
    const auto spec = "short-stack:entries=" + std::to_string(entries);
    const TraceResult result = Traversals::create(spec).model->trace(bvh, rays, options);
    EXPECT_EQ(result.hits, full.hits);
    EXPECT_EQ(result.tests.offset, full.tests.offset);
    EXPECT_EQ(result.tests.rows, full.tests.rows);
    std::uint64_t restarts = 0, nodes = 0;
    for (const RayCounters& counters : result.counters) {
      restarts += counters.restarts;
      nodes += counters.nodes;
      EXPECT_LE(counters.stack_depth, 2 * entries) << "both levels";
    }
    EXPECT_EQ(restarts == 0, entries == 64) << spec;
    EXPECT_LE(nodes, nodes_before) << spec;
    nodes_before = nodes;
  }
  for (std::size_t ray = 0; ray < rays.size(); ++ray) {
    const RayCounters same =
        Traversals::create("short-stack:entries=64").model->trace(bvh, {&rays[ray], 1}).counters[0];
    ASSERT_EQ(same.restarts, 0U);
  }
}

/// The ordered traversal tests nothing beyond the closest hit, and nothing less than any other does up to it.
TEST(Ordered, TestsExactlyWhatLiesBeforeTheHit) {
  const trace::Scene scene = test::random_scene({.seed = 9, .flags = false});
  const std::vector<Ray> rays = test::random_rays(9, 400, false);
  for (const char* layout : {"binary", "wide-8", "compressed-wide-8"}) {
    const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test", {.layout = layout});
    const test::SphereShaders shaders(bvh.scene, rays);
    const TraceResult result =
        Traversals::create("ordered").model->trace(bvh, rays, {.tests = true, .shaders = &shaders});
    std::size_t tested = 0;
    for (std::size_t ray = 0; ray < rays.size(); ++ray) {
      if (!is_traversable(rays[ray])) {
        continue;
      }
      const RaySpace world = world_space(rays[ray]);
      const float limit = std::min({rays[ray].t_max, result.hits[ray].t, bvh::kFarthest});
      std::multiset<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> want, got;
      for (const PrimitiveTest& test : result.tests.of(ray)) {
        got.emplace(test.candidate.instance, test.candidate.geometry, test.candidate.primitive);
      }
      for (std::uint32_t i = 0; i < bvh.scene.instances.size(); ++i) {
        const bvh::SceneInstance& instance = bvh.scene.instances[i];
        if (!instance.active || !bvh::meet(instance.world, world.box, limit).met) {
          continue;
        }
        const RaySpace space = instance.identity ? world : object_space(world, instance.to_object);
        for (std::uint32_t number = 0; number < bvh.scene.blases[instance.blas].primitives(); ++number) {
          const bvh::Box box = bvh.scene.primitive_box(instance.blas, number);
          if (!box.empty() && bvh::meet(box, space.box, limit).met) {
            const auto [geometry, primitive] = bvh.scene.locate(instance.blas, number);
            want.emplace(i, geometry, primitive);
          }
        }
      }
      ASSERT_EQ(got, want) << layout << " ray " << ray;
      tested += got.size();
    }
    EXPECT_GT(tested, 300U);
  }
}

TEST(Rays, ThoseThatCannotBeTracedAreCounted) {
  const Row row;
  std::vector<Ray> rays(5, row.ray);
  rays[1].direction = {0, 0, 0};
  rays[2].origin[0] = std::numeric_limits<float>::infinity();
  rays[3].t_min = 2;
  rays[3].t_max = 1;
  for (const std::string& name : Traversals::names()) {
    const TraceResult result = Traversals::create(name).model->trace(row.bvh, rays);
    EXPECT_EQ(result.ignored_rays, 3U) << name;
    EXPECT_EQ(result.counters[1], RayCounters{}) << name;
    EXPECT_GT(result.counters[4].nodes, 0U) << name;
  }
}

TEST(Scenes, EmptyOnesAreMissed) {
  trace::Scene scene = test::one_mesh({});
  const bvh::Bvh bvh = bvh::build_bvh(scene, 0, "test");
  Ray ray;
  ray.direction = {0, 0, 1};
  for (const std::string& name : Traversals::names()) {
    const TraceResult result = Traversals::create(name).model->trace(bvh, {&ray, 1}, {.accesses = true, .tests = true});
    EXPECT_FALSE(result.hits[0].found()) << name;
    EXPECT_TRUE(result.accesses.size() == 0 && result.tests.rows.empty()) << name;
    EXPECT_TRUE(Traversals::create(name).model->trace(bvh, {}, {.accesses = true}).hits.empty()) << name;
  }
}

}  // namespace
}  // namespace rayreplay::traversal
