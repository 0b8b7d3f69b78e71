#include <bit>

#include "capture/import/memory_trace.hpp"

namespace rayreplay::import {

void RecordBlock::clear() {
  warp.clear();
  sm.clear();
  mask.clear();
  bytes.clear();
  store.clear();
  first.clear();
  address.clear();
}

void RecordBlock::add(std::uint16_t on_sm, std::uint32_t of_warp, bool is_store, std::uint32_t lane_bytes,
                      std::uint64_t lanes, const std::uint64_t* addresses) {
  if (first.empty()) {
    first.push_back(0);
  }
  sm.push_back(on_sm);
  warp.push_back(of_warp);
  store.push_back(is_store ? 1 : 0);
  bytes.push_back(lane_bytes);
  mask.push_back(lanes);
  address.insert(address.end(), addresses, addresses + std::popcount(lanes));
  first.push_back(static_cast<std::uint32_t>(address.size()));
}

}  // namespace rayreplay::import
