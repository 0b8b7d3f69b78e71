// Scanline per SM: each SM has its own band of the image.
#include <algorithm>

#include "base/declare_parameters.hpp"
#include "sim/machine/distributions/plans.hpp"

namespace rayreplay::machine {
namespace {

class ScanlinePerSm final : public WorkDistribution {
 public:
  ScanlinePerSm(bool wrap, bool rows) : wrap_(wrap), rows_(rows) {}

  [[nodiscard]] WorkPlan plan(const trace::Launch& launch, const scheduler::WarpAssignment& assignment,
                              std::uint32_t sms) const override {
    WorkPlan plan = plan_scanline(launch.size, assignment.warp_size, wrap_);
    const std::uint64_t items = plan.items();
    const std::uint64_t rows = std::uint64_t{launch.size.height} * launch.size.depth;
    std::vector<std::uint32_t> sm_of_item(items);
    for (std::uint64_t item = 0; item < items; ++item) {
      // The band of part p of n is floor(p · SMs / n): sizes differ by one part at most.
      const std::uint64_t part = rows_ ? plan.thread_at[item * plan.warp_size] / launch.size.width : item;
      sm_of_item[item] = static_cast<std::uint32_t>(part * sms / (rows_ ? rows : items));
    }
    split_queue(plan, sm_of_item, sms);
    return plan;
  }

 private:
  bool wrap_, rows_;
};

const WorkDistributions::Registrar kRegistrar(
    {.kind = {},
     .name = "scanline-per-sm",
     .summary = "Persistent threads: each SM has its own band of the image, row by row within",
     .text = "As scanline, but the image is cut from top to bottom into one band for each SM, with sizes that differ "
             "by one part at most, and a warp slot fetches from its SM's band alone: warps of an SM work on "
             "neighbouring pixels, those of different SMs far apart. An SM whose band is done stands idle.",
     .source =
         "von Buelow, Riemann, Guthe, Fellner, Profiling and Visualizing GPU Memory Access and Cache Behavior of Ray "
         "Tracers, section 6.2",
     .parameters = {wrap_parameter(),
                    declare::choice("part", "warp", {"warp", "row"},
                                    "Unit in which bands are cut: whole rows of the image, or single warps.")}},
    [](const Parameters& parameters) {
      return std::make_unique<ScanlinePerSm>(parameters.get_bool("wrap"), parameters.get_string("part") == "row");
    });

}  // namespace
}  // namespace rayreplay::machine
