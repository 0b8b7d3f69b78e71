// Counts of finished runs, the time left, and the best result so far.
//
// Contract: `add` counts rows as they arrive. Ties of the objective go to the lower run, so the best does not depend on
// the order. Time left: the remaining runs at this process's rate.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/stopwatch.hpp"
#include "sim/sweep/definition/definition.hpp"
#include "sim/sweep/results/database.hpp"
#include "sim/sweep/workers/runner.hpp"

namespace rayreplay::sweep {

class Tally {
 public:
  Tally(std::uint64_t total, std::uint64_t finished_before, std::uint64_t wanted, std::optional<Objective> objective);

  /// The best of the rows that are already in the database.
  void begin_with(const std::optional<BestRow>& best);
  void add(std::span<const ResultRow> rows);
  /// Counts of all ranks of a team; they replace those added here.
  void set_counts(std::uint64_t added, std::uint64_t failed);
  [[nodiscard]] Standing standing() const;
  [[nodiscard]] double seconds() const {
    return watch_.seconds();
  }
  [[nodiscard]] std::uint64_t added() const {
    return added_;
  }

 private:
  Stopwatch watch_;
  std::uint64_t before_, wanted_, added_ = 0;
  std::optional<Objective> objective_;
  Standing standing_;
};

}  // namespace rayreplay::sweep
