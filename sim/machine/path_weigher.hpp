// Costs from paths of a warp of segments: the part of a job that depends on which lanes call together.
//
// Contract: replays one warp and sums, for each of PathCosts::calls(), the issue slots of its warp events
// (PathCosts::group), each rounded to a whole multiple of 1/kCostScale (job_maker.hpp), so that sums are exact in any
// order. Not thread-safe. O(lanes · blocks) a warp event. All arguments but `policy` must outlive this object.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/machine/costs.hpp"
#include "sim/machine/path_costs.hpp"
#include "sim/machine/warp_paths.hpp"

namespace rayreplay::machine {

class PathWeigher {
 public:
  PathWeigher(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
              const scheduler::Segments& segments, std::uint32_t warp_size, simt::Policy policy,
              const PathCosts& paths);

  /// By place in PathCosts::calls(). Valid until the next call.
  [[nodiscard]] std::span<const std::uint64_t> weigh(std::span<const std::uint32_t> segment_at);

 private:
  const PathCosts* paths_;
  WarpPaths warps_;
  std::vector<std::uint64_t> sums_;
};

/// Adds the sums of a PathWeigher to those of scaled costs. A call that now costs another number than the mean of its
/// events has all of them scaled by that number / mean. Latency: of the calls whose latency is not known by itself, in
/// proportion to their instructions.
void add_paths(const PathCosts& paths, const std::vector<CallCost>& calls, std::span<const std::uint64_t> sums,
               std::uint64_t& issue, std::uint64_t& latency);

}  // namespace rayreplay::machine
