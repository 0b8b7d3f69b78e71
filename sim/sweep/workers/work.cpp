#include "sim/sweep/workers/work.hpp"

namespace rayreplay::sweep {

Work work_of(experiment::Evaluator& evaluator) {
  return {[&evaluator](std::span<const experiment::Settings> complete, Accelerator* accelerator, Progress* progress) {
            return evaluator.evaluate(complete, accelerator, progress);
          },
          [&evaluator](const experiment::Settings& complete) { return evaluator.input_hash(complete); },
          [&evaluator](std::uint64_t bytes) { evaluator.limit_memory(bytes); },
          [&evaluator](const experiment::Settings& complete) { evaluator.check(complete); }};
}

}  // namespace rayreplay::sweep
