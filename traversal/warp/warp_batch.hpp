// Warps in parallel: the common part of every WarpTraversal::trace.
//
// Contract: a worker executes chunks of warps in order, and logs are joined by chunk: results do not depend on the
// number of threads. Errors: Usage for a warp size outside 1 … 64, larger warps, or rows that do not ascend within the
// rays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbb/parallel_for.h>

#include "base/report_progress.hpp"
#include "traversal/kernels/decode_kernel.hpp"
#include "traversal/kernels/observer.hpp"
#include "traversal/warp/schedule.hpp"
#include "traversal/warp/warp.hpp"

namespace rayreplay::traversal {

void check_warps(std::span<const Ray> rays, std::span<const std::uint64_t> first_ray, const WarpTraceOptions& options);

/// Joins the logs into the result.
void join_logs(std::vector<StepLog>& logs, const WarpTraceOptions& options, WarpTraceResult& result);

/// Calls run.operator()<Observer>(result) with the smallest observer that reports what is wanted; hits and counters of
/// the result have their size.
template <class Run>
WarpTraceResult trace_with_observer(std::span<const Ray> rays, const WarpTraceOptions& options, const Run& run) {
  WarpTraceResult result;
  result.hits.resize(rays.size());
  result.counters.resize(options.counters ? rays.size() : 0);
  if (options.accesses && options.stack_entries > 0) {
    run.template operator()<SpillingObserver>(result);
  } else if (options.accesses) {
    run.template operator()<Observer<true, true, false>>(result);
  } else if (options.counters) {
    run.template operator()<Observer<true, false, false>>(result);
  } else {
    run.template operator()<Observer<false, false, false>>(result);
  }
  return result;
}

/// Each warp alone, with a new schedule from `make_schedule()`.
template <class MakeSchedule>
WarpTraceResult trace_warps(const bvh::Bvh& bvh, std::span<const Ray> rays, std::span<const std::uint64_t> first_ray,
                            const WarpTraceOptions& options, bool speculative, const MakeSchedule& make_schedule) {
  constexpr std::size_t kChunk = 32;
  check_warps(rays, first_ray, options);
  const std::size_t warps = first_ray.empty() ? 0 : first_ray.size() - 1;
  std::vector<StepLog> logs((warps + kChunk - 1) / kChunk);
  report_start(options.progress, "tracing warps", warps);
  WarpTraceResult result = trace_with_observer(rays, options, [&]<class Observer>(WarpTraceResult& parts) {
    tbb::parallel_for(std::size_t{0}, logs.size(), [&](std::size_t chunk) {
      const DecodeKernel kernel(*bvh.layout);
      Warp<DecodeKernel, Observer> warp(bvh, kernel, rays, options, speculative, logs[chunk], parts);
      const std::size_t end = std::min(warps, (chunk + 1) * kChunk);
      for (std::size_t index = chunk * kChunk; index < end; ++index) {
        for (std::uint64_t row = first_ray[index]; row < first_ray[index + 1]; ++row) {
          warp.load(static_cast<std::uint32_t>(row - first_ray[index]), row);
        }
        auto schedule = make_schedule();
        for (Choice next = schedule.choose(warp); next.mask != 0; next = schedule.choose(warp)) {
          warp.step(static_cast<std::uint32_t>(index), next.kind, next.mask);
        }
      }
      report_advance(options.progress, end - chunk * kChunk);
    });
  });
  join_logs(logs, options, result);
  report_finish(options.progress);
  return result;
}

}  // namespace rayreplay::traversal
