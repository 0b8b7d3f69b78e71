#include "scheduler-models/packing.hpp"

#include <atomic>
#include <functional>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

namespace rayreplay::scheduler {
namespace {

constexpr std::size_t kRowsPerTask = std::size_t{1} << 15;

using Range = tbb::blocked_range<std::size_t>;

/// Isolated from the caller's tasks: if these were cancelled, missing parts would go unnoticed.
void for_rows(std::size_t rows, const std::function<void(const Range&)>& body) {
  tbb::task_group_context context(tbb::task_group_context::isolated);
  tbb::parallel_for(Range(0, rows, kRowsPerTask), body, context);
}

std::size_t count_rows(std::size_t rows, const std::function<std::size_t(const Range&, std::size_t)>& body) {
  tbb::task_group_context context(tbb::task_group_context::isolated);
  return tbb::parallel_reduce(Range(0, rows, kRowsPerTask), std::size_t{0}, body, std::plus<>(), context);
}

/// As many rows as threads, and every thread named: then each is named once.
bool names_each_thread(const Swizzle& swizzle, std::uint64_t threads) {
  if (swizzle.size() != threads) {
    return false;
  }
  std::vector<std::uint8_t> named(threads, 0);
  for_rows(swizzle.size(), [&](const Range& range) {
    for (std::size_t row = range.begin(); row < range.end(); ++row) {
      if (swizzle[row] < threads) {
        std::atomic_ref(named[swizzle[row]]).store(1, std::memory_order_relaxed);
      }
    }
  });
  return count_rows(named.size(), [&](const Range& range, std::size_t count) {
           for (std::size_t thread = range.begin(); thread < range.end(); ++thread) {
             count += named[thread];
           }
           return count;
         }) == threads;
}

}  // namespace

Swizzle Packing::compute_on(const trace::Launch& launch, const WarpAssignment& assignment,
                            trace::AcceleratedLaunch* accelerated) const {
  return packing_twin.run(
      accelerator_of(accelerated), [&] { return compute(launch, assignment); }, accelerated, assignment, origin());
}

void check_bijection(const Swizzle& swizzle, std::uint64_t threads, const std::string& name) {
  if (names_each_thread(swizzle, threads)) {
    return;
  }
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
  const auto& places = assignment.thread_at;
  const std::size_t threads = count_rows(places.size(), [&](const Range& range, std::size_t count) {
    for (std::size_t place = range.begin(); place < range.end(); ++place) {
      count += places[place] != kNoThread ? 1U : 0U;
    }
    return count;
  });
  check_bijection(swizzle, threads, "swizzle");
  WarpAssignment result;
  result.warp_size = assignment.warp_size;
  result.start_rank = assignment.start_rank;
  result.tile = assignment.tile;
  result.thread_at.resize(places.size());
  for_rows(places.size(), [&](const Range& range) {
    for (std::size_t place = range.begin(); place < range.end(); ++place) {
      const std::uint32_t thread = places[place];
      result.thread_at[place] = thread != kNoThread ? swizzle[thread] : kNoThread;
    }
  });
  return result;
}

}  // namespace rayreplay::scheduler
