// oldest-lane: the lane that has waited longest decides.
#include "sim/simt/policies/replay_policy.hpp"

namespace rayreplay::simt {
namespace {

const auto kRegistrar = register_policy(
    Policy::OldestLane, "The call of the lane that has waited longest",
    "All lanes of a warp may regroup at every step. The lane whose last call lies furthest back names the call; every "
    "lane that waits for the same one joins. Lanes that called last in the same step, or never yet, are as old as "
    "each other, and the lowest of them decides.\n\n"
    "Fair: no lane waits for more than one call of each other lane. Stands for schedulers that care about progress "
    "more than about full warps.\n\n"
    "Cost: a step looks once at each set of lanes that called last together.",
    "rayreplay");

}  // namespace
}  // namespace rayreplay::simt
