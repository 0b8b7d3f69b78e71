// SIMT efficiency by instruction of replayed warps: the sums of capture/profile/path_efficiency.hpp over warp events.
//
// Contract: the warp events are those of simt::replay and simt::replay_segments for the same pieces, places and policy.
// `event_offset` bounds the pieces (threads or segments); `piece_at`: by place, kNoSegment: empty; whole warps. Exact
// integers for any number of workers; parallel over warps. O(events + lanes · blocks of the warp events whose lanes
// have several paths). `paths` is of this launch. Errors: those of PathTallier and WarpRecorder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "capture/profile/path_efficiency.hpp"
#include "sim/simt/replayer.hpp"

namespace rayreplay::machine {

[[nodiscard]] profile::PathTallies tally_warps(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                               std::span<const std::uint64_t> event_offset,
                                               std::span<const std::uint32_t> piece_at, std::uint32_t warp_size,
                                               simt::Policy policy, const profile::EventPaths& paths);

}  // namespace rayreplay::machine
