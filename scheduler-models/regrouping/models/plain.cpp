// Plain: no reordering; threads stay in the warps they start in (MODELS.md §7).
//
// Contract: paths are not cut; every warp of the launch order is a unit of one round and runs to its end. Its replay is
// simt::replay of the same order. O(threads).
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {
namespace {

class Plain final : public SchedulerModel {
 public:
  [[nodiscard]] Cut cut() const override {
    return {};
  }
  [[nodiscard]] Grouping grouping() const override {
    return Grouping::Static;
  }
  [[nodiscard]] Charges charges(const MachineFacts&) const override {
    return {};
  }
  [[nodiscard]] SegmentSchedule schedule(const PlanContext& context) const override {
    Regrouping regrouping;
    regrouping.scope = Scope::Warp;
    return schedule_by_key(context, std::nullopt, regrouping);
  }
};

const SchedulerModels::Registrar kRegistrar(
    {.kind = {},
     .name = "plain",
     .summary = "No reordering: threads stay in their warps",
     .text = "Every warp of the launch order runs from its first event to its last with the threads it started with. "
             "The baseline of all other models.\n\n"
             "Assumes that a trace call, its traversal and the shader that it ends in run in the warp that made the "
             "call. Cost: nothing beyond the replay.",
     .source = "ReRay thesis, section 3.2.1",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<Plain>(); });

}  // namespace
}  // namespace rayreplay::scheduler
