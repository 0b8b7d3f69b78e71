// Threads in the order of a curve through the origins, the directions, or both, of one of their rays (MODELS.md §6,
// last paragraph).
//
// Contract: `ray` is the index of the ray in its thread. Origins: each axis is divided into 2^bits equal parts between
// the smallest and the largest coordinate of that ray over all threads, so the grid's cells are as long as the box they
// fill. Directions: mapped to the square by the octahedral map (Meyer et al. 2010), whose sides are divided into 2^bits
// equal parts; lengths do not matter. Threads without that ray, or with NaN or infinity in its origin (direction), and
// those whose direction is zero, go last. Both: the Morton curve through the five axes, those of the origin lowest.
// Stable. O(threads · bits). Limits: `bits` up to kOriginBits, kDirectionBits, kBothBits.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/parameters.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {

enum class Curve : std::uint8_t { Morton, Hilbert };

void sort_by_origin(const trace::Launch& launch, std::uint64_t ray, int bits, Curve curve, ThreadList& threads);
void sort_by_direction(const trace::Launch& launch, std::uint64_t ray, int bits, Curve curve, ThreadList& threads);
void sort_by_origin_and_direction(const trace::Launch& launch, std::uint64_t ray, int bits, ThreadList& threads);

// Shared by the packings along a curve (packings/origin_morton.cpp and four others).

inline constexpr int kOriginBits = 21;
inline constexpr int kDirectionBits = 31;
inline constexpr int kBothBits = 12;
inline constexpr const char* kOriginCurveText =
    "The box of all origins of that ray is divided into equal cells along each axis, which are numbered along the "
    "curve. Threads without that ray, or with NaN or infinity in its origin, go last.";
inline constexpr const char* kDirectionCurveText =
    "Directions are mapped to a square by the octahedral map, whose cells are numbered along the curve. Threads "
    "without that ray, or with NaN, infinity or nothing but zeros in its direction, go last.";

/// "ray", "bits" (up to `most_bits`) and "tiled".
[[nodiscard]] std::vector<Parameter> spatial_parameters(int most_bits);
/// `sort`: sort_by_origin or sort_by_direction.
[[nodiscard]] std::unique_ptr<Packing> curve_packing(const Parameters& parameters, decltype(sort_by_origin)& sort,
                                                     Curve curve);

}  // namespace rayreplay::scheduler
