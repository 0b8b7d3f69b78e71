// Compaction: at each bounce the threads that are done are squeezed out (Wald 2011; MODELS.md §7).
//
// Contract: paths are cut at every pending ClosestHit and Miss; where the continuing threads of the scope fit into
// fewer warps than they occupy, they close ranks in the order of their places; else all stay. Threads are not sorted.
#include "base/declare_parameters.hpp"
#include "scheduler-models/regrouping/bandwidth.hpp"
#include "scheduler-models/regrouping/models/scopes.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {
namespace {

class Compaction final : public SchedulerModel {
 public:
  explicit Compaction(const Parameters& parameters)
      : cycles_(parameters.get_double("cycles")),
        live_state_(parameters.get_double("live_state")),
        bandwidth_(get_bandwidth(parameters)) {
    regrouping_.scope = parse_scope(parameters.get_string("scope"));
    regrouping_.pool_warps = static_cast<std::uint32_t>(parameters.get_int("pool_warps"));
    regrouping_.only_if_fewer = true;
  }

  [[nodiscard]] Cut cut() const override {
    return {.at = CutAt::PendingCall};
  }
  [[nodiscard]] Grouping grouping() const override {
    return Grouping::Static;
  }
  [[nodiscard]] Charges charges(const MachineFacts& machine) const override {
    return {.cycles_per_warp = cycles_,
            .bytes_per_moved = 2 * (live_state_ < 0 ? machine.live_state_bytes : live_state_),
            .bytes_per_cycle = bandwidth_,
            .state_traffic = StateTraffic::Moved};
  }
  [[nodiscard]] SegmentSchedule schedule(const PlanContext& context) const override {
    PlanContext own = context;
    own.machine.withheld_sms = 0;
    return schedule_by_key(own, std::nullopt, regrouping_);
  }

 private:
  Regrouping regrouping_;
  double cycles_;
  double live_state_;
  double bandwidth_;
};

const SchedulerModels::Registrar kRegistrar(
    {.kind = {},
     .name = "compaction",
     .summary = "Dead threads squeezed out at each bounce",
     .text =
         "At every pending closest-hit or miss call, threads whose path has ended leave gaps. Where the live "
         "threads of the scope fit into fewer warps, they fill warps in their present order; otherwise all threads "
         "stay. Threads are not sorted: compaction helps warps with idle lanes, not diverging ones.\n\n"
         "Assumes that the scope meets at each bounce. A thread that changes warps writes and reads its live state; "
         "finding places (a scan) is charged as cycles a warp, none by default. Cost: linear in segments.",
     .source = "Wald, Active Thread Compaction for GPU Path Tracing (HPG 2011)",
     .parameters = {scope_parameter("launch"), pool_warps_parameter("Size of a pool (scope pool)."),
                    declare::real("cycles", 0.0, "cycles", "Latency added to every warp that an exchange forms.", 0,
                                  1e9),
                    declare::real("live_state", -1.0, "bytes",
                                  "Bytes that a thread that moves writes, and reads again; below 0: those of the "
                                  "launch's shaders, as for ser.",
                                  -1, kMaxStateBytes),
                    bandwidth_parameter("live state")}},
    [](const Parameters& parameters) { return std::make_unique<Compaction>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
