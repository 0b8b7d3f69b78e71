// Visits of the ray-tracing unit, from rays replayed through a rebuilt structure.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/progress_sink.hpp"
#include "sim/machine/costs.hpp"
#include "traversal/observed.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::uint64_t kBatchRays = 1 << 16;
constexpr std::uint64_t kBatchEvents = 1 << 20;

}  // namespace

std::vector<std::uint32_t> count_ray_steps(const trace::Trace& trace, const std::string& name,
                                           std::uint32_t launch_number, const bvh::BvhOptions& structure) {
  const trace::Launch& launch = trace.launches.at(launch_number);
  if (trace.scene.instances.empty() || launch.tlas == trace::kNone) {
    throw Error(ErrorKind::Missing,
                {"the launch's rays cannot be traced again to count their steps",
                 fmt::format("{}:/launch/{}", name, launch_number),
                 trace.scene.instances.empty() ? "no scene" : "the top-level structure that it used is not known",
                 "the geometry that the launch used", "capture with geometry, or give the steps per ray by hand"});
  }
  const bvh::Bvh bvh = bvh::build_bvh(trace.scene, launch.tlas, name, structure);
  const auto model = traversal::Traversals::create("near-first").model;
  std::vector<std::uint32_t> steps(launch.data.rays.size(), 0);
  sink_of(structure.progress).start("counting steps of rays", steps.size());
  for (std::uint64_t thread = 0; thread < launch.data.threads();) {
    const std::uint64_t end = traversal::batch_end(launch, thread, kBatchRays, kBatchEvents);
    const traversal::Observed observed = traversal::observe(launch, thread, end);
    const traversal::ObservedShaders shaders(observed);
    const traversal::TraceResult traced = model->trace(bvh, observed.rays, {.shaders = &shaders});
    for (std::size_t i = 0; i < traced.counters.size(); ++i) {
      const traversal::RayCounters& ray = traced.counters[i];
      steps[observed.first_ray + i] = ray.nodes + ray.leaves;
    }
    sink_of(structure.progress).advance(traced.counters.size());
    thread = end;
  }
  sink_of(structure.progress).finish();
  return steps;
}

}  // namespace rayreplay::machine
