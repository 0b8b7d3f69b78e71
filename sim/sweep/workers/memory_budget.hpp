// How much memory the units under way may take together.
//
// Contract: a unit's need is what it shares with others (results of stages: by key, counted once however many units
// under way want them), and what it needs by itself, one stage after another (the most of any). These are forecasts:
// what they turn out to be is the evaluator's affair (Evaluator::limit_memory). Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "sim/experiment/stages/evaluator.hpp"

namespace rayreplay::sweep {

struct Need {
  std::map<std::string, std::uint64_t> shared;  ///< key of the stage, bytes
  std::uint64_t own = 0;

  [[nodiscard]] std::uint64_t bytes() const;  ///< alone
  /// Of another run of the same unit: evaluated one after another.
  void join(const Need& other);
};

[[nodiscard]] Need need_of(std::span<const experiment::StageForecast> stages);

class MemoryBudget {
 public:
  /// 0: no limit.
  explicit MemoryBudget(std::uint64_t bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t bytes() const {
    return bytes_;
  }
  [[nodiscard]] std::uint64_t in_use() const {
    return in_use_;
  }
  [[nodiscard]] bool ever_fits(const Need& need) const {
    return bytes_ == 0 || need.bytes() <= bytes_;
  }
  [[nodiscard]] bool fits(const Need& need) const;
  void take(const Need& need);
  void give_back(const Need& need);

 private:
  struct Shared {
    std::uint64_t bytes = 0;
    std::uint64_t users = 0;
  };
  std::uint64_t bytes_;
  std::uint64_t in_use_ = 0;
  std::map<std::string, Shared> shared_;
};

}  // namespace rayreplay::sweep
