// Visits of the ray-tracing unit, from rays replayed through a structure.
#include <algorithm>

#include "base/report_progress.hpp"
#include "sim/machine/costs.hpp"
#include "traversal/observed.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::uint64_t kBatchRays = 1 << 16;
constexpr std::uint64_t kBatchEvents = 1 << 20;

}  // namespace

std::vector<std::uint32_t> count_ray_steps(const trace::Launch& launch, const bvh::Bvh& structure, Progress* progress) {
  const auto model = traversal::Traversals::create("near-first").model;
  std::vector<std::uint32_t> steps(launch.data.rays.size(), 0);
  report_start(progress, "counting steps of rays", steps.size());
  for (std::uint64_t thread = 0; thread < launch.data.threads();) {
    const std::uint64_t end = traversal::batch_end(launch, thread, kBatchRays, kBatchEvents);
    const traversal::Observed observed = traversal::observe(launch, thread, end);
    const traversal::ObservedShaders shaders(observed);
    const traversal::TraceResult traced = model->trace(structure, observed.rays, {.shaders = &shaders});
    for (std::size_t i = 0; i < traced.counters.size(); ++i) {
      const traversal::RayCounters& ray = traced.counters[i];
      steps[observed.first_ray + i] = ray.nodes + ray.leaves;
    }
    report_advance(progress, traced.counters.size());
    thread = end;
  }
  report_finish(progress);
  return steps;
}

}  // namespace rayreplay::machine
