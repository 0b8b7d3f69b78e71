// The processes of one sweep. Rank 0 leads: it decides what is left to do, and writes the sweep's database in the end.
//
// Contract: every rank calls `gather` equally often and in the same order; while it waits it leaves the processor
// alone. `fetch_add` adds to a number that rank 0 holds, and returns what it was before. It may take until rank 0 calls
// any of these functions; rank 0 therefore does so every few milliseconds. All calls come from one thread.
//   `in_step` runs a step on every rank, and gives all ranks what each of them returned. Where a step fails, it throws
//   on
// all ranks: on rank 0 TeamFailed, the error of the lowest rank with that rank's name; on the others RankFailed, which
// needs no message. A step may hold another one: what the inner one throws ends the outer one on all ranks, too.
// Without a team a step is a plain call.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace rayreplay::sweep {

enum class Counter : std::uint8_t { NextPiece, RowsDone, RowsFailed };
inline constexpr int kCounters = 3;

/// Added to Counter::NextPiece: no rank takes another piece.
inline constexpr std::int64_t kStop = std::int64_t{1} << 32;
inline constexpr std::int64_t kFail = std::int64_t{1} << 48;  ///< and none finishes what it has begun

class Team {
 public:
  virtual ~Team() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int workers() const = 0;  ///< ranks that evaluate; the others only attend the steps
  /// What every rank said, by rank.
  [[nodiscard]] virtual std::vector<std::string> gather(const std::string& mine) = 0;
  virtual std::int64_t fetch_add(Counter counter, std::int64_t value) = 0;
};

class TeamFailed : public Error {
 public:
  using Error::Error;
};

class RankFailed : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "another rank failed";
  }
};

struct RankResult {
  std::string name;  ///< "rank 3 on node7"
  std::string text;
};

std::vector<RankResult> in_step(Team* team, const std::function<std::string()>& step);
/// All ranks have found the same error: rank 0 throws it.
[[noreturn]] void throw_on(const Team& team, ErrorKind kind, const ErrorInfo& info);

}  // namespace rayreplay::sweep
