#include "sim/engine/stages/structure.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bvh/reports/summary.hpp"
#include "capture/trace/launch_scene.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/input.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::uint64_t kPrimitiveBytes = 300;
/// Nodes and geometry: once for the device's memory map, once for builders and traversals.
constexpr std::uint64_t kCopies = 2;

std::uint64_t estimated_bytes(const Experiment& experiment) {
  return experiment.facts->primitives * kPrimitiveBytes;
}

bvh::Bvh build(Workbench& bench, const Experiment& experiment, const InputData& data, std::vector<bvh::Tree>* trees) {
  const trace::Launch& launch = launch_of(data, experiment);
  const std::string& name = experiment.facts->name;
  trace::require_scene(data.trace.scene, launch,
                       fmt::format("{}:/launch/{}", name, experiment.settings->integer("launch")));
  bvh::BvhOptions options = structure_of(*experiment.settings);
  options.progress = bench.progress();
  options.trees = trees;
  return bvh::build_bvh(data.trace.scene, launch.tlas, name, options);
}

std::shared_ptr<const Structure> structure_and(std::vector<bvh::Tree>* trees, Workbench& bench,
                                               const Experiment& experiment) {
  static const Stage self = stage("structure");
  return bench.shared<Structure>(experiment.key(self), [&](Workbench::Working& working) {
    auto made = std::make_shared<Structure>();
    made->input = input(bench, experiment);
    working.set(estimated_bytes(experiment));
    made->bvh = build(bench, experiment, *made->input, trees);
    const std::uint64_t bytes = kCopies * made->bvh.memory.end;
    return std::pair(std::shared_ptr<const Structure>(std::move(made)), bytes);
  });
}

MetricSet metrics_of(const bvh::Bvh& structure, const std::vector<bvh::Tree>& trees) {
  const bvh::BvhSummary summary = bvh::summarise(structure, trees);
  MetricSet metrics;
  metrics.add_count("structure_bytes", structure.memory.read);
  metrics.add_count("structure_nodes", summary.all.quality.nodes);
  metrics.add_count("structure_leaves", summary.all.quality.leaves);
  metrics.add_count("structure_references", summary.all.quality.references);
  metrics.add_count("structure_depth", summary.all.depth);
  metrics.add("structure_sah_cost", summary.all.quality.sah);
  metrics.add("structure_layout_sah_cost", summary.all.layout_sah);
  return metrics;
}

std::vector<Made> make_numbers(Workbench& bench, std::span<const Experiment* const> members) {
  const Experiment& experiment = *members.front();
  std::vector<bvh::Tree> trees;
  const auto built = structure_and(&trees, bench, experiment);
  std::vector<Made> made;
  if (trees.empty()) {  // the structure was kept, without its trees
    const bvh::Bvh again = build(bench, experiment, *built->input, &trees);
    made.emplace_back(metrics_of(again, trees));
  } else {
    made.emplace_back(metrics_of(built->bvh, trees));
  }
  return made;
}

}  // namespace

std::shared_ptr<const Structure> structure(Workbench& bench, const Experiment& experiment) {
  return structure_and(nullptr, bench, experiment);
}

namespace {

constexpr StageCode kCode = {
    .estimate_bytes = estimated_bytes, .numbers = make_numbers, .alone = true, .gives_result = true};

const StageRegistrar kRegistrar(
    {.name = "structure",
     .text = "Acceleration structure of the launch's scene, and its metrics",
     .position = 10,
     .takes = {"input"},
     .metrics =
         {
             {"structure_bytes", "", "bytes", "Memory of the structure: nodes, instances, geometry", Goal::Less},
             {"structure_nodes", "", "nodes", "Inner nodes, each structure once", Goal::None},
             {"structure_leaves", "", "leaves", "Leaves, each structure once", Goal::None},
             {"structure_references", "", "references", "References of leaves, each structure once", Goal::None},
             {"structure_depth", "", "nodes", "Nodes above the deepest leaf, both levels together", Goal::None},
             {"structure_sah_cost", "", "", "Cost of a random line by the surface area heuristic, exact boxes",
              Goal::Less},
             {"structure_layout_sah_cost", "", "", "The same over the boxes that traversals test", Goal::Less},
         },
     .rank = 5,
     .unit_shares = "input",
     .unit_weight = 1},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
