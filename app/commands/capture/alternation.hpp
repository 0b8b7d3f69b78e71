// Comparison of a program with itself under other shaders or another swizzle: times and pictures of alternating runs.
//
// Contract: a *pair* is a run of the program as it is (own) and a run with the change (changed); the kind that runs
// first alternates. The time of a run is the mean device time of its launches behind the first `warm_up`, over all
// processes. The change of a pair is changed time ÷ own time, − 1. `Alternation` collects runs; it gives the mean
// change with its confidence interval of 95 % (base/student_t.hpp, over the pairs), and says of each kind whether all
// its pictures have the bytes of the first own run's. Pictures are files that the program writes. They are removed
// before each run, so that no picture of an earlier run is compared.
// Errors: Input for a run without a timed launch behind the warm-up, or without a picture; Output for a picture that
// would be replaced. Memory: one copy of the pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/capture/capture_timing.hpp"
#include "app/report/export/table.hpp"
#include "base/student_t.hpp"
#include "capture/layer/options/options.hpp"

namespace rayreplay::app {

enum class RunKind : std::uint8_t { Own, Changed };

struct AlternationOptions {
  std::optional<std::uint32_t> asked;  ///< pairs of runs, 2 or more; none: no comparison is asked for
  std::uint32_t warm_up = 1;           ///< first launches of each run that do not count
  std::vector<std::string> pictures;
};

struct AlternatedRun {
  RunKind kind = RunKind::Own;
  double milliseconds = 0;     ///< mean of the launches that count
  std::uint64_t launches = 0;  ///< that count
};

class Alternation {
 public:
  /// `change`: the options that the changed runs have, as a user would write them.
  Alternation(AlternationOptions options, std::string program, std::string change);

  /// The kind of run `number`, from 0; there are 2 · pairs.
  [[nodiscard]] static RunKind kind_of(std::uint32_t number);
  /// Output error if a picture is there already and `force` is not given.
  void check_pictures(bool force) const;
  void remove_pictures() const;
  /// Missing if a changed run was the program as it is: the layer replaced none of its modules, swizzled no launch, and
  /// put no SER into it.
  void require_change(const layer::Options& settings, const Timings& timings) const;
  /// Takes the times of a run that ended, and reads its pictures.
  void add(RunKind kind, const Timings& timings);

  [[nodiscard]] const std::vector<AlternatedRun>& runs() const {
    return runs_;
  }
  [[nodiscard]] std::vector<double> changes() const;  ///< of each pair
  /// Whether a picture of this kind ever differed from the first own one.
  [[nodiscard]] bool differs(RunKind kind) const;
  [[nodiscard]] std::string verdict() const;
  [[nodiscard]] output::Result result(const std::vector<std::string>& notes) const;

 private:
  [[nodiscard]] std::vector<double> times_of(RunKind kind) const;
  [[nodiscard]] output::Table summary() const;

  struct Picture {
    std::string path;
    std::string bytes;  ///< of the first own run
    bool own_differs = false, changed_differs = false;
  };
  AlternationOptions options_;
  std::string program_, change_;
  std::vector<Picture> pictures_;
  std::vector<AlternatedRun> runs_;
  std::string device_;
  std::optional<std::vector<std::string>> not_asked_for_;  ///< modules of --shaders that no changed run used
  std::vector<std::string> replaced_;
};

}  // namespace rayreplay::app
