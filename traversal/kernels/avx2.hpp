// The AVX2 forms of the slab test on a wide-8 node and of the triangle test, four triangles at a time.
//
// Contract: the same bits as bvh::meet (rays with t_min ≥ 0) and as kernels/triangle.hpp: the same IEEE operations in
// the same order, no approximations, none fused. Callers check `has_avx2`. Empty and RAYREPLAY_AVX2 is 0 on other
// processors than x86.
#pragma once

#if defined(__x86_64__)
#define RAYREPLAY_AVX2 1

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "bvh/geometry/box_ray.hpp"
#include "bvh/layouts/wide.hpp"
#include "traversal/kernels/ray_space.hpp"
#include "traversal/kernels/triangle.hpp"
#include "traversal/ray.hpp"

#define RAYREPLAY_TARGET_AVX2 __attribute__((target("avx2")))
/// Inlined into callers with the same target, so that vectors stay in registers.
#define RAYREPLAY_INLINE_AVX2 __attribute__((target("avx2"), always_inline)) inline

namespace rayreplay::traversal::avx2 {

/// A BoxRay in the form of the node test: values eightfold, and the offsets of near and far planes in a node.
struct alignas(32) WideRay {
  std::array<std::array<float, 8>, 3> origin_near, origin_far, inverse_near, inverse_far;
  std::array<float, 8> t_min;
  std::array<std::size_t, 3> near, far;  ///< where a node has these planes, in floats: low x y z, high x y z
};

RAYREPLAY_INLINE_AVX2 void widen(const bvh::BoxRay& ray, WideRay& wide) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    _mm256_store_ps(wide.origin_near[axis].data(), _mm256_set1_ps(ray.origin_near[axis]));
    _mm256_store_ps(wide.origin_far[axis].data(), _mm256_set1_ps(ray.origin_far[axis]));
    _mm256_store_ps(wide.inverse_near[axis].data(), _mm256_set1_ps(ray.inverse_near[axis]));
    _mm256_store_ps(wide.inverse_far[axis].data(), _mm256_set1_ps(ray.inverse_far[axis]));
    wide.near[axis] = 8 * (ray.negative[axis] ? axis + 3 : axis);
    wide.far[axis] = 8 * (ray.negative[axis] ? axis : axis + 3);
  }
  _mm256_store_ps(wide.t_min.data(), _mm256_set1_ps(ray.t_min));
}

/// traversal::world_space, the same bits, with one division for three. Rays near the ends of the range of floats use
/// that function.
RAYREPLAY_INLINE_AVX2 void world_space(const Ray& ray, RaySpace& space) {
  constexpr auto kFarOrigin = static_cast<float>(bvh::kFarOrigin);
  constexpr float kFast = 0x1p125F;  // the inverse of smaller values is no denormal
  const auto largest = [](const std::array<float, 3>& v) {
    return std::max(std::max(std::abs(v[0]), std::abs(v[1])), std::abs(v[2]));
  };
  if (largest(ray.origin) >= kFarOrigin || largest(ray.direction) >= kFast) {
    space = traversal::world_space(ray);
    return;
  }
  constexpr double kSlack = 0x1p-21;
  constexpr auto kLargest = static_cast<double>(bvh::kFarthest);
  for (std::size_t axis = 0; axis < 3; ++axis) {  // floats: exact
    space.precise.origin[axis] = static_cast<double>(ray.origin[axis]);
    space.precise.direction[axis] = static_cast<double>(ray.direction[axis]);
    space.box.origin_near[axis] = ray.origin[axis];
    space.box.origin_far[axis] = ray.origin[axis];
    space.box.negative[axis] = std::signbit(ray.direction[axis]);
  }
  const __m256d d = _mm256_cvtps_pd(_mm_setr_ps(ray.direction[0], ray.direction[1], ray.direction[2], 1.0F));
  const __m256d inverse = _mm256_div_pd(_mm256_set1_pd(1.0), d);
  const __m256d rounded = _mm256_mul_pd(inverse, _mm256_set1_pd(1 - kSlack));
  const __m256d clamped = _mm256_min_pd(_mm256_max_pd(rounded, _mm256_set1_pd(-kLargest)), _mm256_set1_pd(kLargest));
  const __m256d is_zero = _mm256_cmp_pd(d, _mm256_setzero_pd(), _CMP_EQ_OQ);
  alignas(16) std::array<float, 4> near;
  alignas(16) std::array<float, 4> far;
  _mm_store_ps(near.data(), _mm256_cvtpd_ps(_mm256_blendv_pd(clamped, inverse, is_zero)));
  _mm_store_ps(far.data(), _mm256_cvtpd_ps(_mm256_mul_pd(inverse, _mm256_set1_pd(1 + kSlack))));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    space.box.inverse_near[axis] = near[axis];
    space.box.inverse_far[axis] = far[axis];
  }
  space.box.t_min = ray.t_min;
}

