// For tests of launch sources: all streams, an allocation by its name, and instructions as text.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::test {

inline std::vector<memory::WarpStream> all_streams(memory::LaunchSource& source) {
  std::vector<std::uint32_t> items(source.items());
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    items[i] = i;
  }
  std::vector<memory::WarpStream> streams(items.size());
  source.generate(items, streams);
  return streams;
}

inline const memory::Allocation& named(const memory::Allocations& table, const std::string& name) {
  const auto found = std::ranges::find(table.rows(), name, &memory::Allocation::name);
  if (found == table.rows().end()) {
    throw std::runtime_error("no allocation " + name);
  }
  return *found;
}

/// "node 1011 load 32: top nodes+0 top nodes+0 blas 0 nodes+64": lanes, then each one's address in its allocation, and
/// those of its further pieces: "image 0+24,28".
inline std::vector<std::string> told(const memory::Instructions& raw, const memory::Allocations& table,
                                     std::uint32_t lanes) {
  std::vector<std::string> rows;
  for (const memory::Instruction& row : raw.rows) {
    std::string text(to_string(row.kind));
    text += ' ';
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      text += (row.mask >> lane & 1U) != 0 ? '1' : '0';
    }
    text += (row.store ? " store " : " load ") + std::to_string(row.bytes) + ":";
    for (int i = 0; i < std::popcount(row.mask); ++i) {
      memory::Allocations::Cursor cursor;
      const std::uint64_t address = raw.address[row.first + static_cast<std::uint32_t>(i)];
      const std::uint32_t index = table.find(address, cursor);
      text += " " + table.rows()[index].name + "+" + std::to_string(address - table.rows()[index].start);
      for (std::uint32_t piece = 1; piece < row.pieces; ++piece) {
        const std::uint32_t place = row.first + static_cast<std::uint32_t>(i) + piece * row.lanes();
        if (raw.address[place] != raw.address[place - row.lanes()]) {
          text += "," + std::to_string(raw.address[place] - table.rows()[index].start);
        }
      }
    }
    rows.push_back(text);
  }
  return rows;
}

}  // namespace rayreplay::test
