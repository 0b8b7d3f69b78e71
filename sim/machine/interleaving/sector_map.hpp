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
    // Unsigned: std::uint8_t promotes to int, and a sanitizer's check of the shift hides from GCC that it is not
    // negative.
    const std::uint32_t bits = units;
    if (same_) {
      each(line, units);
    } else if (l2_line_shift_ == 0) {
      for (std::uint32_t part = 0; part < parts_; ++part) {
        const unsigned sectors = l2_of_units_[bits >> (part * units_a_part_) & part_mask_];
        if (sectors != 0) {
          each(line * parts_ + part, static_cast<std::uint8_t>(sectors));
        }
      }
    } else {
      const std::uint64_t offset = (line & ((std::uint64_t{1} << l2_line_shift_) - 1)) * line_bytes_;
      unsigned sectors = 0;
      for (std::uint32_t unit = 0; bits >> unit != 0; ++unit) {
        if ((bits >> unit & 1U) != 0) {
          sectors |= covered(offset + std::uint64_t{unit} * unit_bytes_);
        }
      }
      each(line >> l2_line_shift_, static_cast<std::uint8_t>(sectors));
    }
  }

  /// The L2 line with the first byte of this line.
  [[nodiscard]] std::uint64_t first_l2_line(std::uint64_t line) const {
    return l2_line_shift_ == 0 ? line * parts_ : line >> l2_line_shift_;
  }

 private:
  /// L2 sectors that the unit at this offset in its line touches.
  [[nodiscard]] unsigned covered(std::uint64_t offset) const;

  std::uint32_t line_bytes_, unit_bytes_, l2_sector_bytes_;
  bool same_ = false;        ///< the L2's lines and sectors equal the stream's
  std::uint32_t parts_ = 1;  ///< L2 lines in a line of the stream
  std::uint32_t units_a_part_ = 8;
  std::uint32_t part_mask_ = 0xFF;
  std::uint32_t l2_line_shift_ = 0;  ///< log2 of the number of stream lines in an L2 line
  std::array<std::uint8_t, 256> l1_of_units_{};
  std::array<std::uint8_t, 256> units_of_l1_{};
  std::array<std::uint8_t, 256> l2_of_units_{};  ///< by mask of the units of one part
};

}  // namespace rayreplay::machine
