// Maps of SMs over pixels.
//
// Contract: a pixel shows the SM of its thread's last segment (where the thread wrote its colour), in the launch's
// first slice; pixels without segments are NaN. `changed`: threads whose segments ran on more than one SM, over the
// whole launch. Empty for a row without placement, and for a bound. Source: the SM maps of the ReRay thesis.
#pragma once

#include <cstdint>

#include "sim/comparison/compare.hpp"
#include "sim/simt/pixel_map.hpp"

namespace rayreplay::report {

struct SmMap {
  experiment::PixelMap last;
  std::uint64_t threads = 0;  ///< threads with segments
  std::uint64_t changed = 0;

  [[nodiscard]] double changed_percent() const {
    return threads > 0 ? 100 * static_cast<double>(changed) / static_cast<double>(threads) : 0;
  }
};

[[nodiscard]] SmMap make_sm_map(const experiment::CompareRow& row, trace::LaunchSize size);

}  // namespace rayreplay::report
