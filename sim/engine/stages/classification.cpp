#include "sim/engine/stages/classification.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "base/list_items.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stages/input.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kNoLayouts = "none";
constexpr const char* kHardware = "explain.hardware";

}  // namespace

bool simulates(const Settings& complete) {
  return !complete.text(kHardware).empty();
}

traversal::SimulateOptions classification_of(const Settings& complete) {
  traversal::SimulateOptions result;
  traversal::ClassifyOptions& classify = result.classify;
  classify.slack = complete.real("explain.slack");
  classify.enlarge = complete.real("bvh.enlarge");
  classify.culls = complete.flag("explain.culls");
  const std::string& layouts = complete.text("explain.enlarged_layouts");
  classify.enlarged_layouts = layouts == kNoLayouts ? std::vector<std::string>() : list_items(layouts, ';');
  classify.enlarged_builders = list_items(complete.text("explain.enlarged_builders"), ';');
  if (!simulates(complete)) {
    return result;
  }
  result.traversal = complete.text(kHardware);
  result.structure.layout = complete.text("explain.hardware_layout");
  result.structure.builder = complete.text("explain.hardware_builder");
  result.structure.enlarge = classify.enlarge;
  result.any_hit_only = complete.flag("explain.any_hit_only");
  result.ground_truth = complete.flag("explain.ground_truth");
  result.blind = complete.flag("explain.blind");
  traversal::require_ground_truth(result);
  return result;
}

traversal::Simulation classify_launch(Workbench& bench, const Experiment& experiment,
                                      const ClassificationWanted& wanted) {
  const auto data = input(bench, experiment);
  const auto launch = static_cast<std::uint32_t>(experiment.settings->integer("launch"));
  const std::string& name = experiment.facts->name;
  traversal::SimulateOptions options = classification_of(*experiment.settings);
  options.classify.per_test = wanted.per_test;
  options.classify.per_ray = wanted.per_ray;
  options.classify.progress = bench.progress();
  options.classify.accelerator = bench.accelerator();
  if (simulates(*experiment.settings)) {
    return traversal::simulate(data->trace, launch, name, options);
  }
  traversal::Simulation result;
  result.classification = traversal::classify(data->trace, launch, name, options.classify);
  return result;
}

namespace {

constexpr StageCode kCode = {};

const StageRegistrar kRegistrar({.name = "classification",
                                 .text = "Why each intersection test was made",
                                 .position = 90,
                                 .takes = {"input"},
                                 .reads = {"launch", "bvh.enlarge"},
                                 .command = "explain"},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