/// Mask of slots that are met; `used`: number of children; `entry`: 8 floats, aligned to 32 bytes.
RAYREPLAY_INLINE_AVX2 std::uint32_t meet(const bvh::Wide8Node& node, const WideRay& ray, float t_max, float* entry,
                                         std::uint32_t& used) {
  static_assert(offsetof(bvh::Wide8Node, low) == 0 && offsetof(bvh::Wide8Node, high) == 96);
  const auto* planes = reinterpret_cast<const float*>(&node);
  __m256 near = _mm256_load_ps(ray.t_min.data());
  __m256 far = _mm256_set1_ps(t_max);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const __m256 to_near =
        _mm256_sub_ps(_mm256_load_ps(planes + ray.near[axis]), _mm256_load_ps(ray.origin_near[axis].data()));
    const __m256 to_far =
        _mm256_sub_ps(_mm256_load_ps(planes + ray.far[axis]), _mm256_load_ps(ray.origin_far[axis].data()));
    const __m256 enter = _mm256_mul_ps(to_near, _mm256_load_ps(ray.inverse_near[axis].data()));
    const __m256 leave = _mm256_mul_ps(to_far, _mm256_load_ps(ray.inverse_far[axis].data()));
    // A NaN in the first operand gives the second.
    near = _mm256_max_ps(enter, near);
    far = _mm256_min_ps(leave, far);
  }
  _mm256_store_ps(entry, near);
  const __m256i index = _mm256_load_si256(reinterpret_cast<const __m256i*>(node.index.data()));
  const __m256i unused = _mm256_cmpeq_epi32(index, _mm256_set1_epi32(-1));
  const auto slots = ~static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(unused))) & 0xFFU;
  used = static_cast<std::uint32_t>(__builtin_popcount(slots));
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(near, far, _CMP_LE_OQ))) & slots;
}

/// For each slot in `mask`: the number of its slots that come before, by entry, then slot. Arrays of 8, aligned to 32
/// bytes; results of other slots are undefined.
RAYREPLAY_INLINE_AVX2 void rank(const float* entry, std::uint32_t mask, std::uint32_t* ranks) {
  const __m256 entries = _mm256_load_ps(entry);
  const __m256i slots = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  __m256i sum = _mm256_setzero_si256();
  for (; mask != 0; mask &= mask - 1) {
    const int slot = __builtin_ctz(mask);
    const __m256 other = _mm256_broadcast_ss(entry + slot);
    const __m256 before = _mm256_cmp_ps(other, entries, _CMP_LT_OQ);
    const __m256 not_after = _mm256_cmp_ps(other, entries, _CMP_LE_OQ);
    const __m256 higher = _mm256_castsi256_ps(_mm256_cmpgt_epi32(slots, _mm256_set1_epi32(slot)));
    // All ones is −1.
    sum = _mm256_sub_epi32(sum, _mm256_castps_si256(_mm256_blendv_ps(before, not_after, higher)));
  }
  _mm256_store_si256(reinterpret_cast<__m256i*>(ranks), sum);
}

/// The ray data of `may_pierce`: axes with that of largest direction last, and the shear that makes the ray the line x
/// = y = 0.
struct ShearedRay {
  std::array<std::size_t, 3> axis{};
  std::array<float, 3> origin{};
  std::array<float, 2> shear{};
  float slack = 0;  ///< infinite: everything may be pierced
};

[[nodiscard]] inline ShearedRay shear(const PreciseRay& ray) {
  const auto length = [&](std::size_t axis) { return std::abs(ray.direction[axis]); };
  ShearedRay result;
  const std::size_t longest = length(0) < length(1) ? (length(1) < length(2) ? 2 : 1) : (length(0) < length(2) ? 2 : 0);
  result.axis = {longest == 2 ? 0 : longest + 1, longest == 0 ? 2 : longest - 1, longest};
  bool exact = true;
  double farthest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double origin = ray.origin[result.axis[i]];
    farthest = std::max(farthest, std::abs(origin));
    result.origin[i] = static_cast<float>(origin);
    exact = exact && static_cast<double>(result.origin[i]) == origin;
  }
  const auto along = static_cast<float>(ray.direction[longest]);
  result.shear = {static_cast<float>(ray.direction[result.axis[0]]) / along,
                  static_cast<float>(ray.direction[result.axis[1]]) / along};
  const bool ordinary = length(longest) > 0x1p-60 && length(longest) < 0x1p60 && farthest < 0x1p60;
  result.slack = !ordinary ? std::numeric_limits<float>::infinity()
                           : std::max(0x1p-70F, exact ? 0.0F : 0x1p-21F * static_cast<float>(farthest));
  return result;
}

