// Cutting a launch into rectangular warps, shared by the launch-order models.
//
// Contract: a launch W×H×D is covered, slice by slice, by warps of `shape` pixels, row-major from the upper left; a
// thread's lane is its row-major position in the shape. Warps at the right and lower edges keep their lanes and have
// kNoThread where the launch has no thread. Deterministic, O(places). Errors: Usage when the launch has more than
// 2^32 − 1 threads, when the warp size is not 1…64, or when a shape does not hold warp_size threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "capture/trace/trace.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

/// In pixels of the launch, unless stated otherwise.
struct Extent {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool operator==(const Extent&) const = default;
};

/// "8x4" → {8, 4}; "auto" → empty. `owner` names the parameter in messages. Usage for other texts.
[[nodiscard]] std::optional<Extent> parse_extent(const std::string& text, const std::string& owner);

/// The default shape: warp_size×1 and 1×warp_size in launches one pixel high or wide; else 8×1 for 8 (lavapipe), the
/// squarest rectangle, width ≥ height, for other powers of two (32: 8×4, as NVIDIA; 64: 8×8; 16: 4×4), and a row for
/// other sizes.
[[nodiscard]] Extent default_warp_shape(trace::LaunchSize size, std::uint32_t warp_size);

/// The extent in warps of this shape. Usage unless it holds whole warps; `what` ("tile") names it in the message.
[[nodiscard]] Extent in_warps(const std::string& what, Extent extent, Extent shape);

struct WarpGrid {
  Extent shape;
  std::uint32_t columns = 0;  ///< warps in a row of warps
  std::uint32_t rows = 0;     ///< rows of warps in a slice
  std::uint32_t slices = 0;

  /// Row-major index of the warp.
  [[nodiscard]] std::size_t index(std::uint32_t column, std::uint32_t row, std::uint32_t slice) const {
    return (std::size_t{slice} * rows + row) * columns + column;
  }
};

/// Usage unless `shape` holds exactly warp_size threads.
[[nodiscard]] WarpGrid make_warp_grid(trace::LaunchSize size, std::uint32_t warp_size, Extent shape);

/// Warps start in row-major order; all belong to tile 0.
[[nodiscard]] WarpAssignment assign_row_major(trace::LaunchSize size, std::uint32_t warp_size, const WarpGrid& grid);

/// Smallest number of parts of `size` that cover `total`; size > 0.
[[nodiscard]] constexpr std::uint32_t parts(std::uint32_t total, std::uint32_t size) {
  return total / size + (total % size != 0 ? 1 : 0);
}

}  // namespace rayreplay::scheduler
