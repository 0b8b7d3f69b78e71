#include "sim/machine/path_tally.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include "sim/machine/warp_paths.hpp"

namespace rayreplay::machine {

profile::PathTallies tally_warps(const trace::Launch& launch, const std::vector<trace::Shader>& shaders,
                                 std::span<const std::uint64_t> event_offset, std::span<const std::uint32_t> piece_at,
                                 std::uint32_t warp_size, simt::Policy policy, const profile::EventPaths& paths) {
  const profile::PathTallier tallier(paths, shaders, launch);
  profile::PathTallies sums;
  sums.by_call.resize(shaders.size() * trace::kEventKinds);
  struct Part {
    WarpPaths warps;
    profile::PathTallies sums;
  };
  oneapi::tbb::enumerable_thread_specific<Part> parts([&] {
    return Part{WarpPaths(launch, shaders, event_offset, warp_size, policy), sums};
  });
  constexpr std::size_t kWarpsPerTask = 32;
  oneapi::tbb::parallel_for(
      oneapi::tbb::blocked_range<std::size_t>(0, piece_at.size() / warp_size, kWarpsPerTask), [&](const auto& range) {
        Part& mine = parts.local();
        for (std::size_t warp = range.begin(); warp < range.end(); ++warp) {
          mine.warps.each(
              piece_at.subspan(warp * warp_size, warp_size), [&](std::uint64_t row) { return paths.way(row); },
              [&](std::size_t call, std::vector<std::uint32_t>& ways) {
                if (tallier.has_groups(call)) {
                  tallier.add(ways, mine.sums.by_call[call]);
                }
              });
        }
      });
  for (const Part& part : parts) {
    sums += part.sums;
  }
  return sums;
}

}  // namespace rayreplay::machine
