// A trace that a command has read, as an Experiment, which the functions of the stages take (sim/engine/stages/).
//
// Contract: the constructor reads and checks the trace (Input names the fault of the file). `settings` are complete; a
// command may change them before `open`. Nothing is stored: results are kept while they are in use, and beyond that up
// to `kept_bytes`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "app/commands/options/options.hpp"
#include "app/console/progress.hpp"
#include "base/heartbeat.hpp"
#include "sim/engine/evaluator.hpp"
#include "sim/engine/stage_settings.hpp"

namespace rayreplay::app {

class OpenedTrace {
 public:
  OpenedTrace(std::string path, experiment::Settings settings, Accelerator* accelerator, std::uint64_t kept_bytes = 0)
      : path_(std::move(path)),
        settings_(std::move(settings)),
        data_(load_input(path_)),
        accelerator_(accelerator),
        progress_(console::make_progress()),
        heartbeat_(progress_.get()),
        evaluator_({nullptr, kept_bytes}) {
    decide();
  }

  [[nodiscard]] const trace::Trace& trace() const {
    return data_->trace;
  }
  [[nodiscard]] experiment::Settings& settings() {
    return settings_;
  }
  /// Another launch; what the trace decides may be another for it.
  void set_launch(std::uint32_t launch, const char* where) {
    settings_.set("launch", std::int64_t{launch}, where);
    decide();
  }
  [[nodiscard]] Progress* progress() const {
    return progress_.get();
  }
  [[nodiscard]] experiment::Workbench bench() {
    return evaluator_.workbench(accelerator_, progress_.get());
  }
  /// On the processor, with a heartbeat in place of progress by stage: several may run at once.
  [[nodiscard]] experiment::Workbench bench_alone() {
    return evaluator_.workbench(nullptr, &heartbeat_);
  }
  [[nodiscard]] experiment::Experiment open() const {
    return open(settings_);
  }
  /// With other complete settings, which must outlive the experiment.
  [[nodiscard]] experiment::Experiment open(const experiment::Settings& complete) const {
    return experiment::Evaluator::open(complete, data_, path_);
  }

 private:
  void decide() {
    const experiment::Experiment opened = open();
    experiment::Settings decided = *opened.settings;
    settings_ = std::move(decided);
  }

  std::string path_;
  experiment::Settings settings_;
  std::shared_ptr<const experiment::InputData> data_;
  Accelerator* accelerator_;
  std::unique_ptr<Progress> progress_;
  Heartbeat heartbeat_;
  experiment::Evaluator evaluator_;
};

}  // namespace rayreplay::app
