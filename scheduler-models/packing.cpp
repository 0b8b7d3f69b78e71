#include "scheduler-models/packing.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace rayreplay::scheduler {

void check_bijection(const Swizzle& swizzle, std::uint64_t threads, const std::string& name) {
  const auto fail = [&](const std::string& where, const std::string& found) {
    throw Error(ErrorKind::Input, {"the swizzle is no bijection on the launch's threads", where, found,
                                   threads == 0 ? std::string("no rows: the launch has no threads")
                                                : fmt::format("each thread from 0 to {} once", threads - 1),
                                   ""});
  };
  if (swizzle.size() != threads) {
    fail(name, fmt::format("{} rows for {} threads", swizzle.size(), threads));
  }
  std::vector<std::uint32_t> first_row(threads, kNoThread);
  for (std::size_t row = 0; row < swizzle.size(); ++row) {
    const std::uint32_t thread = swizzle[row];
    if (thread >= threads) {
      fail(fmt::format("{}[{}]", name, row), fmt::format("row {} names thread {}", row, thread));
    }
    if (first_row[thread] != kNoThread) {
      fail(fmt::format("{}[{}]", name, row),
           fmt::format("row {} repeats thread {}, first seen at row {}", row, thread, first_row[thread]));
    }
    first_row[thread] = static_cast<std::uint32_t>(row);
  }
}

WarpAssignment apply(const WarpAssignment& assignment, const Swizzle& swizzle) {
  const auto empty = std::count(assignment.thread_at.begin(), assignment.thread_at.end(), kNoThread);
  check_bijection(swizzle, assignment.thread_at.size() - static_cast<std::size_t>(empty), "swizzle");
  WarpAssignment result = assignment;
  for (std::uint32_t& thread : result.thread_at) {
    if (thread != kNoThread) {
      thread = swizzle[thread];
    }
  }
  return result;
}

}  // namespace rayreplay::scheduler
