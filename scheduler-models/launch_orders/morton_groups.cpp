// Morton order of groups of warps, as measured on an H200 (driver 580.159.04).
//
// Contract: neighbouring warps form groups that start together, row-major inside the group; groups follow the Morton
// curve, x in the lowest bit, inside blocks of groups; blocks follow each other in row-major order, slices one after
// the other. A block is the launch tile. `auto` takes what was measured for the launch size (observed_tiles.hpp), and
// for other sizes groups of 2×2 warps and one block. Source: rayreplay's own measurement; the order in which one SM's
// groups were numbered agrees with it in 98–100 % of neighbouring pairs. O(places + warps · log groups).
#include <algorithm>
#include <tuple>
#include <vector>

#include "base/declare_parameters.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/observed_tiles.hpp"
#include "scheduler-models/space_filling.hpp"
#include "scheduler-models/warp_grid.hpp"

namespace rayreplay::scheduler {
namespace {

class MortonGroups final : public LaunchOrder {
 public:
  explicit MortonGroups(const Parameters& parameters)
      : warp_(parse_extent(parameters.get_string("warp"), "warp")),
        group_(parse_extent(parameters.get_string("group"), "group")),
        whole_(parameters.get_string("block") == "whole") {
    if (!whole_) {
      block_ = parse_extent(parameters.get_string("block"), "block");
    }
  }

  [[nodiscard]] WarpAssignment assign(const trace::Launch& launch, std::uint32_t warp_size) const override {
    auto observed = observed_morton_groups(launch.size.width, launch.size.height);
    if (warp_size != 32) {
      observed.reset();
    }
    const Extent shape = warp_.value_or(observed ? observed->warp : unseen_warp(launch.size, warp_size));
    const WarpGrid grid = make_warp_grid(launch.size, warp_size, shape);
    const Extent group = group_in_warps(observed, shape);
    const Extent groups{parts(grid.columns, group.width), parts(grid.rows, group.height)};
    Extent block = block_.value_or(observed && !whole_ ? observed->block : Extent{});
    if (block.width == 0) {
      block = {std::max(groups.width, 1U), std::max(groups.height, 1U)};
    }

    WarpAssignment result = assign_row_major(launch.size, warp_size, grid);
    using Key = std::tuple<std::uint32_t, std::uint64_t, std::size_t>;  // tile, group's code, row-major index
    std::vector<Key> order;
    order.reserve(result.warps());
    const Extent blocks{parts(groups.width, block.width), parts(groups.height, block.height)};
    for (std::uint32_t slice = 0; slice < grid.slices; ++slice) {
      for (std::uint32_t row = 0; row < grid.rows; ++row) {
        for (std::uint32_t column = 0; column < grid.columns; ++column) {
          const std::uint32_t x = column / group.width;
          const std::uint32_t y = row / group.height;
          const std::uint32_t tile = (slice * blocks.height + y / block.height) * blocks.width + x / block.width;
          order.emplace_back(tile, morton2(x % block.width, y % block.height), grid.index(column, row, slice));
        }
      }
    }
    std::sort(order.begin(), order.end());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
      const auto& [tile, code, warp] = order[rank];
      result.start_rank[warp] = rank;
      result.tile[warp] = tile;
    }
    return result;
  }

 private:
  /// The H200's warps are upright where the default is lying: 4×8 instead of 8×4.
  [[nodiscard]] static Extent unseen_warp(trace::LaunchSize size, std::uint32_t warp_size) {
    const Extent shape = default_warp_shape(size, warp_size);
    return warp_size == 32 && shape == Extent{8, 4} ? Extent{4, 8} : shape;
  }

  [[nodiscard]] Extent group_in_warps(const std::optional<MortonGroupLayout>& observed, Extent shape) const {
    Extent group{2 * shape.width, 2 * shape.height};
    // A warp shape set by the user need not divide the observed group.
    if (observed && !warp_) {
      group = observed->group;
    }
    group = group_.value_or(group);
    return in_warps("group", group, shape);
  }

  std::optional<Extent> warp_;
  std::optional<Extent> group_;
  std::optional<Extent> block_;
  bool whole_;
};

const LaunchOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "morton-groups",
     .summary = "Groups of warps start in Morton order inside blocks, as measured on an H200",
     .text = "Neighbouring warps form groups that start together; groups follow the Morton curve, x first, inside "
             "blocks; blocks follow each other in row-major order and are the launch tiles. With auto, warp shape, "
             "group and block are those measured for the launch size on an H200 with driver 580.159.04; for any other "
             "size groups of 2x2 warps follow one curve over the whole launch.",
     .source = "rayreplay, measured",
     .parameters = {declare::text("warp", "auto", "pixels",
                                  "Shape of a warp, WIDTHxHEIGHT, or auto: 4x8 for warps of 32, 8x4 at 1024x500."),
                    declare::text("group", "auto", "pixels",
                                  "Size of a group, WIDTHxHEIGHT in whole warps, or auto: by launch size."),
                    declare::text(
                        "block", "auto", "groups",
                        "Size of a block, WIDTHxHEIGHT in groups, whole for one block, or auto: by launch size.")}},
    [](const Parameters& parameters) { return std::make_unique<MortonGroups>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
