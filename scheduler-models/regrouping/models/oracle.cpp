// Oracle: the lower bound on warp events for all round-by-round models with the same cut (MODELS.md §6, §7).
//
// Contract: has neither schedule nor exchanges; its caller computes segment_bound (segment_bound.hpp) of its cut.
#include "base/declare_parameters.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {
namespace {

CutAt parse_cut(const std::string& name) {
  if (name == "nothing") {
    return CutAt::Nothing;
  }
  return name == "every-call" ? CutAt::EveryCall : CutAt::PendingCall;
}

class Oracle final : public SchedulerModel {
 public:
  explicit Oracle(const Parameters& parameters) {
    cut_.at = parse_cut(parameters.get_string("cut"));
  }

  [[nodiscard]] Cut cut() const override {
    return cut_;
  }
  [[nodiscard]] Grouping grouping() const override {
    return Grouping::Bound;
  }
  [[nodiscard]] Charges charges(const MachineFacts&) const override {
    return {};
  }

 private:
  Cut cut_;
};

const SchedulerModels::Registrar kRegistrar(
    {.kind = {},
     .name = "oracle",
     .summary = "The fewest warp events that any regrouping can need",
     .text = "For each round and call the number of threads that make it, divided by the warp size and rounded up; "
             "summed. Round r is the r-th segment of every thread that has so many. No model that forms its warps of "
             "segments of one round (ser with arrival all, compaction, wavefront) can need fewer warp events, whatever "
             "it knows. Models whose warps form as threads arrive (ser with arrival full or timeout, "
             "bindless-dispatch) mix rounds; their bound is cut=nothing, one round for all.\n\n"
             "A bound, not a schedule: it need not be reachable, and moving threads costs nothing. Cost: one pass over "
             "the events.",
     .source = "rayreplay",
     .parameters = {declare::choice(
         "cut", "pending-calls", {"pending-calls", "every-call", "nothing"},
         "Where threads may change warps: at pending closest-hit and miss calls, at every call and return, or nothing: "
         "a single round, in which calls may run at any time.")}},
    [](const Parameters& parameters) { return std::make_unique<Oracle>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
