// Sums of a classification while several workers make it. Internal to this folder.
//
// Contract: workers count tests of different threads (by_thread and by_ray are written without locks); `finish` adds
// the counts of all workers. The sums do not depend on the distribution of threads.
#pragma once

#include <cstdint>
#include <span>

#include <tbb/enumerable_thread_specific.h>

#include "traversal/classification/classify.hpp"
#include "traversal/classification/judge.hpp"

namespace rayreplay::traversal {

struct CountedTest {
  std::uint64_t thread = 0;
  std::uint64_t ray = 0;
  Candidate candidate;
  RayGoal goal = RayGoal::ClosestHit;
  PrimitiveType type = PrimitiveType::Procedural;
};

class Accumulator {
 public:
  struct Worker {
    std::array<std::array<KindCounts, 2>, 2> split{};
    ObjectTally objects;
    std::uint64_t inactive_tests = 0, late_tests = 0, assumed_tests = 0;
    std::uint64_t any_hit_calls = 0, any_hits_beyond = 0;
    std::uint64_t tested_rays = 0;
  };

  Accumulator(Classification& result, std::uint64_t threads, std::uint64_t rays, bool per_ray);

  [[nodiscard]] Worker& local() {
    return workers_.local();
  }
  void count(Worker& worker, const CountedTest& test, const Verdict& verdict);
  /// Adds counts of a batch made elsewhere, kind fastest: by thread, and by ray where wanted.
  void add_rows(std::span<const std::uint64_t> by_thread, std::uint64_t first_thread,
                std::span<const std::uint64_t> by_ray, std::uint64_t first_ray);
  /// `others`: counts of objects made elsewhere.
  void finish(std::vector<ObjectCounts> others = {});

  [[nodiscard]] bool per_ray() const {
    return !result_->by_ray.empty();
  }

 private:
  Classification* result_;
  tbb::enumerable_thread_specific<Worker> workers_;
};

}  // namespace rayreplay::traversal
