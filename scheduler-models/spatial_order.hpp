// Threads in the order of a curve through the origins or directions of one of their rays (MODELS.md §6, last
// paragraph).
//
// Contract: `ray` is the index of the ray in its thread. Origins: each axis is divided into 2^bits equal parts between
// the smallest and the largest coordinate of that ray over all threads, so the grid's cells are as long as the box they
// fill. Directions: mapped to the square by the octahedral map (Meyer et al. 2010), whose sides are divided into 2^bits
// equal parts; lengths do not matter. Threads without that ray, or with NaN or infinity in its origin (direction), and
// those whose direction is zero, go last. Stable. O(threads · bits). Limits: `bits` 1…21 for origins, 1…31 for
// directions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameters.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {

enum class Curve : std::uint8_t { Morton, Hilbert };

void sort_by_origin(const trace::Launch& launch, std::uint64_t ray, int bits, Curve curve, ThreadList& threads);
void sort_by_direction(const trace::Launch& launch, std::uint64_t ray, int bits, Curve curve, ThreadList& threads);

/// "ray", "bits" (up to `most_bits`) and "tiled", shared by the four models of this kind.
[[nodiscard]] std::vector<Parameter> spatial_parameters(int most_bits);

}  // namespace rayreplay::scheduler
