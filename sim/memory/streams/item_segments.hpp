// Segments of items that form while streams run (sim/machine/dispatcher.hpp).
//
// Contract: `segments_of` may be called from the time an item has formed until it ends, from several threads. It writes
// the segment of each lane, scheduler::kNoSegment for none, and returns the lanes (a bit each) whose threads moved into
// this warp from another one.
#pragma once

#include <cstdint>
#include <span>

namespace rayreplay::memory {

class ItemSegments {
 public:
  virtual ~ItemSegments() = default;
  /// Items are numbered below it; some may never form.
  [[nodiscard]] virtual std::uint32_t most_items() const = 0;
  /// `lanes`: as many as a warp has.
  virtual std::uint64_t segments_of(std::uint32_t item, std::span<std::uint32_t> lanes) const = 0;
};

}  // namespace rayreplay::memory
