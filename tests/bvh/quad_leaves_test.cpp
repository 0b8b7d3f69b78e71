// Leaves of quantised-6 with leaves=quads: pairs of triangles, the bytes of quad, procedural and instance leaves by
// hand, and every triangle of random meshes in one quad with its vertices.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "base/error.hpp"
#include "bvh/bvh.hpp"
#include "bvh/items.hpp"
#include "bvh/layouts/quantised_6.hpp"
#include "bvh/layouts/quantised_6_leaves.hpp"
#include "bvh/triangle_pairs.hpp"
#include "tests/bvh/record_values.hpp"
#include "tests/support/counting_progress.hpp"
#include "tests/support/meshes.hpp"
#include "tests/support/ray_scenes.hpp"

namespace rayreplay::bvh {
namespace {

using Found = std::array<std::uint8_t, 3>;

const std::string kQuads = "quantised-6:leaves=quads";

TEST(SharedEdge, ByHand) {
  const Corners a{10, 11, 12};
  EXPECT_EQ(shared_edge(a, {12, 11, 13}), (Found{2, 1, 3}));
  EXPECT_EQ(shared_edge(a, {13, 10, 12}), (Found{3, 0, 2}));
  EXPECT_EQ(shared_edge(a, {11, 13, 10}), (Found{1, 3, 0}));
  EXPECT_EQ(shared_edge(a, {12, 10, 11}), (Found{2, 0, 1})) << "the same triangle again";
  EXPECT_EQ(shared_edge(a, {10, 13, 14}), std::nullopt) << "a corner is no edge";
  EXPECT_EQ(shared_edge(a, {13, 14, 15}), std::nullopt);
  EXPECT_EQ(shared_edge(a, {10, 10, 13}), std::nullopt) << "one corner twice is no edge";
  EXPECT_EQ(shared_edge(a, {10, 10, 10}), std::nullopt);
  EXPECT_EQ(shared_edge(a, {10, 10, 11}), (Found{0, 0, 1}));
  EXPECT_EQ(shared_edge({10, 10, 11}, {10, 11, 12}), (Found{0, 2, 3})) << "the lowest of equal corners";
}

/// A strip of triangles in the plane: triangle i has the vertices i, i + 1, i + 2.
trace::Geometry strip(std::uint32_t triangles) {
  trace::Geometry mesh;
  for (std::uint32_t i = 0; i < triangles + 2; ++i) {
    mesh.vertices.insert(mesh.vertices.end(), {static_cast<float>(i), static_cast<float>(i % 2), 0});
  }
  for (std::uint32_t i = 0; i < triangles; ++i) {
    mesh.indices.insert(mesh.indices.end(), {i, i + 1, i + 2});
  }
  return mesh;
}

/// `spread` triangles far from each other.
void add_islands(trace::Geometry& mesh, std::uint32_t islands) {
  for (std::uint32_t i = 0; i < islands; ++i) {
    const auto at = static_cast<std::uint32_t>(mesh.vertices.size() / 3);
    const float x = 100 + 2 * static_cast<float>(i);
    mesh.vertices.insert(mesh.vertices.end(), {x, 0, 0, x + 1, 0, 0, x, 1, 0});
    mesh.indices.insert(mesh.indices.end(), {at, at + 1, at + 2});
  }
}

std::vector<std::uint16_t> distances(const trace::Scene& scene) {
  return pair_triangles(prepare_scene(scene, 0, "t"), 0).distance;
}

constexpr std::uint16_t kSecond = TrianglePairs::kSecond;
using Distances = std::vector<std::uint16_t>;

TEST(Pairs, NeighboursAndAnOddTriangle) {
  EXPECT_EQ(distances(test::one_mesh(strip(5))), (Distances{1, kSecond, 1, kSecond, 0}));
}

TEST(Pairs, TheFirstOfTheWindowIsTaken) {
  // Triangle 1 shares a corner with 0 alone; 2 and 3 share edges with 0.
  trace::Geometry mesh = strip(4);
  mesh.indices = {0, 1, 2, 2, 3, 4, 1, 2, 3, 0, 2, 4};
  EXPECT_EQ(distances(test::one_mesh(mesh)), (Distances{2, 2, kSecond, kSecond}));
}

TEST(Pairs, TheWindowHoldsThirtyTwo) {
  for (const std::uint32_t islands : {30U, 31U}) {
    trace::Geometry mesh = strip(1);
    add_islands(mesh, islands);
    mesh.vertices.insert(mesh.vertices.end(), {3, 1, 0});
    mesh.indices.insert(mesh.indices.end(), {1, 2, static_cast<std::uint32_t>(mesh.vertices.size() / 3 - 1)});
    const Distances made = distances(test::one_mesh(mesh));
    EXPECT_EQ(made.front(), islands == 30 ? 31 : 0);
    EXPECT_EQ(made.back(), islands == 30 ? kSecond : 0);
  }
}

TEST(Pairs, OfOneGeometryAndActiveOnly) {
  trace::Scene scene = test::one_mesh(strip(1));
  scene.geometries.push_back(strip(3));
  scene.geometries[1].vertices[0] = std::numeric_limits<float>::quiet_NaN();  // its triangle 0 is inactive
  trace::Geometry boxes;
  boxes.type = trace::GeometryType::Boxes;
  boxes.boxes = {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1};
  scene.geometries.push_back(boxes);
  scene.blases[0].geometry_count = 3;
  EXPECT_EQ(distances(scene), (Distances{0, 0, 1, kSecond, 0, 0}));
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const TrianglePairs pairs = pair_triangles(prepared, 0);
  const std::vector<BuildItem> items = primitive_items(prepared, 0, &pairs);
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[1].reference, 2U);
  EXPECT_EQ(items[1].box, (Box{{1, 0, 0}, {4, 1, 0}}));
}

/// Meshes of all kinds: shared and own vertices, degenerate triangles, shuffled order.
trace::Geometry random_mesh(std::uint64_t seed) {
  test::Random random(seed);
  trace::Geometry mesh = random.one_in(2) ? test::bumpy_terrain(1200, seed) : test::doubled_grid(12);
  std::vector<std::array<std::uint32_t, 3>> triangles(mesh.indices.size() / 3);
  std::memcpy(triangles.data(), mesh.indices.data(), mesh.indices.size() * sizeof(std::uint32_t));
  for (std::size_t i = 0; i + 1 < triangles.size(); ++i) {
    if (random.one_in(3)) {
      std::swap(triangles[i], triangles[std::min(triangles.size() - 1, i + random.below(60))]);
    }
    std::rotate(triangles[i].begin(), triangles[i].begin() + random.below(3), triangles[i].end());
    if (random.one_in(40)) {
      triangles[i][random.below(3)] = triangles[i][random.below(3)];
    }
    if (random.one_in(60)) {
      triangles[i][random.below(3)] = 1U << 30U;  // out of range: inactive
    }
  }
  std::memcpy(mesh.indices.data(), triangles.data(), mesh.indices.size() * sizeof(std::uint32_t));
  return mesh;
}

/// Two corners in common, by sets.
bool share_edge_slowly(const Corners& a, const Corners& b) {
  const std::set<std::uint32_t> of_a(a.begin(), a.end());
  std::set<std::uint32_t> common;
  std::size_t missing = 0;
  for (const std::uint32_t corner : b) {
    if (of_a.contains(corner)) {
      common.insert(corner);
    } else {
      ++missing;
    }
  }
  return missing <= 1 && common.size() >= 2;
}

TEST(Pairs, EqualTheSlowOnes) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const trace::Scene scene = test::one_mesh(random_mesh(seed));
    const trace::Geometry& mesh = scene.geometries[0];
    const PreparedScene prepared = prepare_scene(scene, 0, "t");
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < mesh.primitives(); ++i) {
      if (!prepared.primitive_box(0, i).empty()) {
        left.push_back(i);
      }
    }
    Distances expected(mesh.primitives(), 0);
    std::size_t pairs = 0;
    while (!left.empty()) {
      const std::uint32_t first = left[0];
      left.erase(left.begin());
      const auto end = left.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(31, left.size()));
      const auto found = std::find_if(left.begin(), end, [&](std::uint32_t other) {
        return share_edge_slowly(corners_of(mesh, first), corners_of(mesh, other));
      });
      if (found != end) {
        expected[first] = static_cast<std::uint16_t>(*found - first);
        expected[*found] = kSecond;
        left.erase(found);
        ++pairs;
      }
    }
    EXPECT_EQ(pair_triangles(prepared, 0).distance, expected) << seed;
    EXPECT_GT(pairs, mesh.primitives() / 8) << seed;
  }
}

