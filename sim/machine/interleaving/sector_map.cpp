#include "sim/machine/interleaving/sector_map.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::machine {
namespace {

void check(const char* what, const std::string& where, std::uint32_t found, std::uint32_t expected, bool or_more) {
  if (found < expected || (found > expected && !or_more)) {
    throw Error(ErrorKind::Usage, {what, where, fmt::format("{} bytes", found),
                                   fmt::format("{} bytes{}", expected, or_more ? " or more" : ""),
                                   "coalesce with the sizes of the machine's L1, or give the machine such sizes"});
  }
}

/// The line that the stream's lines are converted to: their own without an L2.
memory::LineSplit split_to_l2(const memory::CoalesceOptions& stream, const memory::CacheGeometry& l1,
                              const memory::CacheGeometry& l2, const std::string& where) {
  if (l1.bytes != 0) {
    check("the L1's lines are not those of the accesses", where, l1.line_bytes, stream.line_bytes, false);
    check("the L1's sectors are smaller than those of the accesses", where, l1.sector(), stream.sector_bytes, true);
  }
  if (l2.bytes == 0) {
    return {stream.line_bytes, stream.sector_bytes, stream.line_bytes, stream.sector_bytes};
  }
  check("the L2's lines are smaller than the sectors of the accesses", where, l2.line_bytes, stream.sector_bytes, true);
  return {stream.line_bytes, stream.sector_bytes, l2.line_bytes, l2.sector()};
}

}  // namespace

SectorMap::SectorMap(const memory::CoalesceOptions& stream, const memory::CacheGeometry& l1,
                     const memory::CacheGeometry& l2, const std::string& where)
    : to_l2_(split_to_l2(stream, l1, l2, where)),
      same_(l2.bytes != 0 && l2.line_bytes == stream.line_bytes && l2.sector() == stream.sector_bytes) {
  const std::uint32_t l1_sector = l1.bytes == 0 ? stream.sector_bytes : l1.sector();
  const std::uint32_t line = stream.line_bytes;
  const memory::LineSplit to_l1(line, stream.sector_bytes, line, l1_sector);
  const memory::LineSplit from_l1(line, l1_sector, line, stream.sector_bytes);
  for (unsigned bits = 0; bits < 256; ++bits) {
    const auto mask = static_cast<std::uint8_t>(bits);
    to_l1.each(0, mask, [&](std::uint64_t, std::uint8_t sectors) { l1_of_units_[bits] = sectors; });
    from_l1.each(0, mask, [&](std::uint64_t, std::uint8_t units) { units_of_l1_[bits] = units; });
  }
}

}  // namespace rayreplay::machine
