// Quality against answers worked out by hand, and against slow twins.
#include <cmath>

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "bvh/bvh.hpp"
#include "bvh/geometry/box_ray.hpp"
#include "bvh/geometry/polygon.hpp"
#include "bvh/reports/quality.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::bvh {
namespace {

trace::Scene boxes(const std::vector<Box>& list) {
  trace::Geometry geometry;
  geometry.type = trace::GeometryType::Boxes;
  for (const Box& box : list) {
    geometry.boxes.insert(geometry.boxes.end(), box.low.begin(), box.low.end());
    geometry.boxes.insert(geometry.boxes.end(), box.high.begin(), box.high.end());
  }
  return test::one_mesh(geometry);
}

trace::Scene triangles(const std::vector<std::array<float, 9>>& list) {
  trace::Geometry geometry;
  for (const std::array<float, 9>& triangle : list) {
    for (std::uint32_t corner = 0; corner < 3; ++corner) {
      geometry.indices.push_back(static_cast<std::uint32_t>(geometry.vertices.size() / 3) + corner);
    }
    geometry.vertices.insert(geometry.vertices.end(), triangle.begin(), triangle.end());
  }
  return test::one_mesh(geometry);
}

Tree tree_of(const PreparedScene& scene, const std::string& builder, BuildLimits limits) {
  return build_trees(scene, *Builders::create(builder).model, limits, 0, nullptr)[1];
}

Box cube(float low, float high) {
  return {{low, low, low}, {high, high, high}};
}

TEST(Quality, TwoDisjointBoxes) {
  const trace::Scene scene = boxes({cube(0, 1), cube(2, 4)});
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree tree = tree_of(prepared, "median", {2, 1});
  const TreeQuality quality = measure(prepared, 1, tree, {}, {.traversal = 1.5, .intersection = 2});
  // Half areas: the root's 3·16, the leaves' 3·1 and 3·4.
  EXPECT_DOUBLE_EQ(quality.sah, 1.5 + 2 * 3.0 / 48 + 2 * 12.0 / 48);
  EXPECT_EQ(quality.epo, 0);
  EXPECT_EQ(quality.nodes, 1U);
  EXPECT_EQ(quality.leaves, 2U);
  EXPECT_EQ(quality.items, 2U);
  EXPECT_EQ(quality.references_per_item, 1);
  EXPECT_EQ(quality.leaf_depths, (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(quality.leaf_sizes, (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(quality.rays, 0U);
}

TEST(Quality, TwoOverlappingBoxes) {
  const trace::Scene scene = boxes({cube(0, 2), cube(1, 3)});
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree tree = tree_of(prepared, "median", {2, 1});
  // Each has three unit squares of its surface of 24 inside the other's leaf, which costs 2.
  EXPECT_DOUBLE_EQ(end_point_overlap(prepared, 1, tree, {.traversal = 1.5, .intersection = 2}), 2 * (3.0 + 3.0) / 48);
}

TEST(Quality, TriangleThroughAnothersBox) {
  // The first spans the cube 0…2; the second, in the plane y = 1, lies in it with the half at x < 2.
  const trace::Scene scene = triangles({{0, 0, 0, 2, 2, 0, 0, 2, 2}, {0, 1, 0.5F, 4, 1, 0.5F, 0, 1, 1.5F}});
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree tree = tree_of(prepared, "median", {2, 1});
  const double first = std::sqrt(48.0) / 2;
  const double second = 4 * 1 / 2.0;
  // Of the second, x <= 2 keeps all but a triangle of a quarter. Of the first, the second's flat box keeps a line.
  EXPECT_NEAR(end_point_overlap(prepared, 1, tree, {.traversal = 1, .intersection = 1}),
              second * 0.75 / (first + second), 1e-12);
}

TEST(Quality, LeavesMetByRays) {
  const trace::Scene scene = boxes({cube(0, 1), cube(2, 3), cube(4, 5), cube(6, 7)});
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree tree = tree_of(prepared, "median", {2, 1});
  const std::vector<QualityRay> rays = {
      {{-1, -1, -1}, {1, 1, 1}, 0, 100},             // all four
      {{-1, -1, -1}, {1, 1, 1}, 0, 3.5F},            // two
      {{-1, 0.5F, 0.5F}, {1, 0, 0}, 0, INFINITY},    // one
      {{-1, 0.5F, 0.5F}, {-1, 0, 0}, 0, INFINITY},   // none
      {{0.5F, 0.5F, 0.5F}, {0, 0, 1}, 0, INFINITY},  // begins inside one
  };
  const LeafCount leaves = leaf_count_variability(tree, rays);
  EXPECT_DOUBLE_EQ(leaves.mean, 8.0 / 5);
  EXPECT_DOUBLE_EQ(leaves.deviation, std::sqrt((16 + 4 + 1 + 0 + 1) / 5.0 - 64.0 / 25));
}

/// Every pair of a node and an item that is not below it, each clipped from the whole.
double slow_overlap(const PreparedScene& scene, const Tree& tree, const QualityCosts& costs) {
  const trace::Geometry& mesh = scene.geometry(0, 0);
  const auto polygon = [&](std::uint32_t primitive) {
    std::array<Polygon::Point, 3> corners;
    for (std::size_t corner = 0; corner < 3; ++corner) {
      for (unsigned k = 0; k < 3; ++k) {
        corners[corner][k] =
            static_cast<double>(mesh.vertices[std::size_t{mesh.indices[primitive * std::size_t{3} + corner]} * 3 + k]);
      }
    }
    return Polygon(corners[0], corners[1], corners[2]);
  };
  double paid = 0;
  const std::function<std::vector<std::uint32_t>(const TreeChild&)> visit = [&](const TreeChild& child) {
    std::vector<std::uint32_t> inside;
    if (child.is_leaf()) {
      inside.assign(tree.references.begin() + child.index, tree.references.begin() + child.index + child.count);
    } else {
      for (std::uint32_t i = 0; i < tree.nodes[child.index].child_count; ++i) {
        const auto more = visit(tree.children[tree.nodes[child.index].first_child + i]);
        inside.insert(inside.end(), more.begin(), more.end());
      }
    }
    for (std::uint32_t p = 0; p < mesh.primitives(); ++p) {
      if (std::ranges::find(inside, p) == inside.end()) {
        Polygon part = polygon(p);
        part.clip(child.box);
        paid += part.double_area() / 2 * (child.is_leaf() ? costs.intersection * child.count : costs.traversal);
      }
    }
    return inside;
  };
  visit({tree.bounds, 0, 0});
  double area = 0;
  for (std::uint32_t p = 0; p < mesh.primitives(); ++p) {
    area += polygon(p).double_area() / 2;
  }
  return paid / area;
}

trace::Scene random_triangles(std::size_t count, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<std::array<float, 9>> list;
  for (std::size_t i = 0; i < count; ++i) {
    const std::array<float, 3> at{random.unit(), random.unit(), random.unit()};
    std::array<float, 9> triangle{};
    for (std::size_t k = 0; k < 9; ++k) {
      triangle[k] = at[k % 3] + 0.4F * random.unit();
    }
    list.push_back(triangle);
  }
  return triangles(list);
}

TEST(Quality, OverlapAgreesWithTheSlowTwin) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const trace::Scene scene = random_triangles(150, seed);
    const PreparedScene prepared = prepare_scene(scene, 0, "t");
    for (const char* builder : {"low", "medium", "high:extra_references=2", "median"}) {
      const Tree tree = tree_of(prepared, builder, {4, 3});
      const QualityCosts costs{.traversal = 1.2, .intersection = 0.7};
      const double expected = slow_overlap(prepared, tree, costs);
      EXPECT_GT(expected, 0);
      EXPECT_NEAR(end_point_overlap(prepared, 1, tree, costs), expected, 1e-9 * expected) << builder;
    }
  }
}

TEST(Quality, LeafCountAgreesWithTheSlowTwin) {
  const trace::Scene scene = random_triangles(3000, 3);
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree tree = tree_of(prepared, "medium", {8, 4});
  const std::vector<QualityRay> rays = random_rays(tree.bounds, 500, 1);
  ASSERT_EQ(rays.size(), 500U);
  double sum = 0;
  double squares = 0;
  for (const QualityRay& ray : rays) {
    double leaves = 0;
    for (const TreeChild& child : tree.children) {
      // Interval arithmetic in double: what rounding could decide does not occur in these rays.
      double near = static_cast<double>(ray.t_min);
      double far = static_cast<double>(ray.t_max);
      for (unsigned k = 0; k < 3; ++k) {
        const double origin = static_cast<double>(ray.origin[k]);
        const double direction = static_cast<double>(ray.direction[k]);
        const double a = (static_cast<double>(child.box.low[k]) - origin) / direction;
        const double b = (static_cast<double>(child.box.high[k]) - origin) / direction;
        near = std::max(near, std::min(a, b));
        far = std::min(far, std::max(a, b));
      }
      leaves += child.is_leaf() && near <= far ? 1 : 0;
    }
    sum += leaves;
    squares += leaves * leaves;
  }
  const LeafCount count = leaf_count_variability(tree, rays);
  EXPECT_GT(count.mean, 1);
  EXPECT_NEAR(count.mean, sum / 500, 0.01 * count.mean);
  EXPECT_NEAR(count.deviation, std::sqrt(squares / 500 - sum * sum / 250000), 0.01 * count.deviation);
}

TEST(Quality, BetterBuildersMakeBetterTrees) {
  const trace::Scene scene = test::one_mesh(test::bumpy_terrain(20000, 7));
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const auto sah = [&](const char* builder) { return measure_tree(tree_of(prepared, builder, {8, 4})).sah; };
  const double medium = sah("medium");
  EXPECT_LT(medium, sah("median"));
  EXPECT_LT(medium, sah("low"));
  EXPECT_LT(sah("high"), 1.02 * medium);
}

TEST(Quality, SameForAnyNumberOfThreads) {
  const trace::Scene scene = test::one_mesh(test::bumpy_terrain(20000, 5));
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree tree = tree_of(prepared, "medium", {8, 4});
  const std::vector<QualityRay> rays = random_rays(tree.bounds, 5000, 9);
  const auto figures = [&] {
    const TreeQuality quality = measure(prepared, 1, tree, rays);
    return std::array<double, 4>{quality.sah, quality.epo, quality.lcv, quality.mean_leaves};
  };
  const std::array<double, 4> expected = figures();
  for (const std::size_t threads : {1U, 3U, 16U}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    EXPECT_EQ(figures(), expected) << threads;
  }
}

TEST(Quality, OfNothingAndOfAPoint) {
  EXPECT_EQ(measure_tree({}).sah, 0);
  const trace::Scene scene = boxes({cube(1, 1), cube(1, 1)});
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const Tree tree = tree_of(prepared, "median", {2, 1});
  const TreeQuality quality = measure(prepared, 1, tree, random_rays(tree.bounds, 10, 1), {1, 1});
  EXPECT_EQ(quality.sah, 3);  // every node is met
  EXPECT_EQ(quality.epo, 0);
  EXPECT_EQ(quality.rays, 10U);
}

TEST(Quality, RaysOfALaunch) {
  trace::Launch launch;
  trace::Rays& rays = launch.data.rays;
  for (std::size_t i = 0; i < 10; ++i) {
    for (trace::Column<float>* column :
         {&rays.origin_x, &rays.origin_y, &rays.origin_z, &rays.direction_x, &rays.direction_y, &rays.t_min}) {
      column->push_back(static_cast<float>(i));
    }
    rays.direction_z.push_back(i == 6 ? NAN : 1);
    rays.t_max.push_back(INFINITY);
  }
  rays.direction_z[0] = 0;  // no direction at all
  const std::vector<QualityRay> some = rays_of(launch, 5);
  ASSERT_EQ(some.size(), 3U);  // of 0, 2, 4, 6, 8
  EXPECT_EQ(some[0].origin[0], 2);
  EXPECT_EQ(some[1].origin[0], 4);
  EXPECT_EQ(some[2].t_max, INFINITY);
  EXPECT_EQ(rays_of(launch, 100).size(), 8U);
  EXPECT_TRUE(rays_of(launch, 0).empty());
}

}  // namespace
}  // namespace rayreplay::bvh
