#include "scheduler-models/warp_assignment.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "scheduler-models/thread_places.hpp"

namespace rayreplay::scheduler {
namespace {

[[noreturn]] void broken(std::string where, std::string found, std::string expected) {
  throw Error(ErrorKind::Internal, {"a warp assignment breaks its contract", std::move(where), std::move(found),
                                    std::move(expected), "report this: the launch order or packing is at fault"});
}

}  // namespace

void check(const WarpAssignment& assignment, std::uint64_t threads) {
  const std::size_t warps = assignment.warps();
  if (assignment.warp_size == 0 || assignment.warp_size > kMaxWarpSize) {
    broken("warp_size", fmt::format("{}", assignment.warp_size), fmt::format("1 to {}", kMaxWarpSize));
  }
  if (assignment.thread_at.size() != warps * assignment.warp_size) {
    broken("thread_at", fmt::format("{} places", assignment.thread_at.size()),
           fmt::format("{}: {} for each of {} warps", warps * assignment.warp_size, assignment.warp_size, warps));
  }
  if (assignment.tile.size() != warps) {
    broken("tile", fmt::format("{} entries", assignment.tile.size()), fmt::format("one per warp: {}", warps));
  }
  if (auto fault = fault_of_places(assignment.thread_at, threads)) {
    broken(std::move(fault->where), std::move(fault->found), std::move(fault->expected));
  }
  std::vector<bool> rank_taken(warps);
  std::vector<bool> tile_used(warps);
  std::size_t tiles = 0;
  for (std::size_t warp = 0; warp < warps; ++warp) {
    const std::uint32_t rank = assignment.start_rank[warp];
    if (rank >= warps || rank_taken[rank]) {
      broken(fmt::format("start_rank[{}]", warp), fmt::format("{}", rank),
             fmt::format("a permutation of {} warps", warps));
    }
    rank_taken[rank] = true;
    const std::uint32_t tile = assignment.tile[warp];
    if (tile >= warps) {
      broken(fmt::format("tile[{}]", warp), fmt::format("{}", tile), fmt::format("less than {} warps", warps));
    }
    tile_used[tile] = true;
    tiles = std::max(tiles, std::size_t{tile} + 1);
  }
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    if (!tile_used[tile]) {
      broken("tile", fmt::format("no warp in tile {} of {}", tile, tiles), "tiles numbered without gaps");
    }
  }
}

}  // namespace rayreplay::scheduler
