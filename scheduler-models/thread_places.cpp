#include "scheduler-models/thread_places.hpp"

#include <vector>

#include <fmt/format.h>

#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

std::optional<PlaceFault> fault_of_places(std::span<const std::uint32_t> thread_at, std::uint64_t threads) {
  const auto fault = [threads](std::string where, std::string found) {
    return PlaceFault{std::move(where), std::move(found), fmt::format("each of {} threads once", threads)};
  };
  std::vector<bool> seen(threads);
  std::uint64_t standing = 0;
  for (std::size_t place = 0; place < thread_at.size(); ++place) {
    const std::uint32_t thread = thread_at[place];
    if (thread == kNoThread) {
      continue;
    }
    if (thread >= threads || seen[thread]) {
      return fault(fmt::format("thread_at[{}]", place),
                   fmt::format("thread {}{}", thread, thread >= threads ? "" : " for the second time"));
    }
    seen[thread] = true;
    ++standing;
  }
  if (standing != threads) {
    return fault("thread_at", fmt::format("{} threads", standing));
  }
  return std::nullopt;
}

}  // namespace rayreplay::scheduler
