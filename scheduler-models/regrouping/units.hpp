// Units: the groups of warps that exchange threads, by scope (regroup.hpp).
//
// Contract: the assignment's warps that have segments, by unit, each in the order in which they start. A capture of a
// window has artificial warps for unrecorded threads: they are omitted, so that they neither fill pools nor count in
// the order. Units of scope Sm may be empty. O(threads), parallel; 4 bytes a warp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/regroup.hpp"

namespace rayreplay::scheduler {

struct Units {
  std::vector<std::uint32_t> warps;
  std::vector<std::size_t> begin;  ///< units + 1
  std::vector<std::uint32_t> sm;   ///< by unit
  SmSource source = SmSource::None;

  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t unit) const {
    return std::span(warps).subspan(begin[unit], begin[unit + 1] - begin[unit]);
  }
};

[[nodiscard]] Units make_units(const PlanContext& context, const Regrouping& regrouping);

}  // namespace rayreplay::scheduler
