// Clipped triangles: parts that cover the whole, boxes that are no larger than need be, leaves that miss no point.
#include <cmath>

#include <gtest/gtest.h>

#include "bvh/bvh.hpp"
#include "bvh/geometry/polygon.hpp"
#include "bvh/items.hpp"
#include "bvh/reports/quality.hpp"
#include "tests/support/meshes.hpp"

namespace rayreplay::bvh {
namespace {

using Point = Polygon::Point;

struct Triangle {
  std::array<Point, 3> corners;

  [[nodiscard]] Polygon polygon() const {
    return {corners[0], corners[1], corners[2]};
  }
  /// Weights of the corners, which add up to 1.
  [[nodiscard]] Point at(double u, double v) const {
    return corners[0] + u * (corners[1] - corners[0]) + v * (corners[2] - corners[0]);
  }
};

Triangle random_triangle(test::Random& random, float scale) {
  Triangle triangle;
  for (Point& corner : triangle.corners) {
    for (double& value : corner) {
      value = static_cast<double>(random.unit() * scale);
    }
  }
  if (random.one_in(4)) {
    const std::uint32_t axis = random.below(3);  // across an axis: flat, with a face of many boxes through it
    triangle.corners[1][axis] = triangle.corners[2][axis] = triangle.corners[0][axis];
  }
  return triangle;
}

bool inside(const Box& box, const Point& point, double slack) {
  for (unsigned k = 0; k < 3; ++k) {
    if (point[k] < static_cast<double>(box.low[k]) - slack || point[k] > static_cast<double>(box.high[k]) + slack) {
      return false;
    }
  }
  return true;
}

Box random_box(test::Random& random, float scale) {
  Box box;
  for (unsigned k = 0; k < 3; ++k) {
    const float a = random.unit() * scale;
    const float b = random.unit() * scale;
    box.low[k] = std::min(a, b);
    box.high[k] = std::max(a, b);
  }
  return box;
}

TEST(SpatialSplit, ClippedPolygonIsThePartInsideTheBox) {
  test::Random random(5);
  for (int round = 0; round < 3000; ++round) {
    const float scale = std::ldexp(1.0F, static_cast<int>(random.below(80)) - 40);
    const Triangle triangle = random_triangle(random, scale);
    const Box box = random_box(random, scale);
    Polygon part = triangle.polygon();
    part.clip(box, random.below(3));
    const Box bounds = part.bounds();
    const double slack = static_cast<double>(scale) * 1e-12;
    Box met;
    for (int sample = 0; sample < 200; ++sample) {
      double u = 0.5 + 0.5 * static_cast<double>(random.unit());
      double v = 0.5 + 0.5 * static_cast<double>(random.unit());
      if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
      }
      const Point point = triangle.at(u, v);
      if (inside(box, point, -slack)) {
        ASSERT_TRUE(inside(bounds, point, 0)) << round;
      }
    }
    if (!part.empty()) {
      for (unsigned k = 0; k < 3; ++k) {
        ASSERT_GE(bounds.low[k], std::nextafter(box.low[k], -INFINITY));
        ASSERT_LE(bounds.high[k], std::nextafter(box.high[k], INFINITY));
      }
    }
  }
}

TEST(SpatialSplit, AreasOfPartsAddUp) {
  test::Random random(6);
  for (int round = 0; round < 3000; ++round) {
    const Triangle triangle = random_triangle(random, 1);
    const double whole = triangle.polygon().double_area();
    // A grid of boxes that fills the cube.
    std::array<float, 4> cuts{-1, random.unit(), random.unit(), 1};
    std::ranges::sort(cuts);
    double sum = 0;
    for (std::size_t cell = 0; cell < 27; ++cell) {
      const std::array<std::size_t, 3> at{cell % 3, cell / 3 % 3, cell / 9};
      Box box;
      for (unsigned k = 0; k < 3; ++k) {
        box.low[k] = cuts[at[k]];
        box.high[k] = cuts[at[k] + 1];
      }
      Polygon part = triangle.polygon();
      part.clip(box);
      sum += part.double_area();
    }
    ASSERT_NEAR(sum, whole, 1e-12);
  }
}

TEST(SpatialSplit, BothSidesAsIfClippedTwice) {
  test::Random random(7);
  for (int round = 0; round < 3000; ++round) {
    const Triangle triangle = random_triangle(random, 1);
    const std::uint32_t axis = random.below(3);
    // Now and then through a corner.
    const double position =
        random.one_in(3) ? triangle.corners[random.below(3)][axis] : static_cast<double>(random.unit());
    Box below;
    Box above;
    triangle.polygon().split_bounds(axis, position, below, above);
    Box low{{-2, -2, -2}, {2, 2, 2}};
    Box high = low;
    low.high[axis] = high.low[axis] = static_cast<float>(position);
    Polygon lower = triangle.polygon();
    lower.clip(low);
    Polygon upper = triangle.polygon();
    upper.clip(high);
    ASSERT_EQ(below.empty(), lower.empty());
    ASSERT_EQ(above.empty(), upper.empty());
    if (!below.empty()) {
      ASSERT_EQ(below, lower.bounds());
    }
    if (!above.empty()) {
      ASSERT_EQ(above, upper.bounds());
    }
  }
}

/// Long, thin, crossing triangles: what spatial splits are for.
trace::Scene slivers(std::size_t count, float scale) {
  test::Random random(count);
  trace::Geometry mesh;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::array<float, 3> from{random.unit(), random.unit(), random.unit()};
    const std::array<float, 3> to{random.unit(), random.unit(), random.unit()};
    for (std::size_t corner = 0; corner < 3; ++corner) {
      for (unsigned k = 0; k < 3; ++k) {
        mesh.vertices.push_back(scale * ((corner == 0 ? from : to)[k] + 0.01F * random.unit()));
      }
      mesh.indices.push_back(i * 3 + static_cast<std::uint32_t>(corner));
    }
  }
  return test::one_mesh(mesh);
}