/// Two triangles that share an edge, one alone, one of another geometry that is not opaque; a structure of two boxes;
/// an instance of each.
trace::Scene small_scene() {
  trace::Scene scene;
  trace::Geometry mesh;
  mesh.vertices = {0, 0, 0, 4, 0, 0, 0, 4, 0, 4, 4, 0.5F, 20, 0, 0, 21, 0, 0, 20, 1, 0};
  mesh.indices = {0, 1, 2, 4, 5, 6, 2, 1, 3};
  trace::Geometry other;
  other.opaque = false;
  other.vertices = {40, 0, 0, 41, 0, 0, 40, 1, 0};
  other.indices = {0, 1, 2};
  trace::Geometry boxes;
  boxes.type = trace::GeometryType::Boxes;
  boxes.boxes = {0, 0, 0, 1, 1, 1, 8, 8, 8, 9, 9, 9};
  scene.geometries = {mesh, other, boxes};
  scene.blases = {{0, 2}, {2, 1}};
  trace::Instance first;
  first.transform = {0, -2, 0, 10, 2, 0, 0, 20, 0, 0, 2, 30};
  first.custom_index = 77;
  first.hit_group_offset = 3;
  first.mask = 0x0F;
  first.flags = 5;
  trace::Instance second;
  second.blas = 1;
  second.transform[3] = 100;
  scene.instances = {first, second};
  return scene;
}

