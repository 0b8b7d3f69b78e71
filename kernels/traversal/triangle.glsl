// Ray against triangle: traversal/kernels/triangle.hpp in GLSL, with a preceding filter in 32-bit floats.

struct TrianglePoint {
  bool front;
  double wb, wc, sum;
  double weighted, length2;  // t = weighted / (sum · length2)
};

double dot_of(const dvec3 a, const dvec3 b) {
  precise double r = a.x * b.x + a.y * b.y + a.z * b.z;
  return r;
}

double edge_function(const dvec3 direction, const dvec3 p, const dvec3 q) {
  precise dvec3 edge = p - q;
  precise dvec3 sum = p + q;
  precise double x = edge.y * sum.z - edge.z * sum.y;
  precise double y = edge.z * sum.x - edge.x * sum.z;
  precise double z = edge.x * sum.y - edge.y * sum.x;
  return dot_of(direction, dvec3(x, y, z));
}

bool pierces(const PreciseRay ray, const vec3 a, const vec3 b, const vec3 c, out TrianglePoint point) {
  precise dvec3 pa = dvec3(a) - ray.origin;
  precise dvec3 pb = dvec3(b) - ray.origin;
  precise dvec3 pc = dvec3(c) - ray.origin;
  const double wa = edge_function(ray.direction, pc, pb);
  const double wb = edge_function(ray.direction, pa, pc);
  const double wc = edge_function(ray.direction, pb, pa);
  const bool all_low = wa <= 0.0LF && wb <= 0.0LF && wc <= 0.0LF;
  const bool all_high = wa >= 0.0LF && wb >= 0.0LF && wc >= 0.0LF;
  precise double sum = wa + wb + wc;
  if (!(all_low || all_high) || sum == 0.0LF) {
    return false;
  }
  precise double weighted =
      wa * dot_of(ray.direction, pa) + wb * dot_of(ray.direction, pb) + wc * dot_of(ray.direction, pc);
  point = TrianglePoint(sum > 0.0LF, wb, wc, sum, weighted, dot_of(ray.direction, ray.direction));
  return true;
}

// t, u and v. One division in the code, which is long.
vec3 distance_and_weights(const TrianglePoint point) {
  precise double length = point.sum * point.length2;
  vec3 result;
  [[dont_unroll]] for (int i = 0; i < 3; ++i) {
    result[i] = float(divided(i == 0 ? point.weighted : i == 1 ? point.wb : point.wc, i == 0 ? length : point.sum));
  }
  return result;
}

// False only where `pierces` certainly is; proof: traversal/kernels/avx2.hpp, may_pierce, with two differences. The
// shear comes from the inverse of the direction, whose factor 1 − 2^-21 all axes share, and from a division of 2.5 ulp:
// X and Y err by at most 13·u·m, within e = 32·u·m + slack. Denormals may be flushed to 0, which costs less than 2^-120
// ≤ slack². An origin between floats is off by an ulp of the farthest coordinate, its sheared image by another: slack
// is four.
bool may_pierce(const vec3 a, const vec3 b, const vec3 c) {
  const vec3 inverse = abs(space.inverse_near);
  const int longest = inverse.x < inverse.y ? (inverse.x < inverse.z ? 0 : 2) : (inverse.y < inverse.z ? 1 : 2);
  vec3 o = space.origin_near;
  vec3 d = space.inverse_near;
  vec3 p0 = a, p1 = b, p2 = c;
  if (longest == 0) {
    o = o.yzx, d = d.yzx, p0 = p0.yzx, p1 = p1.yzx, p2 = p2.yzx;
  } else if (longest == 1) {
    o = o.zxy, d = d.zxy, p0 = p0.zxy, p1 = p1.zxy, p2 = p2.zxy;
  }
  const vec2 shear = d.z / d.xy;
  p0 -= o;
  p1 -= o;
  p2 -= o;
  const vec2 q0 = p0.xy - shear * p0.z;
  const vec2 q1 = p1.xy - shear * p1.z;
  const vec2 q2 = p2.xy - shear * p2.z;
  const vec2 far_across = max(max(abs(q0), abs(q1)), abs(q2));
  const float across = max(far_across.x, far_across.y);
  const float largest = across + max(max(abs(p0.z), abs(p1.z)), abs(p2.z));
  const float farthest = max(max(abs(o.x), abs(o.y)), abs(o.z));
  const float slack = visit.identity ? 8.673617379884035e-19 : max(8.673617379884035e-19, 4.76837158203125e-07 * farthest);
  const float e = largest * 1.9073486328125e-06 + slack;
  const float bound = 8.0 * e * (across + e);
  const float f = q2.x * q1.y - q2.y * q1.x;
  const float g = q0.x * q2.y - q0.y * q2.x;
  const float h = q1.x * q0.y - q1.y * q0.x;
  const float along = abs(d.z);
  const float kLarge = 1.152921504606847e18;  // 2^60
  const bool ordinary = along > 8.673617379884035e-19 && along < kLarge && farthest < kLarge && largest < kLarge;
  const bool one_side = f > bound || g > bound || h > bound;
  const bool other_side = f < -bound || g < -bound || h < -bound;
  return !(ordinary && one_side && other_side);
}
