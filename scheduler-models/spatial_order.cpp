#include "scheduler-models/spatial_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/declare_parameters.hpp"
#include "base/vectors.hpp"
#include "scheduler-models/sorting_packing.hpp"
#include "scheduler-models/space_filling.hpp"

namespace rayreplay::scheduler {
namespace {

constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

/// The vector of each thread's ray; NaN without that ray.
std::vector<Vec3> gather(const trace::Launch& launch, std::uint64_t ray, const trace::Column<float>& x,
                         const trace::Column<float>& y, const trace::Column<float>& z) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto& offset = launch.data.ray_offset;
  std::vector<Vec3> result(launch.data.threads(), Vec3::Constant(kNan));
  for (std::size_t thread = 0; thread < result.size(); ++thread) {
    if (ray < offset[thread + 1] - offset[thread]) {
      const std::size_t row = offset[thread] + ray;
      result[thread] = {x[row], y[row], z[row]};
    }
  }
  return result;
}

/// The cell of `value` among 2^bits cells of [low, low + extent]; 0 in an empty interval.
std::uint32_t quantise(double value, double low, double extent, int bits) {
  const double parts = std::ldexp(1.0, bits);
  return extent > 0 ? static_cast<std::uint32_t>(std::min((value - low) / extent * parts, parts - 1)) : 0;
}

/// The octahedral map to [-1, 1]²; empty for the zero vector.
std::optional<std::array<double, 2>> octahedral(const Vec3& v) {
  const auto x = static_cast<double>(v[0]);
  const auto y = static_cast<double>(v[1]);
  const auto z = static_cast<double>(v[2]);
  const double length = std::abs(x) + std::abs(y) + std::abs(z);
  if (!(length > 0)) {
    return std::nullopt;
  }
  const double u = x / length;
  const double w = y / length;
  if (z >= 0) {
    return std::array{u, w};
  }
  return std::array{std::copysign(1 - std::abs(w), u), std::copysign(1 - std::abs(u), w)};
}

using Cell2 = std::array<std::uint32_t, 2>;
using Cell3 = std::array<std::uint32_t, 3>;

/// The cell of each thread's origin; empty without one.
std::vector<std::optional<Cell3>> origin_cells(const trace::Launch& launch, std::uint64_t ray, int bits) {
  const trace::Rays& rays = launch.data.rays;
  const std::vector<Vec3> origins = gather(launch, ray, rays.origin_x, rays.origin_y, rays.origin_z);
  Vec3d low = Vec3d::Constant(std::numeric_limits<double>::infinity());
  Vec3d high = -low;
  for (const Vec3& origin : origins) {
    if (origin.allFinite()) {
      low = low.cwiseMin(origin.cast<double>());
      high = high.cwiseMax(origin.cast<double>());
    }
  }
  std::vector<std::optional<Cell3>> cells(origins.size());
  for (std::size_t thread = 0; thread < origins.size(); ++thread) {
    if (origins[thread].allFinite()) {
      Cell3& cell = cells[thread].emplace();
      for (unsigned axis = 0; axis < 3; ++axis) {
        cell[axis] = quantise(static_cast<double>(origins[thread][axis]), low[axis], high[axis] - low[axis], bits);
      }
    }
  }
  return cells;
}

/// The cell of each thread's direction; empty without one.
std::vector<std::optional<Cell2>> direction_cells(const trace::Launch& launch, std::uint64_t ray, int bits) {
  const trace::Rays& rays = launch.data.rays;
  const std::vector<Vec3> directions = gather(launch, ray, rays.direction_x, rays.direction_y, rays.direction_z);
  std::vector<std::optional<Cell2>> cells(directions.size());
  for (std::size_t thread = 0; thread < directions.size(); ++thread) {
    const auto square = directions[thread].allFinite() ? octahedral(directions[thread]) : std::nullopt;
    if (square) {
      cells[thread] = Cell2{quantise((*square)[0], -1, 2, bits), quantise((*square)[1], -1, 2, bits)};
    }
  }
  return cells;
}

}  // namespace

void sort_by_origin(const trace::Launch& launch, std::uint64_t ray, int bits, Curve curve, ThreadList& threads) {
  const auto cells = origin_cells(launch, ray, bits);
  trace::Column<std::uint64_t> key(cells.size(), kLast);
  for (std::size_t thread = 0; thread < cells.size(); ++thread) {
    if (const auto& cell = cells[thread]) {
      key[thread] = curve == Curve::Morton ? morton3((*cell)[0], (*cell)[1], (*cell)[2])
                                           : hilbert3((*cell)[0], (*cell)[1], (*cell)[2], bits);
    }
  }
  sort_by_key(threads, key);
}

void sort_by_direction(const trace::Launch& launch, std::uint64_t ray, int bits, Curve curve, ThreadList& threads) {
  const auto cells = direction_cells(launch, ray, bits);
  trace::Column<std::uint64_t> key(cells.size(), kLast);
  for (std::size_t thread = 0; thread < cells.size(); ++thread) {
    if (const auto& cell = cells[thread]) {
      key[thread] = curve == Curve::Morton ? morton2((*cell)[0], (*cell)[1]) : hilbert2((*cell)[0], (*cell)[1], bits);
    }
  }
  sort_by_key(threads, key);
}

void sort_by_origin_and_direction(const trace::Launch& launch, std::uint64_t ray, int bits, ThreadList& threads) {
  const auto origins = origin_cells(launch, ray, bits);
  const auto directions = direction_cells(launch, ray, bits);
  trace::Column<std::uint64_t> key(origins.size(), kLast);
  for (std::size_t thread = 0; thread < origins.size(); ++thread) {
    const auto& from = origins[thread];
    const auto& to = directions[thread];
    if (from && to) {
      key[thread] = morton5({(*from)[0], (*from)[1], (*from)[2], (*to)[0], (*to)[1]}, bits);
    }
  }
  sort_by_key(threads, key);
}

std::vector<Parameter> spatial_parameters(int most_bits) {
  return {
      declare::whole("ray", 0, "", "Which ray of each thread gives the key, counted from 0.", 0, 4294967295.0),
      declare::whole("bits", 10, "bits", "Each axis is divided into two to the power of this many parts.", 1,
                     static_cast<double>(most_bits)),
      tiled_parameter(),
  };
}

std::unique_ptr<Packing> curve_packing(const Parameters& parameters, decltype(sort_by_origin)& sort, Curve curve) {
  const auto ray = static_cast<std::uint64_t>(parameters.get_int("ray"));
  const auto bits = static_cast<int>(parameters.get_int("bits"));
  return std::make_unique<SortingPacking>(
      [=, &sort](const trace::Launch& launch, ThreadList& threads) { sort(launch, ray, bits, curve, threads); },
      parameters.get_bool("tiled"));
}

}  // namespace rayreplay::scheduler
