#include "sim/machine/path_weigher.hpp"

#include <algorithm>
#include <cmath>

#include "sim/machine/job_maker.hpp"

namespace rayreplay::machine {

PathWeigher::PathWeigher(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                         const scheduler::Segments& segments, std::uint32_t warp_size, simt::Policy policy,
                         const PathCosts& paths)
    : paths_(&paths), warps_(launch, shaders, segments.event_offset, warp_size, policy), sums_(paths.calls().size()) {}

std::span<const std::uint64_t> PathWeigher::weigh(std::span<const std::uint32_t> segment_at) {
  std::fill(sums_.begin(), sums_.end(), 0U);
  warps_.each(
      segment_at, [this](std::uint64_t row) { return paths_->way(row); },
      [this](std::size_t call, std::vector<std::uint32_t>& ways) {
        if (const std::uint32_t place = paths_->place(call); place != PathCosts::kNone) {
          sums_[place] += scaled_cost(paths_->group(place, ways));
        }
      });
  return sums_;
}

void add_paths(const PathCosts& paths, const std::vector<CallCost>& calls, std::span<const std::uint64_t> sums,
               std::uint64_t& issue, std::uint64_t& latency) {
  for (std::size_t place = 0; place < sums.size(); ++place) {
    const PathCall& of = paths.calls()[place];
    const CallCost& cost = calls[of.call];
    const auto sum = static_cast<double>(sums[place]);
    issue += static_cast<std::uint64_t>(std::llround(sum * (cost.issue / of.mean)));
    if (!cost.own_latency()) {
      latency += static_cast<std::uint64_t>(std::llround(sum * (cost.latency / of.mean)));
    }
  }
}

}  // namespace rayreplay::machine
