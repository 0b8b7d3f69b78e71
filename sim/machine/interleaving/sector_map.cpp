#include "sim/machine/interleaving/sector_map.hpp"

#include <bit>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::machine {
namespace {

[[noreturn]] void misfit(const std::string& what, const std::string& where, std::string found, std::string expected) {
  throw Error(ErrorKind::Usage, {what, where, std::move(found), std::move(expected),
                                 "coalesce with the sizes of the machine's L1, or give the machine such sizes"});
}

}  // namespace

SectorMap::SectorMap(const memory::CoalesceOptions& stream, const memory::CacheGeometry& l1,
                     const memory::CacheGeometry& l2, const std::string& where)
    : line_bytes_(stream.line_bytes), unit_bytes_(stream.sector_bytes), l2_sector_bytes_(l2.sector()) {
  if (l1.bytes != 0 && l1.line_bytes != stream.line_bytes) {
    misfit("the L1's lines are not those of the accesses", where, fmt::format("{} bytes", l1.line_bytes),
           fmt::format("{} bytes", stream.line_bytes));
  }
  const std::uint32_t l1_sector = l1.bytes == 0 ? stream.sector_bytes : l1.sector();
  if (l1_sector < stream.sector_bytes) {
    misfit("the L1's sectors are smaller than those of the accesses", where, fmt::format("{} bytes", l1_sector),
           fmt::format("{} bytes or more", stream.sector_bytes));
  }
  if (l2.bytes != 0 && l2.line_bytes < stream.sector_bytes) {
    misfit("the L2's lines are smaller than the sectors of the accesses", where, fmt::format("{} bytes", l2.line_bytes),
           fmt::format("{} bytes or more", stream.sector_bytes));
  }
  const std::uint32_t units_a_sector = l1_sector / stream.sector_bytes;
  for (unsigned bits = 0; bits < 256; ++bits) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      if ((bits >> bit & 1U) == 0) {
        continue;
      }
      l1_of_units_[bits] = static_cast<std::uint8_t>(l1_of_units_[bits] | 1U << (bit / units_a_sector));
      for (unsigned unit = bit * units_a_sector; unit < (bit + 1) * units_a_sector && unit < 8; ++unit) {
        units_of_l1_[bits] = static_cast<std::uint8_t>(units_of_l1_[bits] | 1U << unit);
      }
    }
  }
  if (l2.bytes == 0) {
    return;
  }
  same_ = l2.line_bytes == stream.line_bytes && l2.sector() == stream.sector_bytes;
  if (l2.line_bytes > stream.line_bytes) {
    l2_line_shift_ = static_cast<std::uint32_t>(std::countr_zero(l2.line_bytes / stream.line_bytes));
    return;
  }
  parts_ = stream.line_bytes / l2.line_bytes;
  units_a_part_ = l2.line_bytes / stream.sector_bytes;
  part_mask_ = (1U << units_a_part_) - 1;
  for (unsigned bits = 0; bits <= part_mask_; ++bits) {
    for (unsigned bit = 0; bit < units_a_part_; ++bit) {
      if ((bits >> bit & 1U) != 0) {
        l2_of_units_[bits] =
            static_cast<std::uint8_t>(l2_of_units_[bits] | covered(std::uint64_t{bit} * stream.sector_bytes));
      }
    }
  }
}

unsigned SectorMap::covered(std::uint64_t offset) const {
  const std::uint64_t first = offset / l2_sector_bytes_;
  const std::uint64_t last = (offset + unit_bytes_ - 1) / l2_sector_bytes_;
  return (2U << last) - (1U << first);
}

}  // namespace rayreplay::machine
