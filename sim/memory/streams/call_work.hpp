// The work of shader calls in access streams, and what the lanes of a warp that call together make of it.
//
// Contract: a call (shader and kind, numbered as in machine::Costs) has one cost for every warp that makes it, or costs
// that depend on the events of the lanes (LaneCosts). `run_together` reduces the calls that lanes make together, one a
// lane, to the different ones, ascending, each with its work. O(lanes log lanes), and LaneCosts once for each of its
// calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rayreplay::memory {

/// The cost of a shader call for a warp that makes it, whatever the number of its lanes.
struct CallWork {
  std::uint32_t issue = 0;    ///< instructions · kIssueScale
  std::uint32_t latency = 0;  ///< cycles of these instructions when no other warp runs

  bool operator==(const CallWork&) const = default;
};

/// Costs of calls that depend on the lanes. Functions may run at the same time.
class LaneCosts {
 public:
  LaneCosts() = default;
  LaneCosts(const LaneCosts&) = delete;
  LaneCosts& operator=(const LaneCosts&) = delete;
  virtual ~LaneCosts() = default;

  /// Whether the call has such costs.
  [[nodiscard]] virtual bool has(std::uint32_t call) const = 0;
  /// The work of lanes that make the call together. `events`: one of each lane, as rows of the launch's events, in any
  /// order; at least one.
  [[nodiscard]] virtual CallWork of(std::uint32_t call, std::span<const std::uint64_t> events) const = 0;
};

/// A lane's call.
struct LaneCall {
  std::uint32_t call = 0;
  std::uint64_t event = 0;  ///< row of the launch's events
};

/// Lanes that make a call together.
struct CallRun {
  std::uint32_t call = 0;
  CallWork work{};
};

/// `of_call`: by call; empty if no costs are wanted. `by_lane`: null if no call's cost depends on the lanes. Sorts
/// `calls`.
[[nodiscard]] std::vector<CallRun> run_together(std::vector<LaneCall>& calls, std::span<const CallWork> of_call,
                                                const LaneCosts* by_lane);

}  // namespace rayreplay::memory
