// The runner's view of an evaluator: a few functions, so that tests can run sweeps over made-up work.
//
// Contract: `evaluate` is Evaluator::evaluate (sim/engine/evaluator.hpp), called from several threads at a time. Empty
// `input_hash`: inputs are not checked. Empty `check`: configurations are not asked about before the work. Empty
// `limit_memory`: memory has no limit. A Progress passed to `evaluate` may
// throw Cancelled; evaluation passes it on, and the call has no result.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/accelerator.hpp"
#include "base/progress.hpp"
#include "sim/engine/evaluator.hpp"

namespace rayreplay::sweep {

struct Work {
  std::function<std::vector<experiment::Outcome>(std::span<const experiment::Settings> complete,
                                                 Accelerator* accelerator, Progress* progress)>
      evaluate;
  std::function<std::string(const experiment::Settings& complete)> input_hash{};
  std::function<void(std::uint64_t bytes)> limit_memory{};
  std::function<void(const experiment::Settings& complete)> check{};  ///< Evaluator::check
};

[[nodiscard]] Work work_of(experiment::Evaluator& evaluator);

class Cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the sweep was stopped";
  }
};

}  // namespace rayreplay::sweep
