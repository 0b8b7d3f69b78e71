// Scanline: persistent warps that fetch the next pixels of the image, all from one counter.
#include "sim/machine/distributions/plans.hpp"

namespace rayreplay::machine {
namespace {

class Scanline final : public WorkDistribution {
 public:
  explicit Scanline(bool wrap) : wrap_(wrap) {}

  [[nodiscard]] WorkPlan plan(const trace::Launch& launch, const scheduler::WarpAssignment& assignment,
                              std::uint32_t /*sms*/) const override {
    return plan_scanline(launch.size, assignment.warp_size, wrap_);
  }

 private:
  bool wrap_;
};

const WorkDistributions::Registrar kRegistrar(
    {.kind = {},
     .name = "scanline",
     .summary = "Persistent threads: rows of pixels, left to right, top to bottom, for all SMs together",
     .text =
         "Every warp is one row of warp_size pixels; when it is done, the warp slot that ran it fetches the next of "
         "the image. Neighbouring pixels go to different SMs, which share the L2 but not their L1s.\n\nLaunch order "
         "and packing of the experiment are not used. Fetching costs nothing.",
     .source = "Aila, Laine, Understanding the Efficiency of Ray Traversal on GPUs, HPG 2009; von Buelow, Riemann, "
               "Guthe, Fellner, Profiling and Visualizing GPU Memory Access and "
               "Cache Behavior of Ray Tracers, section 6.2",
     .parameters = {wrap_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Scanline>(parameters.get_bool("wrap")); });

}  // namespace
}  // namespace rayreplay::machine
