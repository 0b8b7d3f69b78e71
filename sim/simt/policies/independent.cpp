// independent: diverged lanes stay apart until all are back in ray generation.
#include "sim/simt/policies/replay_policy.hpp"

namespace rayreplay::simt {
namespace {

const auto kRegistrar = register_policy(
    Policy::Independent, "No regrouping before ray generation",
    "Lanes run in groups; at first all lanes are one. When the lanes of a group wait for different calls, the group "
    "splits by call, and its parts run apart even if they come to the same call later. A lane whose next call is a "
    "trace call of a ray-generation shader waits there; when all lanes that have events left wait there, they are "
    "one group again. A trace call of any other shader, such as a recursive one, makes nobody wait. Groups really run "
    "side by side; the listing of events takes the group with the lowest lane first, which changes no sum.\n\n"
    "Hardware whose lanes reconverge only at the top of the loop over samples and bounces; pessimistic, "
    "though not a lower bound: on some traces it comes out above the other policies.\n\n"
    "Cost: a step looks at one group's lanes once.",
    "rayreplay");

}  // namespace
}  // namespace rayreplay::simt
