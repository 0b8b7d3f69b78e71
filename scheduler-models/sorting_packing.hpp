// Base of packings that sort the threads, which most packings do.
//
// Contract: `compute` takes the threads in start order, lets `sort` sort them stably, and places them
// (sort_threads.hpp). `tiled` sorts inside each launch tile.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "scheduler-models/packing.hpp"
#include "scheduler-models/sort_threads.hpp"

namespace rayreplay::scheduler {

using SortThreads = std::function<void(const trace::Launch& launch, ThreadList& threads)>;

class SortingPacking final : public Packing {
 public:
  SortingPacking(SortThreads sort, bool tiled) : sort_(std::move(sort)), tiled_(tiled) {}

  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment& assignment) const override {
    ThreadList threads = threads_by_start(assignment);
    sort_(launch, threads);
    return place(assignment, threads, tiled_);
  }

 private:
  SortThreads sort_;
  bool tiled_;
};

}  // namespace rayreplay::scheduler
