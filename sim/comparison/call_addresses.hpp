// The memory that each shader call of a launch touches, list by list, for the counts and the search of the hint
// advisor.
//
// Contract: recorded accesses (trace::Accesses) to buffers and images, placed as shader_memory.hpp and image_memory.hpp
// say; those of shader records, and those that touch no memory, are left out. Each warp event of a segment has a list:
// a call its own accesses, a trace call those of the code around calls before it (recorded_accesses.hpp). Each segment
// has two more lists: of its *entry*, accesses of ray generation before the first event of a thread whose segment makes
// no trace call; and of its *end*, all accesses around calls behind its last trace call, those of ray generation (the
// store of the picture) as well as those of other shaders. So every recorded access of a thread with events is in one
// list. An entry of a list is a sector that an access touches. Its *instruction* is the number of a pair: an access
// site, and the n-th execution of it in the list. Lanes that make a call together run the same instruction of it as
// one. Lists are ascending by instruction, then sector, each entry once.
//
// Memory: 8 bytes an event and entry, 16 a segment. O(n log n) in the accesses of the launch, parallel over segments,
// the same for any number of workers. Errors: those of the memory's placement; Resource for 2^32 − 1 sectors or
// instructions or more; Usage for sizes that coalescing refuses (transactions.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/memory/streams/image_memory.hpp"
#include "sim/memory/streams/shader_memory.hpp"

namespace rayreplay::experiment {

struct AddressUnits {
  std::uint32_t line_bytes = 128;
  std::uint32_t sector_bytes = 32;
  std::string image_layout = memory::kAssumedImageLayout;
};

/// Where a launch's recorded accesses lie. Trace and launch must outlive it.
class AccessPlaces {
 public:
  AccessPlaces(const trace::Trace& trace, const trace::Launch& launch, const AddressUnits& units);

  [[nodiscard]] const AddressUnits& units() const {
    return units_;
  }
  [[nodiscard]] const memory::ImageMemory& images() const {
    return *images_;
  }
  /// Sectors of an access, each once, in no order; `into` is overwritten.
  void sectors(std::uint32_t site, std::uint64_t address, std::vector<std::uint32_t>& into) const;

 private:
  AddressUnits units_;
  const trace::Trace& trace_;
  memory::Allocations allocations_;
  std::unique_ptr<memory::ShaderMemory> buffers_;
  std::unique_ptr<memory::ImageMemory> images_;
};

/// A sector that a call touches: the instruction above the sector, so that order by instruction, then sector is theirs.
using TouchedSector = std::uint64_t;
[[nodiscard]] constexpr std::uint32_t instruction_of(TouchedSector touched) {
  return static_cast<std::uint32_t>(touched >> 32U);
}
[[nodiscard]] constexpr std::uint32_t sector_of(TouchedSector touched) {
  return static_cast<std::uint32_t>(touched);
}

class CallAddresses {
 public:
  /// `segments` must outlive this object.
  CallAddresses(const trace::Trace& trace, const trace::Launch& launch, const scheduler::Segments& segments,
                const AccessPlaces& places);

  /// Of a row of the launch's events, in this segment.
  [[nodiscard]] std::span<const TouchedSector> of_event(std::uint32_t segment, std::uint64_t row) const {
    return list(event_list(segment, row));
  }
  /// Of ray generation before the thread's first event; empty if the segment makes a trace call.
  [[nodiscard]] std::span<const TouchedSector> at_entry(std::uint32_t segment) const {
    return list(entry_list(segment, segments_->event_offset[segment]));
  }
  /// Behind the segment's last trace call, around calls.
  [[nodiscard]] std::span<const TouchedSector> at_end(std::uint32_t segment) const {
    return list(event_list(segment, segments_->event_offset[std::size_t{segment} + 1]));
  }
  /// All of the segment.
  [[nodiscard]] std::span<const TouchedSector> of_segment(std::uint32_t segment) const {
    const std::uint64_t first = first_[entry_list(segment, segments_->event_offset[segment])];
    const std::uint64_t last = first_[event_list(segment, segments_->event_offset[std::size_t{segment} + 1]) + 1];
    return std::span(entries_).subspan(first, last - first);
  }
  [[nodiscard]] std::size_t size() const {
    return entries_.size();
  }
  /// Lines are 2^line_shift sectors.
  [[nodiscard]] std::uint32_t line_shift() const {
    return line_shift_;
  }
  /// Numbers of lists. A segment's own follow each other: its entry, one for each row of its events, its end, which has
  /// the row behind them.
  [[nodiscard]] static constexpr std::uint64_t entry_list(std::uint32_t segment, std::uint64_t first_row) {
    return first_row + 2 * std::uint64_t{segment};
  }
  [[nodiscard]] static constexpr std::uint64_t event_list(std::uint32_t segment, std::uint64_t row) {
    return row + 2 * std::uint64_t{segment} + 1;
  }

 private:
  [[nodiscard]] std::span<const TouchedSector> list(std::uint64_t number) const {
    return std::span(entries_).subspan(first_[number], first_[number + 1] - first_[number]);
  }

  const scheduler::Segments* segments_;
  std::uint32_t line_shift_ = 0;
  trace::Column<std::uint64_t> first_;  ///< by list, one more at the end. A segment's lists follow each other
  trace::Column<TouchedSector> entries_;
};

}  // namespace rayreplay::experiment
