// The AVX2 forms of the slab test on a wide-8 node and of the triangle test, four triangles at a time.
//
// Contract: the same bits as bvh::meet (rays whose t_min is not below 0) and as kernels/triangle.hpp: the same IEEE
// operations in the same order, no approximations, no fused ones. Callers have asked `has_avx2`. Elsewhere than on x86
// there is nothing here, and RAYREPLAY_AVX2 is 0.
#pragma once

#if defined(__x86_64__)
#define RAYREPLAY_AVX2 1

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "bvh/box_ray.hpp"
#include "bvh/layouts/wide.hpp"
#include "traversal/kernels/triangle.hpp"

#define RAYREPLAY_TARGET_AVX2 __attribute__((target("avx2")))
/// Must be a part of its caller, which has the same target: vectors then stay in registers.
#define RAYREPLAY_INLINE_AVX2 __attribute__((target("avx2"), always_inline)) inline

namespace rayreplay::traversal::avx2 {

/// A BoxRay as the node test wants it: every value eight times, and where in a node the near and far planes are.
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

/// Slots that are met; `used`: how many children there are; `entry`: 8 floats on a boundary of 32 bytes.
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
    // The second operand is what a NaN in the first leaves.
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

/// For each slot in `mask`: how many others in it come before, by entry and then by slot. Arrays of 8 on boundaries of
/// 32 bytes; what slots outside the mask get means nothing.
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

/// What is needed of the pierced ones of four triangles.
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

/// Which of `count` (1 … 4) triangles, nine floats each, the ray pierces; `result` is filled if it is any.
RAYREPLAY_INLINE_AVX2 std::uint32_t pierce(const PreciseRay& ray, const float* vertices, std::size_t count,
                                           FourTriangles& result) {
  using detail::Vec4;
  const float* second = vertices + 9 * std::min<std::size_t>(1, count - 1);
  const float* third = vertices + 9 * std::min<std::size_t>(2, count - 1);
  const float* fourth = vertices + 9 * std::min<std::size_t>(3, count - 1);
  __m128 ax = _mm_loadu_ps(vertices), ay = _mm_loadu_ps(second), az = _mm_loadu_ps(third), bx = _mm_loadu_ps(fourth);
  _MM_TRANSPOSE4_PS(ax, ay, az, bx);
  __m128 by = _mm_loadu_ps(vertices + 4), bz = _mm_loadu_ps(second + 4), cx = _mm_loadu_ps(third + 4),
         cy = _mm_loadu_ps(fourth + 4);
  _MM_TRANSPOSE4_PS(by, bz, cx, cy);
  const __m128 cz = _mm_setr_ps(vertices[8], second[8], third[8], fourth[8]);
  const auto& o = ray.origin;
  const Vec4 direction{_mm256_set1_pd(ray.direction[0]), _mm256_set1_pd(ray.direction[1]),
                       _mm256_set1_pd(ray.direction[2])};
  const Vec4 a{detail::relative(ax, o[0]), detail::relative(ay, o[1]), detail::relative(az, o[2])};
  const Vec4 b{detail::relative(bx, o[0]), detail::relative(by, o[1]), detail::relative(bz, o[2])};
  const Vec4 c{detail::relative(cx, o[0]), detail::relative(cy, o[1]), detail::relative(cz, o[2])};
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
