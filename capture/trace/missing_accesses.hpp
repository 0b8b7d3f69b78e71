// Accesses of shaders that a capture lost, because the device's memory for events was full or the spool was damaged.
//
// Contract: the numbers are those of the trace's configuration (/capture/missing_accesses, by ingest): an object for
// each launch that lost some, with `launch` (its index in the trace), `accesses` (lost for sure) and `lost_words` (of
// the events' records, which may have held more). Any text may be there: without such an object none are lost. Accesses
// of threads that were not chosen (access_sample.hpp), and those that no site stands for, are not counted.
#pragma once

#include <cstdint>

#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

struct MissingAccesses {
  std::uint64_t accesses = 0;
  std::uint64_t lost_words = 0;

  bool operator==(const MissingAccesses&) const = default;
  [[nodiscard]] bool any() const {
    return accesses != 0 || lost_words != 0;
  }
};

/// Of a launch, by its index in the trace.
[[nodiscard]] MissingAccesses missing_accesses(const Header& header, std::uint64_t launch);

}  // namespace rayreplay::trace
