// Converts lines and sectors of one level to those of the next.
//
// Contract: sector s of an upper-level line is its bytes [s · sector, (s + 1) · sector). `each` visits the lower-level
// lines that contain masked bytes, ascending, with the mask of their sectors that hold any of these bytes. Sizes are
// powers of two, at most 8 sectors a line at either level. Tabulated by mask: O(lines visited).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace rayreplay::memory {

class LineSplit {
 public:
  LineSplit(std::uint32_t from_line, std::uint32_t from_sector, std::uint32_t to_line, std::uint32_t to_sector)
      : masks_(1U << (from_line / from_sector)),
        parts_(from_line > to_line ? from_line / to_line : 1),
        places_(to_line > from_line ? to_line / from_line : 1),
        begin_(static_cast<std::size_t>(places_) * masks_ + 1) {
    for (std::uint32_t place = 0; place < places_; ++place) {
      for (std::uint32_t mask = 0; mask < masks_; ++mask) {
        add(place, mask, from_line, from_sector, to_line, to_sector);
        begin_[static_cast<std::size_t>(place) * masks_ + mask + 1] = static_cast<std::uint32_t>(pieces_.size());
      }
    }
  }

  /// The lower-level line with the first byte of this line.
  [[nodiscard]] std::uint64_t first_line(std::uint64_t line) const {
    return places_ == 1 ? line * parts_ : line >> std::countr_zero(places_);
  }

  /// Calls `take(line, sectors)`.
  template <class Take>
  void each(std::uint64_t line, std::uint8_t sectors, const Take& take) const {
    const std::uint64_t place = line & (places_ - 1);
    const std::size_t row = place * masks_ + (sectors & (masks_ - 1));
    const std::uint64_t first = first_line(line);
    for (std::uint32_t i = begin_[row]; i < begin_[row + 1]; ++i) {
      take(first + pieces_[i].line, pieces_[i].sectors);
    }
  }

 private:
  struct Piece {
    std::uint32_t line = 0;  ///< after the first
    std::uint8_t sectors = 0;
  };

  void add(std::uint32_t place, std::uint32_t mask, std::uint32_t from_line, std::uint32_t from_sector,
           std::uint32_t to_line, std::uint32_t to_sector) {
    const std::size_t before = pieces_.size();
    const std::uint32_t step = std::min(from_sector, to_sector);
    for (std::uint32_t offset = 0; offset < from_line; offset += step) {
      if ((mask >> (offset / from_sector) & 1U) == 0) {
        continue;
      }
      const std::uint32_t byte = place * from_line + offset;
      const std::uint32_t line = byte / to_line;
      if (pieces_.size() == before || pieces_.back().line != line) {
        pieces_.push_back({line, 0});
      }
      pieces_.back().sectors |= static_cast<std::uint8_t>(1U << (byte % to_line / to_sector));
    }
  }

  std::uint32_t masks_;   ///< masks of a line of the upper level
  std::uint32_t parts_;   ///< lower lines in an upper one
  std::uint32_t places_;  ///< upper lines in a lower one
  std::vector<std::uint32_t> begin_;
  std::vector<Piece> pieces_;
};

}  // namespace rayreplay::memory
