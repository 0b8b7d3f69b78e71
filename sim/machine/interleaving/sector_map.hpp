// Converts sectors of a stream's lines to those of the L1's and the L2's lines.
//
// Contract: a *unit* is a sector of the stream's coalescing (transactions.hpp). The L1's lines are the stream's; its
// sectors are one or more units. The L2's lines are any power of two from one unit up. Errors: Usage, with `where` as
// the machine, for an L1 with other lines or with sectors smaller than a unit, or an L2 with lines smaller than a unit.
// Without an L2 each_l2_line must not be called.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/results/line_split.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::machine {

class SectorMap {
 public:
  SectorMap(const memory::CoalesceOptions& stream, const memory::CacheGeometry& l1, const memory::CacheGeometry& l2,
            const std::string& where);

  [[nodiscard]] std::uint8_t l1_sectors(std::uint8_t units) const {
    return l1_of_units_[units];
  }
  [[nodiscard]] std::uint8_t units(std::uint8_t l1_sectors) const {
    return units_of_l1_[l1_sectors];
  }
  /// Calls each(line, sectors) for the L2 lines of these units, in ascending order.
  template <class Each>
  void each_l2_line(std::uint64_t line, std::uint8_t units, Each each) const {
    if (same_) {
      each(line, units);
    } else {
      to_l2_.each(line, units, each);
    }
  }
  /// The L2 line with the first byte of this line.
  [[nodiscard]] std::uint64_t first_l2_line(std::uint64_t line) const {
    return to_l2_.first_line(line);
  }

 private:
  memory::LineSplit to_l2_;
  bool same_;  ///< the L2's lines and sectors equal the stream's
  std::array<std::uint8_t, 256> l1_of_units_{};
  std::array<std::uint8_t, 256> units_of_l1_{};
};

}  // namespace rayreplay::machine
