// Check that places hold each thread exactly once, a rule that assignments and work plans share.
//
// Contract: `thread_at` has a thread or kNoThread for each place. The first fault comes back in the words of an Error
// (where, found, expected); nothing if there is none. O(places) time, a bit of memory for each thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rayreplay::scheduler {

struct PlaceFault {
  std::string where, found, expected;
};

[[nodiscard]] std::optional<PlaceFault> fault_of_places(std::span<const std::uint32_t> thread_at,
                                                        std::uint64_t threads);

}  // namespace rayreplay::scheduler
