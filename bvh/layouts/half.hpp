// IEEE half precision: conversion that rounds down or up, and back.
//
// Contract: bits of binary16. `half_below` is the largest half at or below a float that is no NaN, −infinity below
// −65504; `half_above` the smallest at or above, +infinity above 65504. Zero is +0. `from_half` is exact for every
// half, infinities included, so that F16C's conversion gives the same bits. O(1).
#pragma once

#include <bit>
#include <cstdint>

namespace rayreplay::bvh {

inline constexpr std::uint16_t kHalfInfinity = 0x7C00;
inline constexpr std::uint16_t kHalfLargest = 0x7BFF;  ///< 65504
inline constexpr std::uint16_t kHalfSign = 0x8000;

[[nodiscard]] inline float from_half(std::uint16_t half) {
  const std::uint32_t sign = (std::uint32_t{half} & kHalfSign) << 16U;
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude >= kHalfInfinity) {
    return std::bit_cast<float>(sign | 0x7F80'0000U | (magnitude & 0x3FFU) << 13U);
  }
  if (magnitude < 0x400U) {  // denormal: a multiple of 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13U) + (112U << 23U)));
}

[[nodiscard]] inline std::uint16_t half_below(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const bool negative = (bits >> 31U) != 0;
  const float size = std::bit_cast<float>(bits & 0x7FFF'FFFFU);
  if (size > 65504.0F) {
    return negative                  ? static_cast<std::uint16_t>(kHalfSign | kHalfInfinity)
           : value > 0x1.FFFFFEp127F ? kHalfInfinity
                                     : kHalfLargest;
  }
  // Toward zero; the product below is exact.
  const std::uint32_t truncated = size < 0x1p-14F ? static_cast<std::uint32_t>(size * 0x1p24F)
                                                  : (std::bit_cast<std::uint32_t>(size) - (112U << 23U)) >> 13U;
  if (!negative) {
    return static_cast<std::uint16_t>(truncated);
  }
  const bool exact = from_half(static_cast<std::uint16_t>(truncated)) == size;
  const std::uint32_t magnitude = exact ? truncated : truncated + 1;
  return magnitude == 0 ? 0 : static_cast<std::uint16_t>(kHalfSign | magnitude);
}

[[nodiscard]] inline std::uint16_t half_above(float value) {
  const std::uint16_t mirrored = half_below(-value);
  return mirrored == 0 ? 0 : static_cast<std::uint16_t>(mirrored ^ kHalfSign);
}

}  // namespace rayreplay::bvh
