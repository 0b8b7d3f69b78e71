// The replayer: the warp events of given threads in given warps (MODELS.md §3, §4; ReRay thesis §3.2.1).
//
// Contract: each thread's queue is its warp events in order; heads are grouped by call = (kind, shader). At every step
// the policy picks one call among the heads of the warp's lanes; all lanes whose head is that call pop it together and
// form one warp event with their mask. SIMT efficiency η = Σ popcount(mask) / (S · warp events). Warps are independent.
// Exact integers, the same for any number of workers. Complexity: O(events + warp events · distinct heads), one
// pass over the kind and shader columns (two for many shaders: call_dictionary.hpp); memory O(warps + threads) where
// asked for, else the queues of two warps a worker. Parallel over warps. Errors: Usage for an unknown policy, a cost
// table of the wrong length or a warp size above 64; Internal for an assignment that breaks its contract. With
// `on_device` the same integers come from GPUs where there are any, each replaying a run of warps; the launch's calls
// stay there, a byte or two an event, for the replays to come.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.hpp"
#include "base/twin.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::simt {

/// Sums over warp events; `weighted_*` multiply each by its shader's cost.
struct Tally {
  std::uint64_t warp_events = 0;
  std::uint64_t active_lanes = 0;
  std::uint64_t weighted_events = 0;
  std::uint64_t weighted_lanes = 0;

  [[nodiscard]] double efficiency(std::uint32_t warp_size) const;           ///< 0 when there are no events
  [[nodiscard]] double weighted_efficiency(std::uint32_t warp_size) const;  ///< 0 when the cost is 0
  Tally& operator+=(const Tally& other);
  bool operator==(const Tally&) const = default;
};

enum class Policy : std::uint8_t {
  /// Traversal-stage heads (intersection, any-hit) first; then the call with the most waiting lanes; ties to the lowest
  /// shader id, then the lowest kind.
  StageMajority,
  /// The lowest kind in the order of EventKind, then the lowest shader id.
  MinShader,
  /// The call at the head of the lane that has waited longest (popped least recently; ties to the lowest lane).
  OldestLane,
  /// Diverged threads stay apart until they return to ray generation. Lanes form groups. A group whose heads differ
  /// splits by call. A group whose heads are all trace calls of ray generation waits there; when every living lane of
  /// the warp waits there, they are one group again. Lanes without events left are ignored. Groups run side by side;
  /// events are listed as if the group with the lowest lane always ran first.
  Independent,
  /// Lanes meet at every trace call of ray generation. Traversal-stage heads come first, then all others but those
  /// trace calls, which are made when every living lane waits at one. Within each of the three: the lowest shader id,
  /// then the lowest kind.
  TraceBarrier,
};

[[nodiscard]] Policy parse_policy(std::string_view name);  ///< "stage-majority", …; Usage names the nearest
[[nodiscard]] const char* to_string(Policy policy);

struct WarpEvent {
  trace::EventKind kind;
  std::uint16_t shader;
  std::uint64_t mask;  ///< bit i: lane i
  bool operator==(const WarpEvent&) const = default;
};

struct ReplayOptions {
  Policy policy = Policy::StageMajority;
  bool per_warp = false;
  bool per_thread = false;
  std::vector<std::uint32_t> shader_cost;  ///< cycles per call by shader id; empty: 1 each
  Progress* progress = nullptr;
  trace::AcceleratedLaunch* on_device = nullptr;  ///< of this very launch; null: the processor
};

/// Call = (kind, shader) with its sums, in order of kind, then shader.
struct CallTally {
  trace::EventKind kind;
  std::uint16_t shader;
  Tally tally;
};

struct ReplayResult {
  std::uint32_t warp_size = 0;
  Policy policy = Policy::StageMajority;
  Tally total;
  std::array<Tally, trace::kEventKinds> by_kind{};
  std::vector<Tally> by_shader;  ///< index: shader id
  std::vector<CallTally> by_call;
  std::vector<Tally> by_warp;  ///< row-major index of the warp; empty unless asked for
  /// By thread id, over the thread's warp events; empty unless wanted.
  std::vector<Tally> by_thread;
};

[[nodiscard]] ReplayResult replay(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                  const scheduler::WarpAssignment& assignment, const ReplayOptions& options = {});

inline constinit Twin<ReplayResult(const trace::Launch&, const std::vector<trace::Shader>&,
                                   const scheduler::WarpAssignment&, const ReplayOptions&)>
    replay_twin{"replay"};

}  // namespace rayreplay::simt