/// The triangles among `count` (1 … 8) that `pierce` may find pierced: a superset. Memory as there, eight floats from
/// every vertices[c · stride].
///
/// In coordinates relative to the ray's origin (P, exact) and sheared, X = Px − Sx·Pz and Y = Py − Sy·Pz, the edge
/// function of p and q is 2·dz·(Xp·Yq − Yp·Xq), up to a sign that all three edges share. Let u = 2^-24, M the largest
/// |X| or |Y| and m = M + the largest |Pz|, so that no coordinate is beyond m·(1 + 4u). The floats below are wrong by
/// at most e = 16·u·m + slack in X and Y: rounding the difference 1 u·m, the same in z 1, shear 3 (two conversions, one
/// division), product 1, difference 2, all second orders within the other 8; an origin that is no float shifts X and Y
/// by 2·u·|origin| ≤ slack / 2. A cross product is then wrong by at most 4·e·(M + e) for its factors and 4·u·M² ≤ e·M
/// for its own roundings; underflow stays below slack². The double test is wrong by at most 2^-46·m² on the same scale,
/// which is less than e² = 2^-40·m². Beyond b = 8·e·(M + e) a sign equals that of the double test: two edges beyond b
/// on different sides exclude a hit. Above 2^60 all triangles are kept: products might overflow.
RAYREPLAY_INLINE_AVX2 std::uint32_t may_pierce(const ShearedRay& ray, const float* vertices, std::size_t stride,
                                               std::size_t count) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  const __m256 shear_x = _mm256_set1_ps(ray.shear[0]);
  const __m256 shear_y = _mm256_set1_ps(ray.shear[1]);
  const __m256 origin_x = _mm256_set1_ps(ray.origin[0]);
  const __m256 origin_y = _mm256_set1_ps(ray.origin[1]);
  const __m256 origin_z = _mm256_set1_ps(ray.origin[2]);
  const float* const row_x = vertices + ray.axis[0] * stride;
  const float* const row_y = vertices + ray.axis[1] * stride;
  const float* const row_z = vertices + ray.axis[2] * stride;
  __m256 x[3];
  __m256 y[3];
  __m256 across = _mm256_setzero_ps();
  __m256 along = _mm256_setzero_ps();
  for (std::size_t i = 0; i < 3; ++i) {
    const __m256 z = _mm256_sub_ps(_mm256_loadu_ps(row_z + i * 3 * stride), origin_z);
    x[i] = _mm256_sub_ps(_mm256_sub_ps(_mm256_loadu_ps(row_x + i * 3 * stride), origin_x), _mm256_mul_ps(shear_x, z));
    y[i] = _mm256_sub_ps(_mm256_sub_ps(_mm256_loadu_ps(row_y + i * 3 * stride), origin_y), _mm256_mul_ps(shear_y, z));
    across = _mm256_max_ps(across, _mm256_max_ps(_mm256_andnot_ps(sign, x[i]), _mm256_andnot_ps(sign, y[i])));
    along = _mm256_max_ps(along, _mm256_andnot_ps(sign, z));
  }
  const __m256 largest = _mm256_add_ps(across, along);
  const __m256 e = _mm256_add_ps(_mm256_mul_ps(largest, _mm256_set1_ps(0x1p-20F)), _mm256_set1_ps(ray.slack));
  const __m256 b = _mm256_mul_ps(_mm256_mul_ps(e, _mm256_set1_ps(8.0F)), _mm256_add_ps(across, e));
  const auto cross = [&](std::size_t p, std::size_t q) RAYREPLAY_TARGET_AVX2 __attribute__((always_inline)) {
    return _mm256_sub_ps(_mm256_mul_ps(x[p], y[q]), _mm256_mul_ps(y[p], x[q]));
  };
  const __m256 f = cross(2, 1);
  const __m256 g = cross(0, 2);
  const __m256 h = cross(1, 0);
  const __m256 high = _mm256_max_ps(_mm256_max_ps(f, g), h);
  const __m256 low = _mm256_min_ps(_mm256_min_ps(f, g), h);
  const __m256 missed = _mm256_and_ps(
      _mm256_and_ps(_mm256_cmp_ps(high, b, _CMP_GT_OQ), _mm256_cmp_ps(low, _mm256_xor_ps(b, sign), _CMP_LT_OQ)),
      _mm256_cmp_ps(largest, _mm256_set1_ps(0x1p60F), _CMP_LT_OQ));
  return ~static_cast<std::uint32_t>(_mm256_movemask_ps(missed)) & ((1U << count) - 1);
}

/// Results of the pierced ones among four triangles.
struct alignas(32) FourTriangles {
  std::array<double, 4> wa, wb, wc, ta, tb, tc;

