// Wavefront: one global queue for each shader, path state in memory (Laine, Karras, Aila 2013; MODELS.md §7).
//
// Contract: paths are cut at every pending ClosestHit and Miss; each round the threads of the launch wait in a queue
// for their shader, in the order of their last places, and every queue is cut into warps of its own, lanes filled from
// the first. Every thread reads and writes its state in each round after the first. The queues are in memory: an entry
// a thread (queue_places.hpp).
#include <memory>

#include "base/declare_parameters.hpp"
#include "scheduler-models/regrouping/bandwidth.hpp"
#include "scheduler-models/regrouping/models/queue_bytes.hpp"
#include "scheduler-models/regrouping/regroup.hpp"
#include "scheduler-models/regrouping/reorder_key.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::scheduler {
namespace {

class Wavefront final : public SchedulerModel {
 public:
  explicit Wavefront(const Parameters& parameters)
      : state_(static_cast<std::uint64_t>(parameters.get_int("state"))),
        queue_bytes_(static_cast<std::uint32_t>(parameters.get_int("queue_bytes"))),
        bandwidth_(get_bandwidth(parameters)) {
    key_.hint_bits = 0;
    regrouping_.scope = Scope::Launch;
    regrouping_.split_keys = true;
    regrouping_.keep_lanes = false;
  }

  [[nodiscard]] Cut cut() const override {
    return {.at = CutAt::PendingCall};
  }
  [[nodiscard]] Grouping grouping() const override {
    return Grouping::Static;
  }
  [[nodiscard]] Charges charges(const MachineFacts&) const override {
    return {.bytes_per_thread = 2 * static_cast<double>(state_),
            .bytes_per_cycle = bandwidth_,
            .state_traffic = StateTraffic::All};
  }
  /// Paths that continue after the first round: an upper bound for later rounds.
  [[nodiscard]] std::uint64_t state_bytes(const PlanContext& context) const override {
    const auto& first = context.segments.first;
    std::uint64_t paths = 0;
    for (std::size_t thread = 0; thread + 1 < first.size(); ++thread) {
      paths += first[thread + 1] - first[thread] > 1 ? 1U : 0U;
    }
    return paths * state_;
  }
  [[nodiscard]] ModelQueues queues(const PlanContext& context) const override {
    if (queue_bytes_ == 0) {
      return {};
    }
    return {queue_bytes_, std::make_shared<const trace::Column<std::uint64_t>>(reorder_keys(context, key_))};
  }
  [[nodiscard]] SegmentSchedule schedule(const PlanContext& context) const override {
    return schedule_by_key(context, key_, regrouping_);
  }

 private:
  KeyParts key_;
  Regrouping regrouping_;
  std::uint64_t state_;
  std::uint32_t queue_bytes_;
  double bandwidth_;
};

const SchedulerModels::Registrar kRegistrar(
    {.kind = {},
     .name = "wavefront",
     .summary = "One queue per shader for the whole launch, path state in memory",
     .text =
         "Every pending closest-hit or miss call puts its thread into the queue of its shader. When all threads "
         "wait, each queue runs as a kernel of its own: warps are full but for the last of each queue and never mix "
         "shaders. Between two rounds a path lives in memory: every thread writes and reads its state, moved or "
         "not.\n\n"
         "Assumes all paths of the launch in flight at once, rounds after one another without overlap, tracing in the "
         "kernel that made the trace call. Starting kernels costs nothing. Queues cost nothing in the time model; in "
         "access streams and memory time their entries and counters are accesses, beside those of the state. Cost: "
         "linear in segments.",
     .source = "Laine, Karras, Aila, Megakernels Considered Harmful: Wavefront Path Tracing on GPUs (HPG 2013)",
     .parameters = {declare::whole(
                        "state", 212, "bytes",
                        "State of a path in memory; the default is the paper's (212 MB for a million paths).", 0,
                        kMaxStateBytes),
                    queue_bytes_parameter("The paper's queues hold indices of paths; their size is assumed."),
                    bandwidth_parameter("state")}},
    [](const Parameters& parameters) { return std::make_unique<Wavefront>(parameters); });

}  // namespace
}  // namespace rayreplay::scheduler