TEST(SpatialSplit, EveryPointOfATriangleIsInALeafThatRefersToIt) {
  for (const float scale : {1.0F, 1e-22F, 1e30F}) {
    const trace::Scene scene = slivers(400, scale);
    const PreparedScene prepared = prepare_scene(scene, 0, "t");
    const Tree tree = build_trees(prepared, *Builders::create("high:extra_references=3").model, {4, 2}, 0, nullptr)[1];
    EXPECT_GT(tree.references.size(), 500U) << scale;
    std::vector<std::vector<Box>> leaves(400);
    for (const TreeChild& child : tree.children) {
      for (std::uint32_t r = 0; r < child.count; ++r) {
        leaves[tree.references[child.index + r]].push_back(child.box);
      }
    }
    test::Random random(1);
    const trace::Geometry& mesh = scene.geometries[0];
    for (std::size_t i = 0; i < 400; ++i) {
      Triangle triangle;
      for (std::size_t corner = 0; corner < 3; ++corner) {
        for (unsigned k = 0; k < 3; ++k) {
          triangle.corners[corner][k] = static_cast<double>(mesh.vertices[mesh.indices[i * 3 + corner] * 3 + k]);
        }
      }
      for (int sample = 0; sample < 300; ++sample) {
        double u = 0.5 + 0.5 * static_cast<double>(random.unit());
        double v = 0.5 + 0.5 * static_cast<double>(random.unit());
        if (u + v > 1) {
          u = 1 - u;
          v = 1 - v;
        }
        const Point point = triangle.at(u, v);
        ASSERT_TRUE(std::ranges::any_of(
            leaves[i], [&](const Box& box) { return inside(box, point, 1e-13 * static_cast<double>(scale)); }))
            << "triangle " << i << ", scale " << scale;
      }
    }
  }
}

TEST(SpatialSplit, SplitsAreWorthTheirReferences) {
  const trace::Scene scene = slivers(2000, 1);
  const PreparedScene prepared = prepare_scene(scene, 0, "t");
  const auto tree = [&](const char* spec) {
    return build_trees(prepared, *Builders::create(spec).model, {8, 4}, 0, nullptr)[1];
  };
  const TreeQuality whole = measure_tree(tree("high:extra_references=0"));
  const TreeQuality some = measure_tree(tree("high:extra_references=0.5"));
  const TreeQuality many = measure_tree(tree("high:extra_references=4"));
  EXPECT_EQ(whole.references_per_item, 1);
  EXPECT_GT(some.references_per_item, 1.1);
  EXPECT_LE(some.references_per_item, 1.5);
  EXPECT_GT(many.references_per_item, some.references_per_item);
  EXPECT_LT(some.sah, 0.97 * whole.sah);
  EXPECT_LT(many.sah, 0.9 * some.sah);
}

}  // namespace
}  // namespace rayreplay::bvh
