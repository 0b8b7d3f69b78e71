// trace-barrier: lanes meet at every trace call of ray generation.
#include "sim/simt/policies/replay_policy.hpp"

namespace rayreplay::simt {
namespace {

const auto kRegistrar = register_policy(
    Policy::TraceBarrier, "Lanes meet at every trace call of ray generation",
    "A trace call of ray generation is made when every lane that has anything left to do waits at one. Until then "
    "intersection and any-hit calls go first, as long as any lane waits for one, and then closest-hit, miss and "
    "callable calls and the trace calls of other shaders; the lowest shader id first, then the lowest kind of "
    "event.\n\n"
    "This is what the groups captured on an H200 (driver 580.159.04) look like: see docs/validation-swizzles.md. "
    "Threads that are a ray ahead wait for the others, so that trace calls run fuller than under stage-majority, and "
    "closest hits and misses, which only meet those of the same round, emptier.\n\n"
    "Cost: a step looks for the lowest call at the heads of the warp.",
    "Observed: rayreplay, captures of an NVIDIA H200");

}  // namespace
}  // namespace rayreplay::simt