  [[nodiscard]] TrianglePoint point(std::size_t lane, double length2) const {
    return detail::pierced_point(wa[lane], wb[lane], wc[lane], ta[lane], tb[lane], tc[lane], length2);
  }
};

namespace detail {

struct Vec4 {
  __m256d x, y, z;
};

RAYREPLAY_INLINE_AVX2 __m256d dot(const Vec4& a, const Vec4& b) {
  return _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(a.x, b.x), _mm256_mul_pd(a.y, b.y)), _mm256_mul_pd(a.z, b.z));
}

RAYREPLAY_INLINE_AVX2 __m256d edge_function(const Vec4& direction, const Vec4& p, const Vec4& q) {
  const Vec4 edge{_mm256_sub_pd(p.x, q.x), _mm256_sub_pd(p.y, q.y), _mm256_sub_pd(p.z, q.z)};
  const Vec4 sum{_mm256_add_pd(p.x, q.x), _mm256_add_pd(p.y, q.y), _mm256_add_pd(p.z, q.z)};
  return dot(direction, {_mm256_sub_pd(_mm256_mul_pd(edge.y, sum.z), _mm256_mul_pd(edge.z, sum.y)),
                         _mm256_sub_pd(_mm256_mul_pd(edge.z, sum.x), _mm256_mul_pd(edge.x, sum.z)),
                         _mm256_sub_pd(_mm256_mul_pd(edge.x, sum.y), _mm256_mul_pd(edge.y, sum.x))});
}

RAYREPLAY_INLINE_AVX2 __m256d relative(__m128 points, double origin) {
  return _mm256_sub_pd(_mm256_cvtps_pd(points), _mm256_set1_pd(origin));
}

}  // namespace detail

/// Mask of pierced triangles among `count` (1 … 4); fills `result` unless it is 0. Coordinate c of triangle i is
/// vertices[c · stride + i]; four floats are readable from every vertices[c · stride].
RAYREPLAY_INLINE_AVX2 std::uint32_t pierce(const PreciseRay& ray, const float* vertices, std::size_t stride,
                                           std::size_t count, FourTriangles& result) {
  using detail::Vec4;
  const auto at = [&](std::size_t corner) RAYREPLAY_TARGET_AVX2 __attribute__((always_inline)) {
    const float* const x = vertices + corner * 3 * stride;
    return Vec4{detail::relative(_mm_loadu_ps(x), ray.origin[0]),
                detail::relative(_mm_loadu_ps(x + stride), ray.origin[1]),
                detail::relative(_mm_loadu_ps(x + 2 * stride), ray.origin[2])};
  };
  const Vec4 direction{_mm256_set1_pd(ray.direction[0]), _mm256_set1_pd(ray.direction[1]),
                       _mm256_set1_pd(ray.direction[2])};
  const Vec4 a = at(0);
  const Vec4 b = at(1);
  const Vec4 c = at(2);
  const __m256d wa = detail::edge_function(direction, c, b);
  const __m256d wb = detail::edge_function(direction, a, c);
  const __m256d wc = detail::edge_function(direction, b, a);
  const __m256d zero = _mm256_setzero_pd();
  const __m256d low =
      _mm256_and_pd(_mm256_and_pd(_mm256_cmp_pd(wa, zero, _CMP_LE_OQ), _mm256_cmp_pd(wb, zero, _CMP_LE_OQ)),
                    _mm256_cmp_pd(wc, zero, _CMP_LE_OQ));
  const __m256d high =
      _mm256_and_pd(_mm256_and_pd(_mm256_cmp_pd(wa, zero, _CMP_GE_OQ), _mm256_cmp_pd(wb, zero, _CMP_GE_OQ)),
                    _mm256_cmp_pd(wc, zero, _CMP_GE_OQ));
  const __m256d sum = _mm256_add_pd(_mm256_add_pd(wa, wb), wc);
  const __m256d pierced = _mm256_and_pd(_mm256_or_pd(low, high), _mm256_cmp_pd(sum, zero, _CMP_NEQ_OQ));
  const auto mask = static_cast<std::uint32_t>(_mm256_movemask_pd(pierced)) & ((1U << count) - 1);
  if (mask != 0) {
    _mm256_store_pd(result.wa.data(), wa);
    _mm256_store_pd(result.wb.data(), wb);
    _mm256_store_pd(result.wc.data(), wc);
    _mm256_store_pd(result.ta.data(), detail::dot(direction, a));
    _mm256_store_pd(result.tb.data(), detail::dot(direction, b));
    _mm256_store_pd(result.tc.data(), detail::dot(direction, c));
  }
  return mask;
}

}  // namespace rayreplay::traversal::avx2

#else
#define RAYREPLAY_AVX2 0
#endif

namespace rayreplay::traversal {

[[nodiscard]] inline bool has_avx2() {
#if RAYREPLAY_AVX2
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

}  // namespace rayreplay::traversal
