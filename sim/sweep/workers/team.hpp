// The processes of one sweep. Rank 0 leads: it lists the unfinished runs, and writes the sweep's database at the end.
//
// Contract: every rank calls `gather` equally often and in the same order; waiting yields the processor. `fetch_add`
// adds to a number on rank 0 and returns the value before. It may block until rank 0 calls any of these functions, so
// rank 0 does so every few milliseconds. All calls come from one thread.
//
// `in_step` runs a step on every rank and gives all ranks every rank's result. If a step fails, all ranks throw: rank 0
// throws TeamFailed, the error of the lowest failed rank with that rank's name; the others throw RankFailed, which
// needs no message. Steps may be nested: an error of the inner step ends the outer one on all ranks. Without a team a
// step is a plain call.
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
inline constexpr std::int64_t kFail = std::int64_t{1} << 48;  ///< after an error: ranks abandon running work, too

class Team {
 public:
  virtual ~Team() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int workers() const = 0;  ///< ranks that evaluate; the others only attend the steps
  /// The text of every rank, by rank.
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

using Texts = std::vector<std::string>;

struct RankResult {
  std::string name;  ///< "rank 3 on node7"
  Texts texts;
};

std::vector<RankResult> in_step(Team* team, const std::function<Texts()>& step);
/// All ranks found the same error: rank 0 throws it.
[[noreturn]] void throw_on(const Team& team, ErrorKind kind, const ErrorInfo& info);

}  // namespace rayreplay::sweep
