// Linear launch order: warps start row by row, slice by slice.
//
// Contract: start_rank is the row-major index. The whole launch is one tile. Source: rayreplay; lavapipe starts its
// 8×1 warps so. O(places).
#include "base/declare_parameters.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/warp_grid.hpp"

namespace rayreplay::scheduler {
namespace {

class Linear final : public LaunchOrder {
 public:
  explicit Linear(const Parameters& parameters) : warp_(parse_extent(parameters.get_string("warp"), "warp")) {}

  [[nodiscard]] WarpAssignment assign(const trace::Launch& launch, std::uint32_t warp_size) const override {
    const Extent shape = warp_.value_or(default_warp_shape(launch.size, warp_size));
    return assign_row_major(launch.size, warp_size, make_warp_grid(launch.size, warp_size, shape));
  }

 private:
  std::optional<Extent> warp_;
};

const LaunchOrders::Registrar kRegistrar(
    {.kind = {},
     .name = "linear",
     .summary = "Warps start in row-major order",
     .text = "Warps are rectangles of pixels and start row by row from the upper left, one slice after the other. The "
             "whole launch is one tile. With warp=auto the shape is warp_size x 1 in launches one pixel high, 8x1 for "
             "warps of 8 (as lavapipe), else the squarest power-of-two rectangle (8x4 for 32).",
     .source = "rayreplay",
     .parameters = {declare::text("warp", "auto", "pixels", "Shape of a warp, WIDTHxHEIGHT, or auto.")}},
    [](const Parameters& parameters) { return std::make_unique<Linear>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
