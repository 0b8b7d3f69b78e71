// Scheduler models: how a GPU regroups threads into warps while they run (MODELS.md §7).
//
// Contract: a model gives the cut of paths (`cut`), the cost of an exchange (`charges`), the memory of waiting threads
// (`state_bytes`), and by `grouping`:
//   Static  `schedule`: all warps of segments, computed without time (plain, SER with arrival all, compaction,
//           wavefront)
//   Timed   `exchanges`: objects that form warps while the machine runs (SER with full pools or time-outs, bindless
//           dispatch)
//   Bound   neither: a lower bound for all models with this cut (oracle); MODELS.md §7
// Deterministic. Static schedules: O(segments · key bytes), parallel, memory linear in segments. Errors: Missing when
// the trace lacks what the model needs, Usage when parameters do not fit together. To add a model: one .cpp file in
// scheduler-models/regrouping/models/ with contract, parameters, function, registration.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/registry.hpp"
#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/exchange.hpp"
#include "scheduler-models/regrouping/hints.hpp"
#include "scheduler-models/regrouping/queue_places.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

/// Bytes of live state of a thread where the launch's shaders have no SPIR-V (docs/assumptions.md).
inline constexpr double kAssumedLiveState = 84;
/// Most bytes that a thread stores and loads when its state moves: of models' parameters and of schedule files.
inline constexpr std::uint32_t kMaxStateBytes = 1U << 20U;

/// The properties of machine and shaders that models may use.
struct MachineFacts {
  std::uint32_t sms = 1;
  std::uint32_t resident_warps = 32;    ///< of an SM, at the workload's occupancy
  bool reorders = false;                ///< the machine has hardware for SER
  std::uint32_t withheld_sms = 0;       ///< SMs that do not shade while the hardware reorders
  double reorder_cycles = 0;            ///< machine's default fixed cost of an exchange, per warp formed
  double exchange_bytes_per_cycle = 1;  ///< of one SM: bandwidth for moving live state
  /// Live state of a thread across a trace call, with the payload, in the launch's shaders.
  double live_state_bytes = kAssumedLiveState;
};

struct PlanContext {
  const trace::Trace& trace;
  const trace::Launch& launch;
  const WarpAssignment& order;  ///< lanes and warps at launch; start_rank is the order in which warps start
  const Segments& segments;     ///< cut as `cut` says
  MachineFacts machine;
  const HintSources& hints;
  /// Devices of the launch, for static schedules and their keys; exchanges run on the CPU, since machines run in
  /// parallel. Null: everything on the CPU.
  trace::AcceleratedLaunch* on_device = nullptr;
};

enum class Grouping : std::uint8_t { Static, Timed, Bound };

/// The threads whose live state goes through memory when warps are formed.
enum class StateTraffic : std::uint8_t {
  None,
  Moved,  ///< of threads that moved: `bytes_per_moved`
  All,    ///< of every thread of a formed warp: `bytes_per_thread`
};

/// Costs that the machine adds to those of warp events.
struct Charges {
  double cycles_per_warp = 0;  ///< added latency of every warp that an exchange forms
  double cycles_per_cut = 0;  ///< added latency of every warp after a cut, exchanged or not: cost of splitting the call
  double bytes_per_moved = 0;   ///< memory traffic per thread that moved: live state, written and read
  double bytes_per_thread = 0;  ///< memory traffic per thread of every formed warp, moved or not (state kept in memory)
  double bytes_per_cycle = 0;   ///< bandwidth of one SM for this traffic; 0: the machine's
  std::uint32_t withheld_sms = 0;                   ///< run nothing
  StateTraffic state_traffic = StateTraffic::None;  ///< which byte count applies, also if the live state is 0 bytes
};

class SchedulerModel {
 public:
  static constexpr const char* kModelKind = "scheduler model";
  virtual ~SchedulerModel() = default;

  [[nodiscard]] virtual Cut cut() const = 0;
  [[nodiscard]] virtual Grouping grouping() const = 0;
  [[nodiscard]] virtual Charges charges(const MachineFacts& machine) const = 0;

  /// Most bytes of ray state in memory at once (wavefront's queues, a model's buffers); 0: none.
  [[nodiscard]] virtual std::uint64_t state_bytes(const PlanContext&) const {
    return 0;
  }
  /// Queues in memory that threads wait in; by default there are none.
  [[nodiscard]] virtual ModelQueues queues(const PlanContext&) const {
    return {};
  }
  /// Static models; others throw Internal.
  [[nodiscard]] virtual SegmentSchedule schedule(const PlanContext& context) const;
  /// Timed models; others throw Internal. One exchange per shading SM, or a single one for all of them.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Exchange>> exchanges(const PlanContext& context) const;
};

using SchedulerModels = Registry<SchedulerModel>;

}  // namespace rayreplay::scheduler
