// Identity packing: every thread stays where it is (ReRay thesis §3.3).
//
// Contract: swizzle[t] = t. O(threads).
#include <numeric>

#include "scheduler-models/packing.hpp"

namespace rayreplay::scheduler {
namespace {

class Identity final : public Packing {
 public:
  [[nodiscard]] Swizzle compute(const trace::Launch& launch, const WarpAssignment&) const override {
    Swizzle swizzle(launch.size.threads());
    std::iota(swizzle.begin(), swizzle.end(), 0U);
    return swizzle;
  }
};

const Packings::Registrar kRegistrar({.kind = {},
                                      .name = "identity",
                                      .summary = "Threads stay where the launch order puts them",
                                      .text = "The baseline that other packings are compared with.",
                                      .source = "ReRay thesis, section 3.3",
                                      .parameters = {}},
                                     [](const Parameters&) { return std::make_unique<Identity>(); });

}  // namespace
}  // namespace rayreplay::scheduler
