// What the runner asks of an evaluator: a few functions, so that tests run sweeps over work that they make up.
//
// Contract: `evaluate` as Evaluator::evaluate (sim/experiment/stages/evaluator.hpp), from several threads at a time.
// `input_hash` may be empty: then nothing is known about inputs; `limit_memory` may be empty where memory is not
// limited, and `forget` where nothing is kept. A Progress that is given to `evaluate` may throw Cancelled: evaluation
// lets it pass, and nothing of that call counts.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "base/progress.hpp"
#include "sim/experiment/stages/evaluator.hpp"

namespace rayreplay::sweep {

struct Work {
  std::function<std::vector<experiment::Outcome>(std::span<const experiment::Settings> complete,
                                                 Accelerator* accelerator, Progress* progress)>
      evaluate;
  std::function<std::string(const experiment::Settings& complete)> input_hash{};
  std::function<void(std::uint64_t bytes)> limit_memory{};
  std::function<void(std::span<const experiment::Settings> complete, bool of_input)> forget{};
};

[[nodiscard]] Work work_of(experiment::Evaluator& evaluator);

class Cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the sweep was stopped";
  }
};

}  // namespace rayreplay::sweep
