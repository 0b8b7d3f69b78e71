// Z-order launch: tiles in row-major order, inside each a Z-like curve over the warps (ReRay thesis §3.2.2, table 3.1).
//
// Contract: a tile is halved in both directions until one side is as short as a warp, then in the other direction
// alone. At each halving the quadrants are visited in the order of `quadrants`, numbered as in mathematics with the
// first row on top: 1 upper right, 2 upper left, 3 lower left, 4 lower right. 2-3-1-4 visits upper left, lower left,
// upper right, lower right; 2-1-3-4 is the letter Z. With one direction left, the upper or left half takes the place of
// quadrant 2, the other that of quadrant 3 (vertical) or 1 (horizontal). Positions outside the launch are skipped;
// slices follow each other. `auto` takes the values observed for the launch size (observed_tiles.hpp), rounded up to
// whole warps. Sides that are no power of two warps are halved as the next power of two. O(places + warps · log warps
// of a tile).
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/observed_tiles.hpp"
#include "scheduler-models/warp_grid.hpp"

namespace rayreplay::scheduler {
namespace {

/// visit[2 · lower + right]: position of this quadrant in the order, 0 to 3.
using QuadrantOrder = std::array<std::uint32_t, 4>;

QuadrantOrder parse_quadrants(const std::string& text) {
  constexpr std::array<std::size_t, 5> kCorner{0, 1, 0, 2, 3};  // quadrant number → 2 · lower + right
  QuadrantOrder visit{};
  std::array<bool, 5> seen{};
  bool good = text.size() == 7;
  for (std::size_t i = 0; good && i < 4; ++i) {
    const char digit = text[2 * i];
    good = digit >= '1' && digit <= '4' && (i == 3 || text[2 * i + 1] == '-');
    if (good) {
      const auto quadrant = static_cast<std::size_t>(digit - '0');
      good = !seen.at(quadrant);
      seen.at(quadrant) = true;
      visit.at(kCorner.at(quadrant)) = static_cast<std::uint32_t>(i);
    }
  }
  if (!good) {
    throw Error(ErrorKind::Usage, {"the value is no order of quadrants", "quadrants", "'" + text + "'",
                                   "auto, or the numbers 1 to 4 once each, such as 2-3-1-4", ""});
  }
  return visit;
}

struct Cell {
  std::uint32_t column;
  std::uint32_t row;
};

/// The warps of one tile in the order of the curve, counted from its upper left; limited to `kept`, the part inside the
/// launch.
std::vector<Cell> curve_through(Extent tile_warps, Extent kept, const QuadrantOrder& visit) {
  const int column_bits = static_cast<int>(std::bit_width(tile_warps.width - 1));
  const int row_bits = static_cast<int>(std::bit_width(tile_warps.height - 1));
  const int levels = std::max(column_bits, row_bits);
  // Codes are aligned at the top: both directions are halved from the first level on.
  const auto code = [&](const Cell& cell) {
    const std::uint64_t x = std::uint64_t{cell.column} << (levels - column_bits);
    const std::uint64_t y = std::uint64_t{cell.row} << (levels - row_bits);
    std::uint64_t result = 0;
    for (int level = levels - 1; level >= 0; --level) {
      result = result << 2 | visit[2 * (y >> level & 1) + (x >> level & 1)];
    }
    return result;
  };
  struct Coded {
    std::uint64_t code;
    Cell cell;
  };
  std::vector<Coded> coded;
  coded.reserve(std::size_t{kept.width} * kept.height);
  for (std::uint32_t row = 0; row < kept.height; ++row) {
    for (std::uint32_t column = 0; column < kept.width; ++column) {
      const Cell cell{column, row};
      coded.push_back({code(cell), cell});
    }
  }
  std::sort(coded.begin(), coded.end(), [](const Coded& a, const Coded& b) { return a.code < b.code; });
  std::vector<Cell> curve;
  curve.reserve(coded.size());
  for (const Coded& item : coded) {
    curve.push_back(item.cell);
  }
  return curve;
}

std::uint32_t rounded_up(std::uint32_t total, std::uint32_t size) {
  return parts(total, size) * size;
}

class ZOrder final : public LaunchOrder {
 public:
  explicit ZOrder(const Parameters& parameters)
      : warp_(parse_extent(parameters.get_string("warp"), "warp")),
        tile_(parse_extent(parameters.get_string("tile"), "tile")) {
    if (const std::string& text = parameters.get_string("quadrants"); text != "auto") {
      quadrants_ = parse_quadrants(text);
    }
  }

