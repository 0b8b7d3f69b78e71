// Does the map from a stream's sectors to the caches' agree with going through the bytes one by one?
#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "base/error.hpp"
#include "sim/machine/interleaving/sector_map.hpp"

namespace rayreplay::test {
namespace {

using machine::SectorMap;
using memory::CacheGeometry;
using memory::CoalesceOptions;

/// Line and sectors of the L2, by every byte of the units.
std::map<std::uint64_t, unsigned> by_bytes(std::uint64_t line, unsigned units, const CoalesceOptions& stream,
                                           const CacheGeometry& l2) {
  std::map<std::uint64_t, unsigned> touched;
  for (std::uint64_t byte = 0; byte < stream.line_bytes; ++byte) {
    if ((units >> (byte / stream.sector_bytes) & 1U) != 0) {
      const std::uint64_t address = line * stream.line_bytes + byte;
      touched[address / l2.line_bytes] |= 1U << (address % l2.line_bytes / l2.sector());
    }
  }
  return touched;
}

TEST(SectorMap, AgreesWithGoingThroughTheBytes) {
  int maps = 0;
  for (const std::uint32_t sector : {4U, 32U}) {
    for (const std::uint32_t units_a_line : {1U, 2U, 4U, 8U}) {
      const CoalesceOptions stream{.line_bytes = sector * units_a_line, .sector_bytes = sector};
      for (std::uint32_t l2_line = sector; l2_line <= 1024; l2_line *= 2) {
        for (std::uint32_t sectors_a_line = 1; sectors_a_line <= 8 && sectors_a_line <= l2_line; sectors_a_line *= 2) {
          const CacheGeometry l2{.bytes = 1U << 20U, .line_bytes = l2_line, .sector_bytes = l2_line / sectors_a_line};
          const SectorMap map(stream, {}, l2, "test");
          ++maps;
          for (unsigned units = 1; units < 1U << units_a_line; ++units) {
            for (const std::uint64_t line : {0U, 1U, 7U, 1000U}) {
              std::map<std::uint64_t, unsigned> found;
              std::uint64_t last = 0;
              map.each_l2_line(line, static_cast<std::uint8_t>(units), [&](std::uint64_t at, std::uint8_t sectors) {
                ASSERT_TRUE(found.empty() || at > last);
                last = at;
                found[at] = sectors;
              });
              ASSERT_EQ(found, by_bytes(line, units, stream, l2))
                  << "lines of " << stream.line_bytes << ", sectors of " << sector << ", L2 lines of " << l2_line
                  << " with " << sectors_a_line << " sectors, units " << units << ", line " << line;
              ASSERT_EQ(map.first_l2_line(line), line * stream.line_bytes / l2_line);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(maps, 100);
}

TEST(SectorMap, SectorsOfTheL1AreWholeUnits) {
  const CoalesceOptions stream{.line_bytes = 128, .sector_bytes = 16};
  for (const std::uint32_t sector : {16U, 32U, 64U, 128U}) {
    const SectorMap map(stream, {.bytes = 4096, .line_bytes = 128, .sector_bytes = sector}, {}, "test");
    const std::uint32_t units_a_sector = sector / 16;
    for (unsigned units = 0; units < 256; ++units) {
      unsigned sectors = 0;
      unsigned filled = 0;
      for (unsigned unit = 0; unit < 8; ++unit) {
        if ((units >> unit & 1U) != 0) {
          sectors |= 1U << (unit / units_a_sector);
        }
      }
      for (unsigned unit = 0; unit < 8; ++unit) {
        filled |= (sectors >> (unit / units_a_sector) & 1U) << unit;
      }
      EXPECT_EQ(map.l1_sectors(static_cast<std::uint8_t>(units)), sectors);
      EXPECT_EQ(map.units(static_cast<std::uint8_t>(sectors)), filled);
    }
  }
}

TEST(SectorMap, WhatDoesNotFitIsRefused) {
  const CoalesceOptions stream{.line_bytes = 128, .sector_bytes = 32};
  EXPECT_THROW(SectorMap(stream, {.bytes = 4096, .line_bytes = 64}, {}, "test"), Error);
  EXPECT_THROW(SectorMap(stream, {.bytes = 4096, .line_bytes = 128, .sector_bytes = 16}, {}, "test"), Error);
  EXPECT_THROW(SectorMap(stream, {}, {.bytes = 4096, .line_bytes = 16}, "test"), Error);
}

}  // namespace
}  // namespace rayreplay::test
