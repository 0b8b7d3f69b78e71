// Batches of rays in parallel: the common part of every Traversal::trace.
//
// Contract: `make(observer)` makes a traverser for one worker: an object with `Hit trace(row, ray)` for traversable
// rays. A worker traces chunks of AccessLog::kRays rays in order, and logs belong to chunks: results do not depend on
// the number of threads. Memory: hits, counters and accesses of all rays once, tests twice while they are joined.
// Errors: those of the traverser and the shaders, and std::bad_alloc.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <tbb/parallel_for.h>

#include "base/report_progress.hpp"
#include "traversal/kernels/observer.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {

namespace detail {

inline constexpr std::size_t kChunk = AccessLog::kRays;
inline constexpr std::size_t kUsualAccesses = 48;  ///< of a ray; more make the log grow

struct ChunkLog {
  std::vector<PrimitiveTest> tests;
  std::uint64_t ignored_rays = 0;
};

/// `offset[r + 1]`: rows of the chunk up to and including ray r.
inline void join_tests(RayRows<PrimitiveTest>& result, std::vector<ChunkLog>& logs, std::size_t rays) {
  std::vector<std::uint64_t> first(logs.size() + 1, 0);
  for (std::size_t chunk = 0; chunk < logs.size(); ++chunk) {
    first[chunk + 1] = first[chunk] + logs[chunk].tests.size();
  }
  result.rows.resize(first.back());
  tbb::parallel_for(std::size_t{0}, logs.size(), [&](std::size_t chunk) {
    const std::vector<PrimitiveTest> rows = std::move(logs[chunk].tests);
    std::ranges::copy(rows, result.rows.begin() + static_cast<std::ptrdiff_t>(first[chunk]));
    const std::size_t end = std::min(rays, (chunk + 1) * kChunk);
    for (std::size_t ray = chunk * kChunk; ray < end; ++ray) {
      result.offset[ray + 1] += first[chunk];
    }
  });
}

/// An empty result for this many rays, in the memory of the recycled one.
inline TraceResult prepare_result(std::size_t rays, bool counters, bool accesses, bool tests, TraceResult* recycled) {
  TraceResult result = recycled != nullptr ? std::exchange(*recycled, {}) : TraceResult{};
  result.hits.assign(rays, {});
  result.counters.resize(counters ? rays : 0);
  result.accesses.end.resize(accesses ? rays : 0);
  result.accesses.blocks.resize(accesses ? (rays + kChunk - 1) / kChunk : 0);
  result.tests.offset.assign(tests ? rays + 1 : 0, 0);
  result.tests.rows.clear();
  result.ignored_rays = 0;
  return result;
}

template <class Observer, class Make>
TraceResult trace_batch_with(const bvh::Bvh& bvh, std::span<const Ray> rays, const TraceOptions& options,
                             const Make& make) {
  constexpr bool kAccesses = Observer::kLogsAccesses;
  TraceResult result = prepare_result(rays.size(), options.counters, kAccesses, Observer::kLogsTests, options.recycled);
  std::vector<ChunkLog> logs((rays.size() + kChunk - 1) / kChunk);
  report_start(options.progress, "tracing rays", rays.size());
  tbb::parallel_for(std::size_t{0}, logs.size(), [&](std::size_t chunk) {
    ChunkLog& log = logs[chunk];
    const std::size_t begin = chunk * kChunk;
    const std::size_t end = std::min(rays.size(), begin + kChunk);
    AccessRows* accesses = nullptr;
    if constexpr (kAccesses) {
      accesses = &result.accesses.blocks[chunk];
      accesses->clear();
      accesses->reserve((end - begin) * kUsualAccesses);
    }
    Observer observer(bvh, accesses, &log.tests);
    auto traverser = make(observer);
    for (std::size_t row = begin; row < end; ++row) {
      observer.start();
      if (!is_traversable(rays[row])) {
        ++log.ignored_rays;
      } else if (!bvh.top.empty()) {
        result.hits[row] = traverser.trace(row, rays[row]);
      }
      if (options.counters) {
        result.counters[row] = observer.counters();
      }
      if constexpr (kAccesses) {
        result.accesses.end[row] = accesses->size();
      }
      if constexpr (Observer::kLogsTests) {
        result.tests.offset[row + 1] = log.tests.size();
      }
    }
    report_advance(options.progress, end - begin);
  });
  for (const ChunkLog& log : logs) {
    result.ignored_rays += log.ignored_rays;
  }
  if constexpr (Observer::kLogsTests) {
    join_tests(result.tests, logs, rays.size());
  }
  report_finish(options.progress);
  return result;
}

}  // namespace detail

/// Chooses the smallest observer that reports all that is wanted. `make` is called with observers of several types.
template <class Make>
TraceResult trace_batch(const bvh::Bvh& bvh, std::span<const Ray> rays, const TraceOptions& options, const Make& make) {
  if (options.tests && options.accesses) {
    return detail::trace_batch_with<Observer<true, true, true>>(bvh, rays, options, make);
  }
  if (options.tests) {
    return detail::trace_batch_with<Observer<true, false, true>>(bvh, rays, options, make);
  }
  if (options.accesses) {
    return detail::trace_batch_with<Observer<true, true, false>>(bvh, rays, options, make);
  }
  if (options.counters) {
    return detail::trace_batch_with<Observer<true, false, false>>(bvh, rays, options, make);
  }
  return detail::trace_batch_with<Observer<false, false, false>>(bvh, rays, options, make);
}

}  // namespace rayreplay::traversal