  [[nodiscard]] WarpAssignment assign(const trace::Launch& launch, std::uint32_t warp_size) const override {
    const ZOrderLayout observed = observed_z_order(launch.size.width, launch.size.height);
    Extent shape = default_warp_shape(launch.size, warp_size);
    if (observed.warp && warp_size == 32) {
      shape = *observed.warp;
    }
    shape = warp_.value_or(shape);
    const WarpGrid grid = make_warp_grid(launch.size, warp_size, shape);
    const Extent tile = tile_in_warps(observed, shape);
    const QuadrantOrder visit = quadrants_.value_or(parse_quadrants(observed.quadrants));
    const std::vector<Cell> curve =
        curve_through(tile, {std::min(tile.width, grid.columns), std::min(tile.height, grid.rows)}, visit);

    WarpAssignment result = assign_row_major(launch.size, warp_size, grid);
    std::uint32_t rank = 0;
    std::uint32_t number = 0;
    for (std::uint32_t slice = 0; slice < grid.slices; ++slice) {
      for (std::uint32_t top = 0; top < grid.rows; top += tile.height) {
        for (std::uint32_t left = 0; left < grid.columns; left += tile.width) {
          for (const Cell& cell : curve) {
            if (cell.column < grid.columns - left && cell.row < grid.rows - top) {
              const std::size_t warp = grid.index(left + cell.column, top + cell.row, slice);
              result.start_rank[warp] = rank++;
              result.tile[warp] = number;
            }
          }
          ++number;
        }
      }
    }
    return result;
  }

 private:
  [[nodiscard]] Extent tile_in_warps(const ZOrderLayout& observed, Extent shape) const {
    const Extent tile = tile_.value_or(
        Extent{rounded_up(observed.tile.width, shape.width), rounded_up(observed.tile.height, shape.height)});
    return in_warps("tile", tile, shape);
  }

  std::optional<Extent> warp_;
  std::optional<Extent> tile_;
  std::optional<QuadrantOrder> quadrants_;
};

const LaunchOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "z-order",
     .summary = "Warps start along a Z-like curve inside tiles, as seen on NVIDIA GPUs",
     .text =
         "Tiles follow each other in row-major order; inside a tile the quadrants are visited recursively. "
         "Quadrants are numbered as in mathematics: 1 upper right, 2 upper left, 3 lower left, 4 lower right. With "
         "auto, warp shape, tile and quadrant order are those observed for the launch size; power-of-two sizes have "
         "tiles of min(W, H) squared; for any other size the tile is 32x32, a choice and not an observation. "
         "Real launches follow the curve only loosely, because warps start as slots fall free.",
     .source = "ReRay thesis, section 3.2.2 and table 3.1",
     .parameters = {declare::text("warp", "auto", "pixels",
                                  "Shape of a warp, WIDTHxHEIGHT, or auto: 8x4 for warps of 32, 4x8 at 1024x500."),
                    declare::text("tile", "auto", "pixels",
                                  "Size of a tile, WIDTHxHEIGHT in whole warps, or auto: by launch size."),
                    declare::text("quadrants", "auto", "",
                                  "Order in which quadrants are visited, or auto: 2-3-1-4, and 2-1-3-4 at 1024x500.")}},
    [](const Parameters& parameters) { return std::make_unique<ZOrder>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
