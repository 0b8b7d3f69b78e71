#include "sim/engine/stages/reuse.hpp"

#include <utility>

#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/stream.hpp"

namespace rayreplay::experiment {

CacheResult analyse_caches(Workbench& bench, const Experiment& experiment, CacheOptions wanted) {
  const PreparedStream prepared = prepare_stream(bench, experiment);
  CacheOptions options = cache_of(*experiment.settings);
  options.machine = prepared.machine;
  options.stream = prepared.options;
  options.interleaving = prepared.interleaving;
  options.interleaving.history = wanted.interleaving.history;
  options.elements = wanted.elements;
  options.pixels = wanted.pixels;
  options.request_sums = wanted.request_sums;
  options.take_elements = std::move(wanted.take_elements);
  options.histograms = wanted.histograms;
  options.take_element_distances = std::move(wanted.take_element_distances);
  options.evictions = wanted.evictions;
  options.make_raw = std::move(wanted.make_raw);
  options.progress = bench.progress();
  options.accelerator = bench.accelerator();
  CacheResult result = run_cache(prepared.data->trace, *prepared.launch, prepared.built->bvh, prepared.schedule,
                                 options, prepared.regrouped.get());
  result.shader_notes = prepared.shader_notes;
  result.packing = experiment.settings->text("packing");
  result.model =
      prepared.regrouped != nullptr ? prepared.regrouped->model : experiment.settings->text("scheduler.model");
  return result;
}

namespace {

constexpr StageCode kCode = {};

const StageRegistrar kRegistrar({.name = "reuse",
                                 .text = "The stream through one hierarchy of caches in full detail",
                                 .position = 80,
                                 .takes = {"input", "structure", "assignment"},
                                 .takes_if = {{"regrouping", "scheduler.model"}, {"regrouping", "scheduler.file"}},
                                 .command = "cache"},
                                &kCode);

}  // namespace
}  // namespace rayreplay::experiment
