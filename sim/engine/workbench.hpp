// What a stage computes with: results of other stages, memory, devices, the store.
//
// Contract: a workbench serves one call of the evaluator or one command. `shared` takes a result from memory or makes
// it; after a failure it throws the same exception at every further call, without another attempt. `numbers` returns
// the metrics of one stage for experiments of one group (ExperimentKeys::groups), one result each, in order. Throws
// only Internal errors and exceptions that are no rayreplay::Error (a cancelled run).
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "capture/trace/accelerated_launch.hpp"
#include "sim/engine/experiment.hpp"
#include "sim/engine/kept_results.hpp"
#include "sim/engine/store/store.hpp"

namespace rayreplay::experiment {

class Workbench {
 public:
  using Working = KeptResults::Working;

  Workbench(KeptResults& kept, Store* store, Accelerator* accelerator, Progress* progress)
      : kept_(&kept), store_(store), accelerator_(accelerator), progress_(progress) {}

  /// `make(working)` or `make()` returns the value and its bytes (KeptResults::get).
  template <class T, class Make>
  [[nodiscard]] std::shared_ptr<const T> shared(const Key& key, const Make& make) {
    if (const auto found = failed_.find(key); found != failed_.end()) {
      std::rethrow_exception(found->second);
    }
    try {
      return kept_->get<T>(key, make);
    } catch (...) {
      failed_.emplace(key, std::current_exception());
      throw;
    }
  }

  [[nodiscard]] std::vector<Made> numbers(Stage stage, std::span<const Experiment* const> members);

  /// The launch's columns on the device, until another launch or `free_device`. Null: computed on the CPU.
  [[nodiscard]] trace::AcceleratedLaunch* on_device(const std::shared_ptr<const InputData>& input,
                                                    std::uint32_t launch);
  void free_device() {
    uploaded_.reset();
  }

  [[nodiscard]] KeptResults& kept() const {
    return *kept_;
  }
  [[nodiscard]] Store* store() const {
    return store_;
  }
  [[nodiscard]] Accelerator* accelerator() const {
    return accelerator_;
  }
  [[nodiscard]] Progress* progress() const {
    return progress_;
  }

 private:
  KeptResults* kept_;
  Store* store_;
  Accelerator* accelerator_;
  Progress* progress_;
  std::map<Key, std::exception_ptr> failed_;
  std::shared_ptr<const InputData> uploaded_from_;
  std::unique_ptr<trace::AcceleratedLaunch> uploaded_;
};

/// A copy of the experiment with another value of one key. `settings` receives the settings and must outlive it.
[[nodiscard]] Experiment with(const Experiment& experiment, const std::string& key, const ParameterValue& value,
                              Settings& settings);

}  // namespace rayreplay::experiment
