// min-shader: the earliest stage first, then the lowest shader id.
#include "sim/simt/policies/replay_policy.hpp"

namespace rayreplay::simt {
namespace {

const auto kRegistrar = register_policy(
    Policy::MinShader, "The earliest stage first, then the lowest shader id",
    "All lanes of a warp may regroup at every step. The call of the lowest kind is made, in the order trace call, "
    "trace call that skips closest hits, intersection, any-hit, miss, closest-hit, callable; among calls of one kind, "
    "that of the lowest shader id. How many lanes wait plays no part.\n\n"
    "New rays are begun before older ones are finished, which gathers lanes in traversal. Assumes that lanes regroup "
    "without cost.\n\n"
    "Cost: a step is one minimum over the heads of the warp.",
    "ReRay thesis, section 3.2.1, listing 3.1, whose order of events it gives");

}  // namespace
}  // namespace rayreplay::simt
