// Replays of segments: the warp events of given pieces of paths in given warps (MODELS.md §3, §4, §7).
//
// Contract: as simt::replay, with a launch's segments in the role of its threads. Further results: a histogram of
// active lanes, sums by bounce, and per warp up to kMaxWeights sums over its warp events of a weight by call. The
// bounce of a lane at a warp event is the index of the ray that its thread began last (of a Begin: of the ray it
// begins). A warp event counts, whole, for every bounce in it, as MODELS.md §3 does for threads. Bounces from kBounces
// − 1 on count as one. Exact integers for any number of workers; parallel over warps; memory O(warps · weights) beside
// the input. Schedules made on a device are not uploaded again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "scheduler-models/regrouping/segments.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::simt {

inline constexpr std::size_t kMaxWeights = 4;
inline constexpr std::size_t kBounces = 64;

/// One number per call: index shader · trace::kEventKinds + kind.
using CallWeights = std::vector<std::uint32_t>;

struct SegmentReplayOptions {
  Policy policy = Policy::StageMajority;
  std::vector<std::uint32_t> shader_cost;  ///< as in ReplayOptions
  std::vector<CallWeights> weights;        ///< at most kMaxWeights
  bool detail = false;                     ///< also `active_lanes` and `by_bounce`
  Progress* progress = nullptr;
  trace::AcceleratedLaunch* on_device = nullptr;  ///< as in ReplayOptions
  /// SegmentSchedule::on_device of the schedule whose column `segment_at` is, if it has one.
  const void* schedule_on_device = nullptr;
};

struct SegmentReplayResult {
  ReplayResult replay;                                                    ///< without by_warp and by_thread
  std::array<std::uint64_t, scheduler::kMaxWarpSize + 1> active_lanes{};  ///< warp events by popcount of their mask
  std::vector<std::array<Tally, trace::kEventKinds>> by_bounce;           ///< as many as occur, at most kBounces
  std::vector<std::uint64_t> weights;                                     ///< index: warp · number of tables + table
};

/// `segment_at`: by place, kNoSegment: empty; whole warps.
[[nodiscard]] SegmentReplayResult replay_segments(const trace::Launch& launch,
                                                  const std::vector<trace::Shader>& shaders,
                                                  const scheduler::Segments& segments,
                                                  std::span<const std::uint32_t> segment_at, std::uint32_t warp_size,
                                                  const SegmentReplayOptions& options);

inline constinit Twin<SegmentReplayResult(const trace::Launch&, const std::vector<trace::Shader>&,
                                          const scheduler::Segments&, std::span<const std::uint32_t> segment_at,
                                          std::uint32_t warp_size, const SegmentReplayOptions&)>
    replay_segments_twin{"replay of segments"};

/// The weights of single warps, one after another, as machines ask for them while they run. Not thread-safe.
class WarpWeigher {
 public:
  WarpWeigher(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
              const scheduler::Segments& segments, std::uint32_t warp_size, const SegmentReplayOptions& options);
  ~WarpWeigher();
  WarpWeigher(const WarpWeigher&) = delete;
  WarpWeigher& operator=(const WarpWeigher&) = delete;

  /// `segment_at`: warp_size entries. Returns the sums by table.
  [[nodiscard]] std::array<std::uint64_t, kMaxWeights> weigh(std::span<const std::uint32_t> segment_at);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::simt
