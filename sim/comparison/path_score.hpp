// SIMT efficiency of warps weighted by the issue slots of each call's own path: what the hint advisor ranks by where
// the launch has paths.
//
// Contract: lanes that make a call together issue what PathCosts::group says, the definition that times by path share;
// calls without paths cost as in `costs`, for every lane the same.
//
//   efficiency = Σ over lanes' calls of their own issue slots ÷ (warp size · Σ over warp events of their issue slots)
//
// Every call's and every warp event's issue slots are rounded to sixteenths, so sums are exact in any order. So lanes
// of one call on different paths lower it, although they make one warp event. 0 where nothing is issued. `trace`,
// `launch` and `costs` (with paths) must outlive this object. Constructor O(events · blocks); `issued` O(events +
// lanes · blocks of warp events whose lanes differ), parallel over warps, the same for any number of workers.
#pragma once

#include <cstdint>
#include <span>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "sim/machine/costs.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::experiment {

class PathScore {
 public:
  PathScore(const trace::Trace& trace, const trace::Launch& launch, const machine::Costs& costs, simt::Policy policy);

  /// The table for the replay whose weights `efficiency` takes: issue slots of the calls without paths.
  [[nodiscard]] const simt::CallWeights& weights() const {
    return weights_;
  }
  /// Issue slots of all warp events, in sixteenths. `segment_at`: whole warps. `weights`: by warp, the replay's sums
  /// for the table above.
  [[nodiscard]] std::uint64_t issued(const scheduler::Segments& segments, std::span<const std::uint32_t> segment_at,
                                     std::uint32_t warp_size, std::span<const std::uint64_t> weights) const;
  /// The efficiency that `issued`, the sum above, means.
  [[nodiscard]] double efficiency(std::uint64_t issued, std::uint32_t warp_size) const;

 private:
  const trace::Trace& trace_;
  const trace::Launch& launch_;
  const machine::Costs& costs_;
  simt::Policy policy_;
  simt::CallWeights weights_;
  std::uint64_t of_lanes_ = 0;  ///< of all calls of the launch; the same however threads are grouped
};

}  // namespace rayreplay::experiment
