// Makes what stages give, each result once: the code between keys and numbers. Internal to this room.
//
// Contract: a StageMaker serves one call of `Evaluator::evaluate`. Shared results come from `KeptResults`, then from
// the store, and are made otherwise; a shared result that cannot be made fails again for everybody who wants it in the
// same call, without being tried again. `make` gives the numbers of one stage for several experiments that share
// everything which `make`'s group of that stage says (group_of): one result each, in their order; where the cheapest
// way for all fails, they are made one by one, so that each gets what it would get alone. Thrown: Internal errors and
// what is no error of rayreplay (a cancelled run).
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/bound.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/experiment/stages/evaluator.hpp"
#include "sim/experiment/stages/kept_results.hpp"
#include "sim/experiment/stages/stage_input.hpp"
#include "sim/experiment/stages/stage_key.hpp"
#include "sim/experiment/stages/stage_metrics.hpp"
#include "sim/experiment/streams/recorded_stream.hpp"

namespace rayreplay::experiment {

inline constexpr const char* kStoredMetrics = "metrics";
inline constexpr const char* kStoredStream = "stream";
inline constexpr const char* kStoredPacking = "packing";

/// One configuration, as far as it is known before anything is computed.
struct Experiment {
  const Settings* settings = nullptr;
  std::shared_ptr<const InputFacts> facts;
  ExperimentKeys keys;
};

/// What the experiments of one `make` share.
[[nodiscard]] const Key& group_of(Stage stage, const Experiment& experiment);

/// What is thrown, as a failure of a configuration; rethrown where it is none (Internal, a cancelled run).
[[nodiscard]] Failure failure_of(const std::exception_ptr& thrown);
[[nodiscard]] std::exception_ptr thrown_of(const Failure& failure);

class StageMaker {
 public:
  using Made = std::variant<MetricSet, Failure>;

  StageMaker(KeptResults& kept, Store* store, Accelerator* accelerator, Progress* progress)
      : kept_(&kept), store_(store), accelerator_(accelerator), progress_(progress) {}

  [[nodiscard]] std::vector<Made> make(Stage stage, std::span<const Experiment* const> members);

 private:
  struct Structure {
    std::shared_ptr<const InputData> input;  ///< the structure refers to its scene
    bvh::Bvh bvh;
  };
  using Assignment = scheduler::WarpAssignment;

  template <class T, class MakeValue>
  std::shared_ptr<const T> shared(const Key& key, const MakeValue& make_value);

  std::shared_ptr<const InputData> input(const Experiment& experiment);
  std::shared_ptr<const Structure> structure(const Experiment& experiment, std::vector<bvh::Tree>* trees);
  std::shared_ptr<const Assignment> assignment(const Experiment& experiment);
  std::shared_ptr<const scheduler::Bound> bound(const Experiment& experiment);
  std::shared_ptr<const std::vector<std::uint32_t>> ray_steps(const Experiment& experiment);
  std::shared_ptr<const RecordedStream> stream(const Experiment& experiment);
  using Working = KeptResults::Working;
  RecordedStream record_launch(const Experiment& experiment, Working& working);
  RecordedStream record_memory_trace(const Experiment& experiment, Working& working);
  bvh::Bvh build(const Experiment& experiment, const trace::Trace& trace, std::vector<bvh::Tree>* trees);

  std::vector<Made> together(Stage stage, std::span<const Experiment* const> members);
  MetricSet structure_numbers(const Experiment& experiment);
  MetricSet simt_numbers(const Experiment& experiment);
  std::vector<Made> models(std::span<const Experiment* const> members);
  std::vector<Made> traversals(std::span<const Experiment* const> members);
  std::vector<Made> caches(std::span<const Experiment* const> members);

  /// The launch's columns on the device, until another launch or stage wants the memory; null: the processor.
  trace::AcceleratedLaunch* on_device(const std::shared_ptr<const InputData>& input, std::uint32_t launch);

  KeptResults* kept_;
  Store* store_;
  Accelerator* accelerator_;
  Progress* progress_;
  std::map<Key, std::exception_ptr> failed_;
  std::shared_ptr<const InputData> uploaded_from_;
  std::unique_ptr<trace::AcceleratedLaunch> uploaded_;
};

}  // namespace rayreplay::experiment
