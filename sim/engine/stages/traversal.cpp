#include "sim/engine/stages/traversal.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"
#include "sim/engine/stages/input.hpp"
#include "sim/engine/stages/structure.hpp"
#include "sim/engine/traversal_memory.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint64_t kRayBytes = 2400;

/// Position of `spec` in the list; appended if it is missing.
std::size_t place_in(std::vector<std::string>& specs, const std::string& spec) {
  const auto found = std::ranges::find(specs, spec);
  const auto place = static_cast<std::size_t>(found - specs.begin());
  if (found == specs.end()) {
    specs.push_back(spec);
  }
  return place;
}

MetricSet metrics_of(const TraverseRow& rays, const TraverseRow& warps, std::uint32_t warp_size) {
  MetricSet metrics;
  metrics.add_count("traversal_rays", rays.rays);
  if (rays.rays > 0) {
    const auto add_mean = [&](const char* name, std::uint64_t sum) {
      metrics.add(name, static_cast<double>(sum) / static_cast<double>(rays.rays));
    };
    add_mean("traversal_nodes_per_ray", rays.nodes);
    add_mean("traversal_boxes_per_ray", rays.boxes);
    add_mean("traversal_triangles_per_ray", rays.triangles);
    add_mean("traversal_bytes_per_ray", std::accumulate(rays.bytes.begin(), rays.bytes.end(), std::uint64_t{0}));
  }
  metrics.add_count("traversal_hits", rays.hits);
  metrics.add_count("traversal_unobserved", rays.unobserved);
  traversal::StepTally all;
  for (const traversal::StepTally& steps : warps.steps) {
    all += steps;
  }
  if (all.steps > 0) {
    metrics.add("traversal_warp_efficiency", all.efficiency(warp_size));
  }
  return metrics;
}

std::vector<Made> make_numbers(Workbench& bench, std::span<const Experiment* const> members) {
  TraverseOptions wanted;
  std::vector<std::pair<std::size_t, std::size_t>> rows;
  for (const Experiment* member : members) {
    rows.emplace_back(place_in(wanted.traversals, member->settings->text("traversal.ray")),
                      place_in(wanted.warp_traversals, member->settings->text("traversal.warp")));
  }
  const Experiment& first = *members.front();
  const TraverseResult result = traverse_launch(bench, first, wanted);
  const std::uint32_t warp_size = decisions(*first.settings, *first.facts).warp_size;
  std::vector<Made> made;
  made.reserve(rows.size());
  for (const auto& [ray, warp] : rows) {  // row 0 is the recorded traversal
    made.emplace_back(metrics_of(result.rows[1 + ray], result.rows[1 + wanted.traversals.size() + warp], warp_size));
  }
  return made;
}

}  // namespace

TraverseResult traverse_launch(Workbench& bench, const Experiment& experiment, TraverseOptions wanted) {
  const auto built = structure(bench, experiment);
  const auto packed = assignment(bench, experiment);
  bench.free_device();
  const trace::Launch& launch = launch_of(*built->input, experiment);
  Workbench::Working working(bench.kept());
  if (bench.kept().limited()) {
    working.set(batch_bytes(launch, built->bvh));
  }
  wanted.progress = bench.progress();
  wanted.accelerator = bench.accelerator();
  TraverseResult result = traverse(launch, built->bvh, *packed, wanted);
  result.packing = experiment.settings->text("packing");
  return result;
}

namespace {

constexpr StageCode kCode = {
    .estimate_bytes =
        [](const Experiment& experiment) {
          return std::min(experiment.launch().rays, TraverseOptions{}.batch_rays) * kRayBytes;
        },
    .numbers = make_numbers,
};

const StageRegistrar kRegistrar(
    {.name = "traversal",
     .text = "The launch's rays traced again: nodes, boxes, triangles and bytes of each",
     .position = 50,
     .takes = {"input", "structure", "assignment"},
     .metrics =
         {
             {"traversal_rays", "", "rays", "Rays that were traced again", Goal::None},
             {"traversal_nodes_per_ray", "", "nodes", "Nodes visited, mean of a ray", Goal::Less},
             {"traversal_boxes_per_ray", "", "boxes", "Boxes tested, mean of a ray", Goal::Less},
             {"traversal_triangles_per_ray", "", "triangles", "Triangles tested, mean of a ray", Goal::Less},
             {"traversal_bytes_per_ray", "", "bytes", "Bytes read from the structure, mean of a ray", Goal::Less},
             {"traversal_hits", "", "rays", "Rays that hit something", Goal::None},
             {"traversal_unobserved", "", "candidates",
              "Candidates that shaders decide on and of which the trace has no record", Goal::Less},
             {"traversal_warp_efficiency", "", "share",
              "Active lanes of all lanes, over the steps of the warp traversal", Goal::More},
         },
     .rank = 3,
     .varies = {"*"},
     .unit_shares = "structure",
     .unit_weight = 3},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
