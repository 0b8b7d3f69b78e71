// Ray against triangle.
//
// Contract: the three edge functions of Plücker's test (Davidovič, Engelhardt, Georgiev, Slusallek and Dachsbacher, "3D
// Rasterization: A Bridge between Rasterization and Ray Tracing", GI 2012; with edge and sum of its ends as in Embree's
// robust mode), in double precision on the trace's floats. No epsilon: the ray pierces the triangle if no two edge
// functions have opposite signs and their sum is not 0, independent of the triangle's scale and shape. The function of
// an edge seen from the other side is its exact negative, and 0 belongs to both sides: no ray passes between two
// triangles that share an edge. Degenerate triangles and those whose plane holds the ray are never hit. The distance is
// that of the hit point given by the edge functions as weights of the vertices: a mean of the vertices' distances, so
// it never leaves the triangle, however thin. No overflow or underflow for any floats. IEEE operations alone, in this
// order; the SIMD forms repeat it and give the same bits.
//
// Front faces have counterclockwise vertices in right-handed coordinates (precise.hpp of the reference tracer, and
// Vulkan without VK_GEOMETRY_INSTANCE_TRIANGLE_FLIP_FACING_BIT).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace rayreplay::traversal {

/// A ray in the space of its test; t is the same in every space.
struct PreciseRay {
  std::array<double, 3> origin{};
  std::array<double, 3> direction{};
};

struct TrianglePoint {
  bool pierced = false;
  bool front = false;
  double t = 0;
  double u = 0;  ///< weight of the second vertex
  double v = 0;  ///< of the third
};

namespace detail {

using Vec = std::array<double, 3>;

[[nodiscard]] inline Vec relative(const float* point, const Vec& origin) {
  return {static_cast<double>(point[0]) - origin[0], static_cast<double>(point[1]) - origin[1],
          static_cast<double>(point[2]) - origin[2]};
}

[[nodiscard]] inline double dot(const Vec& a, const Vec& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// direction · ((p − q) × (p + q))
[[nodiscard]] inline double edge_function(const Vec& direction, const Vec& p, const Vec& q) {
  const Vec edge{p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  const Vec sum{p[0] + q[0], p[1] + q[1], p[2] + q[2]};
  const Vec product{edge[1] * sum[2] - edge[2] * sum[1], edge[2] * sum[0] - edge[0] * sum[2],
                    edge[0] * sum[1] - edge[1] * sum[0]};
  return dot(direction, product);
}

/// The hit point of a pierced triangle, shared by the scalar and the SIMD forms.
[[nodiscard]] inline TrianglePoint pierced_point(double wa, double wb, double wc, double ta, double tb, double tc,
                                                 double length2) {
  const double sum = wa + wb + wc;
  return {true, sum > 0, (wa * ta + wb * tb + wc * tc) / (sum * length2), wb / sum, wc / sum};
}

}  // namespace detail

[[nodiscard]] inline TrianglePoint intersect_triangle(const PreciseRay& ray, const float* a, const float* b,
                                                      const float* c) {
  using namespace detail;
  const Vec pa = relative(a, ray.origin);
  const Vec pb = relative(b, ray.origin);
  const Vec pc = relative(c, ray.origin);
  const double wa = edge_function(ray.direction, pc, pb);
  const double wb = edge_function(ray.direction, pa, pc);
  const double wc = edge_function(ray.direction, pb, pa);
  const bool all_low = wa <= 0 && wb <= 0 && wc <= 0;
  const bool all_high = wa >= 0 && wb >= 0 && wc >= 0;
  if (!(all_low || all_high) || wa + wb + wc == 0) {
    return {};
  }
  return pierced_point(wa, wb, wc, dot(ray.direction, pa), dot(ray.direction, pb), dot(ray.direction, pc),
                       dot(ray.direction, ray.direction));
}

}  // namespace rayreplay::traversal
