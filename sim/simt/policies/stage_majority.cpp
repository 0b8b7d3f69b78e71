// stage-majority: traversal first, then the call that most lanes wait for. The default.
#include "sim/simt/policies/replay_policy.hpp"

namespace rayreplay::simt {
namespace {

const auto kRegistrar = register_policy(
    Policy::StageMajority, "Traversal calls first, then the call that most lanes wait for (default)",
    "All lanes of a warp may regroup at every step. While any lane waits for an intersection or any-hit shader, the "
    "other lanes wait: a ray that is still being traversed keeps the warp's trace call from returning. Among the "
    "calls that remain, the one with the most lanes is made; a tie goes to the lowest shader id, then to the lowest "
    "kind of event.\n\n"
    "Assumes that lanes which have parted can meet again as soon as they wait for the same call, without cost. Greedy, "
    "so not always the fewest warp events.\n\n"
    "Cost: a step looks at each distinct call at the heads of the warp once.",
    "ReRay thesis, section 3.2.1, listing 3.1; order among calls: rayreplay");

}  // namespace
}  // namespace rayreplay::simt
