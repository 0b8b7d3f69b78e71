#include "traversal/classification/accumulator.hpp"

#include <limits>
#include <utility>

namespace rayreplay::traversal {

Accumulator::Accumulator(Classification& result, std::uint64_t threads, std::uint64_t rays, bool per_ray)
    : result_(&result) {
  result.rays = rays;
  result.by_thread.assign(threads, {});
  if (per_ray) {
    result.by_ray.assign(rays, {});
    result.t_star.assign(rays, std::numeric_limits<float>::quiet_NaN());
  }
}

void Accumulator::count(Worker& worker, const CountedTest& test, const Verdict& verdict) {
  const auto kind = static_cast<std::size_t>(verdict.kind);
  ++worker.split[static_cast<std::size_t>(test.goal)][static_cast<std::size_t>(test.type)][kind];
  ++result_->by_thread[test.thread][kind];
  if (!result_->by_ray.empty()) {
    ++result_->by_ray[test.ray][kind];
  }
  worker.inactive_tests += verdict.inactive ? 1U : 0U;
  worker.late_tests += verdict.late ? 1U : 0U;
  worker.objects.count(test.candidate, verdict.kind);
}

void Accumulator::add_rows(std::span<const std::uint64_t> by_thread, std::uint64_t first_thread,
                           std::span<const std::uint64_t> by_ray, std::uint64_t first_ray) {
  for (std::size_t i = 0; i < by_thread.size(); ++i) {
    result_->by_thread[first_thread + i / kTestKinds][i % kTestKinds] += by_thread[i];
  }
  for (std::size_t i = 0; i < by_ray.size(); ++i) {
    result_->by_ray[first_ray + i / kTestKinds][i % kTestKinds] += static_cast<std::uint32_t>(by_ray[i]);
  }
}

void Accumulator::finish(std::vector<ObjectCounts> others) {
  std::vector<std::vector<ObjectCounts>> objects;
  objects.push_back(std::move(others));
  for (Worker& worker : workers_) {
    for (std::size_t goal = 0; goal < 2; ++goal) {
      for (std::size_t type = 0; type < 2; ++type) {
        for (std::size_t kind = 0; kind < kTestKinds; ++kind) {
          const std::uint64_t count = worker.split[goal][type][kind];
          result_->split[goal][type][kind] += count;
          result_->total[kind] += count;
        }
      }
    }
    result_->inactive_tests += worker.inactive_tests;
    result_->late_tests += worker.late_tests;
    result_->assumed_tests += worker.assumed_tests;
    result_->any_hit_calls += worker.any_hit_calls;
    result_->any_hits_beyond += worker.any_hits_beyond;
    result_->tested_rays += worker.tested_rays;
    objects.push_back(worker.objects.take());
  }
  result_->by_object = merge(std::move(objects));
}

}  // namespace rayreplay::traversal
