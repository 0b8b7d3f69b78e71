// Costs of single calls, from the paths of a trace captured with `--profile paths`.
//
// Contract: `measure_paths` gives each event of the launch the issue slots that its call executed: Σ over the blocks of
// its path of executions · issue slots (as executed_instructions of cost_sources.hpp). capture/profile/event_paths.hpp
// says which events have a path, and how the trace calls of ray generation share one. A cost is at most kMaxIssue.
//
// Lanes that make a call together execute each block as often as the lane with most executions of it
// (EventPaths::issue_slots): `group` gives their issue slots. Lanes of unknown events cost the mean of the
// call's events: the group has at least that.
//
// Means and least costs are over the launch's known events. Memory: 4 bytes an event, and the paths' counts, to which
// this object refers: the trace must outlive it. O(events + paths · blocks); `group` O(lanes · blocks), O(lanes) where
// all lanes have one path. Errors: those of profile::path_profile.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/profile/event_paths.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::machine {

/// A kind of calls whose events have costs of their own.
struct PathCall {
  std::size_t call = 0;  ///< index in Costs::calls
  double mean = 0;       ///< issue slots of an event; above 0
  double least = 0;      ///< of an event
};

class PathCosts {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  PathCosts(const trace::Trace& trace, const trace::Launch& launch);

  /// Mean by shader; below 0: none of its events is known.
  [[nodiscard]] const std::vector<double>& means() const {
    return means_;
  }
  /// Chooses the calls (indices in Costs::calls) that have costs of their own; those whose mean is 0 have none.
  void choose(std::span<const std::size_t> calls);

  [[nodiscard]] std::span<const PathCall> calls() const {
    return calls_;
  }
  /// Place of a call in calls(); kNone: its events have no costs of their own.
  [[nodiscard]] std::uint32_t place(std::size_t call) const {
    return place_[call];
  }
  /// The way in which the event's call ran (a path, or a path shared by several trace calls), as a number. 0: unknown.
  [[nodiscard]] std::uint32_t way(std::uint64_t row) const {
    return events_.way(row);
  }
  /// Issue slots of a warp event of the call at this place: `ways` of its lanes, one or more, in any order. Sorts them.
  [[nodiscard]] double group(std::uint32_t place, std::vector<std::uint32_t>& ways) const;

 private:
  [[nodiscard]] double slots(std::span<const std::uint32_t> ways) const;
  void take_means(const trace::Launch& launch);

  profile::EventPaths events_;
  std::vector<double> cost_;           ///< by way − 1
  std::vector<double> means_, least_;  ///< by shader
  std::vector<PathCall> calls_;
  std::vector<std::uint32_t> place_;  ///< by call
};

/// Null if the trace has no paths or none of the launch's events has one.
[[nodiscard]] std::shared_ptr<PathCosts> measure_paths(const trace::Trace& trace, const trace::Launch& launch);

}  // namespace rayreplay::machine
