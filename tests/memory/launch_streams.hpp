// For tests of launch sources: all streams, and an allocation by its name.
#pragma once

#include <algorithm>
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

}  // namespace rayreplay::test