/// Leaf blocks by their first reference.
std::map<std::uint32_t, ChildView> leaves_of(const Bvh& bvh, const Level& level) {
  std::map<std::uint32_t, ChildView> leaves;
  std::vector<std::uint32_t> open{0};
  std::array<ChildView, kMaxWidth> views;
  while (!open.empty()) {
    const std::size_t count = bvh.layout->decode(level, open.back(), views);
    open.pop_back();
    for (std::size_t slot = 0; slot < count; ++slot) {
      if (views[slot].count == 0) {
        open.push_back(views[slot].index);
      } else {
        leaves[level.references[views[slot].index]] = views[slot];
      }
    }
  }
  return leaves;
}

TEST(QuadLeaves, BytesOfTriangles) {
  const trace::Scene scene = small_scene();
  const Bvh bvh = build_bvh(scene, 0, "t", {.layout = kQuads});
  const Level& level = bvh.bottoms[0];
  ASSERT_EQ(level.node_count, 4U) << "a node and three leaves";
  ASSERT_EQ(level.nodes.size(), 4 * 64U);
  EXPECT_EQ(values_at<std::int32_t>(level, 0, 12, 1), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(values_at<std::uint8_t>(level, 0, 22, 6), (Bytes{17, 17, 17, 0, 0, 0})) << "type 4, one record";
  const auto leaves = leaves_of(bvh, level);
  ASSERT_EQ(leaves.size(), 3U);

  const ChildView quad = leaves.at(0);
  EXPECT_EQ(quad.count, 2U);
  EXPECT_EQ(level.references[quad.index + 1], 2U);
  EXPECT_TRUE(quad.box.contains(Box{{0, 0, 0}, {4, 4, 0.5F}}));
  // Distance 2; corners 2, 1, 3; last.
  EXPECT_EQ(values_at<std::uint32_t>(level, quad.block, 0, 4),
            (Words{0xFF00'0000U, 0x4000'0000U, 0, 2U | 2U << 16U | 1U << 18U | 3U << 20U | 1U << 22U}));
  EXPECT_EQ(values_at<float>(level, quad.block, 16, 12), (Floats{0, 0, 0, 4, 0, 0, 0, 4, 0, 4, 4, 0.5F}));

  const ChildView alone = leaves.at(1);
  EXPECT_EQ(alone.count, 1U);
  EXPECT_EQ(values_at<std::uint32_t>(level, alone.block, 0, 4), (Words{0xFF00'0000U, 0x4000'0000U, 1, 1U << 22U}));
  EXPECT_EQ(values_at<float>(level, alone.block, 16, 12), (Floats{20, 0, 0, 21, 0, 0, 20, 1, 0, 20, 1, 0}));

  const ChildView other = leaves.at(3);
  EXPECT_EQ(values_at<std::uint32_t>(level, other.block, 0, 4), (Words{0xFF00'0001U, 1, 0, 1U << 22U}))
      << "geometry 1, not opaque";
}

TEST(QuadLeaves, BytesOfBoxesAndInstances) {
  const trace::Scene scene = small_scene();
  const Bvh bvh = build_bvh(scene, 0, "t", {.layout = kQuads});
  const Level& boxes = bvh.bottoms[1];
  ASSERT_EQ(boxes.nodes.size(), 3 * 64U);
  EXPECT_EQ(values_at<std::uint8_t>(boxes, 0, 22, 6), (Bytes{13, 13, 0, 0, 0, 0})) << "type 3, one record";
  const ChildView box = leaves_of(bvh, boxes).at(1);
  EXPECT_EQ(values_at<std::uint32_t>(boxes, box.block, 0, 5),
            (Words{0xFF00'0000U, 0x4000'0000U, 1U | 1U << 19U, 1, 0xFFFF'FFFFU}));
  EXPECT_EQ(values_at<std::uint32_t>(boxes, box.block, 60, 1), (Words{0xFFFF'FFFFU}));

  const Level& top = bvh.top;
  ASSERT_EQ(top.nodes.size(), (1 + 2 * 2) * 64U) << "instances take 128 bytes";
  EXPECT_EQ(values_at<std::uint8_t>(top, 0, 22, 6), (Bytes{6, 6, 0, 0, 0, 0})) << "type 1, two records";
  const auto leaves = leaves_of(bvh, top);
  EXPECT_EQ(leaves.at(0).block % 2, 1U);
  EXPECT_EQ(leaves.at(0).block + leaves.at(1).block, 1U + 3U);
  const std::uint32_t at = leaves.at(0).block;
  EXPECT_EQ(values_at<std::uint32_t>(top, at, 0, 2), (Words{0x0F00'0000U, 3}));
  const std::uint64_t root = bvh.memory.bottom_nodes[0];
  EXPECT_GT(root, 0U);
  EXPECT_EQ(values_at<std::uint64_t>(top, at, 8, 1), (Longs{root | std::uint64_t{5} << 48U}));
  // The inverse of (x, y, z) → (10 − 2y, 20 + 2x, 30 + 2z), column by column.
  EXPECT_EQ(values_at<float>(top, at, 16, 9), (Floats{0, -0.5F, 0, 0.5F, 0, 0, 0, 0, 0.5F}));
  EXPECT_EQ(values_at<float>(top, at, 52, 3), (Floats{10, 20, 30}));
  EXPECT_EQ(values_at<std::uint64_t>(top, at, 64, 1), (Longs{root}));
  EXPECT_EQ(values_at<std::uint32_t>(top, at, 72, 2), (Words{77, 0}));
  EXPECT_EQ(values_at<float>(top, at, 80, 9), (Floats{0, 2, 0, -2, 0, 0, 0, 0, 2}));
  EXPECT_EQ(values_at<float>(top, at, 116, 3), (Floats{-10, 5, -15}));
  EXPECT_EQ(values_at<std::uint64_t>(top, leaves.at(1).block, 8, 1), (Longs{bvh.memory.bottom_nodes[1]}));
  EXPECT_EQ(values_at<std::uint32_t>(top, leaves.at(1).block, 72, 2), (Words{0, 1}));
}

TEST(QuadLeaves, MemoryCountsWhatTraversalsRead) {
  const trace::Scene scene = small_scene();
  const Bvh quads = build_bvh(scene, 0, "t", {.layout = kQuads});
  EXPECT_EQ(quads.memory.read, 512U + 256U + 256U) << "320, 256 and 192 bytes of nodes, on boundaries of 256";
  EXPECT_EQ(quads.memory.bottom_nodes[0], 512U + 256U) << "behind nodes and instances of the top";
  EXPECT_GT(quads.memory.end, quads.memory.read);
  const Bvh references = build_bvh(scene, 0, "t", {.layout = "quantised-6"});
  EXPECT_EQ(references.memory.read, references.memory.end);
}

/// Every active triangle is in one quad (splitting builders: at least one) with its vertices.
void expect_quads_of(const trace::Scene& scene, const Bvh& bvh, std::uint32_t blas, bool splits) {
  const Level& level = bvh.bottoms[blas];
  std::map<std::uint32_t, std::uint32_t> seen;
  for (const auto& [first, view] : leaves_of(bvh, level)) {
    const QuadLeaf& leaf = quad_leaf(level, view.block);
    ASSERT_EQ(leaf.triangles(), view.count);
    const std::uint32_t geometry = leaf.descriptor.geometry();
    const trace::Geometry& mesh = bvh.scene.geometry(blas, geometry);
    EXPECT_EQ(leaf.descriptor.opaque(), mesh.opaque);
    for (std::uint32_t i = 0; i < view.count; ++i) {
      const std::uint32_t primitive = i == 0 ? leaf.primitive : leaf.second_primitive();
      const std::uint32_t number = bvh.scene.blases[blas].first_primitive[geometry] + primitive;
      ASSERT_EQ(level.references[view.index + i], number);
      ++seen[number];
      const Corners corners = corners_of(mesh, primitive);
      for (std::uint32_t corner = 0; corner < 3; ++corner) {
        const auto& vertex = leaf.vertices[i == 0 ? corner : leaf.corner(corner)];
        ASSERT_EQ(std::memcmp(vertex.data(), &mesh.vertices[std::size_t{corners[corner]} * 3], 12), 0)
            << number << " corner " << corner;
      }
      if (!splits) {
        EXPECT_TRUE(view.box.contains(bvh.scene.primitive_box(blas, number)));
      }
    }
  }
  for (std::uint32_t number = 0; number < bvh.scene.blases[blas].primitives(); ++number) {
    const bool active = !bvh.scene.primitive_box(blas, number).empty();
    ASSERT_EQ(seen[number] > 0, active) << number;
  }
  EXPECT_EQ(scene.geometries.size(), bvh.memory.geometries.size());
}

TEST(QuadLeaves, HoldEveryTriangleWithItsVertices) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    trace::Scene scene = test::one_mesh(random_mesh(seed));
    scene.geometries.push_back(random_mesh(seed + 100));
    scene.geometries[1].opaque = false;
    scene.blases[0].geometry_count = 2;
    for (const std::string& builder : Builders::names()) {
      for (const std::string& order : NodeOrders::names()) {
        SCOPED_TRACE(builder + " " + order + " " + std::to_string(seed));
        test::CountingProgress progress;
        const Bvh bvh = build_bvh(scene, 0, "t",
                                  {.builder = builder, .layout = kQuads, .node_order = order, .progress = &progress});
        expect_quads_of(scene, bvh, 0, builder == "high");
        EXPECT_EQ(progress.done, progress.total);
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

TEST(QuadLeaves, EveryInstanceHasItsLeaf) {
  trace::Scene scene = small_scene();
  test::Random random(5);
  for (int i = 0; i < 300; ++i) {
    trace::Instance instance;
    instance.blas = random.below(2);
    instance.transform = test::random_transform(random);
    instance.custom_index = 1000U + static_cast<std::uint32_t>(i);
    scene.instances.push_back(instance);
  }
  for (const std::string& order : NodeOrders::names()) {
    const Bvh bvh = build_bvh(scene, 0, "t", {.layout = kQuads, .node_order = order});
    const auto leaves = leaves_of(bvh, bvh.top);
    EXPECT_EQ(leaves.size(),
              static_cast<std::size_t>(std::ranges::count_if(bvh.scene.instances, &SceneInstance::active)));
    for (const auto& [number, view] : leaves) {
      InstanceLeaf leaf;
      std::memcpy(&leaf, bvh.top.record(view.block), sizeof(leaf));
      ASSERT_EQ(leaf.instance, number) << order;
      ASSERT_EQ(leaf.custom_index, scene.instances[number].custom_index);
      ASSERT_EQ(leaf.structure, bvh.memory.bottom_nodes[scene.instances[number].blas]);
      ASSERT_LT(view.block + 1, bvh.top.node_count);
    }
  }
}

TEST(QuadLeaves, SameBytesForAnyNumberOfThreads) {
  const trace::Scene scene = test::random_scene({.seed = 3});
  const Bvh expected = build_bvh(scene, 0, "t", {.layout = kQuads});
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, 1);
  const Bvh single = build_bvh(scene, 0, "t", {.layout = kQuads});
  EXPECT_EQ(single.top.nodes, expected.top.nodes);
  ASSERT_EQ(single.bottoms.size(), expected.bottoms.size());
  for (std::size_t i = 0; i < single.bottoms.size(); ++i) {
    EXPECT_EQ(single.bottoms[i].nodes, expected.bottoms[i].nodes);
  }
}

TEST(QuadLeaves, WrongUsesAreErrors) {
  const trace::Scene scene = small_scene();
  const auto message = [](const auto& act) {
    try {
      act();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message([&] { (void)build_bvh(scene, 0, "t", {.builder = "median:leaf_size=2", .layout = kQuads}); }),
              testing::AllOf(testing::HasSubstr("leaf size"), testing::HasSubstr("at most 1")));
  EXPECT_THAT(message([&] { (void)build_bvh(scene, 0, "t", {.layout = "quantised-6:leaves=squares"}); }),
              testing::HasSubstr("quads"));
  const Tree tree{{{0, 1}}, {{{}, 0, 1}}, {0}, {}};
  const auto layout = Layouts::create(kQuads).model;
  const auto order = NodeOrders::create("depth-first").model;
  EXPECT_THAT(message([&] { (void)layout->encode(tree, *order); }), testing::HasSubstr("without its primitives"));
  EXPECT_TRUE(layout->encode({}, *order).empty());
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree apart{{{0, 1}}, {{Box{{0, 0, 0}, {1, 1, 1}}, 0, 2}}, {0, 1}, {}};
  EXPECT_THAT(message([&] {
                (void)layout->encode_leaves(apart, *order, {&prepared, 0});
              }),
              testing::HasSubstr("no pair"));
  EXPECT_THAT(message([&] {
                (void)layout->encode_leaves(apart, *order, {&prepared, 1});
              }),
              testing::HasSubstr("does not fit"));
  EXPECT_THAT(message([&] { (void)layout->encode_leaves(apart, *order, {&prepared}); }),
              testing::HasSubstr("does not fit"));
}

}  // namespace
}  // namespace rayreplay::bvh
