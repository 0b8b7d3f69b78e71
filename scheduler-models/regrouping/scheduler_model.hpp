// Scheduler models: how a GPU regroups threads into warps while they run (MODELS.md §7).
//
// Contract: a model says where paths are cut (`cut`), what an exchange costs (`charges`), how much memory the waiting
// threads take
// (`state_bytes`), and then one of three things, by `grouping`:
//   Static  `schedule`: all warps of segments, known without time (plain, SER with everybody arriving together,
//           compaction, wavefront)
//   Timed   `exchanges`: objects that form warps while the machine runs (SER with full pools or time-outs, bindless
//   dispatch) Bound   neither: what no model with this cut can beat (oracle); MODELS.md §7
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
#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::scheduler {

/// What a model may know of the machine.
struct MachineFacts {
  std::uint32_t sms = 1;
  std::uint32_t resident_warps = 32;    ///< of an SM, at the workload's occupancy
  bool reorders = false;                ///< the machine has hardware for SER
  std::uint32_t withheld_sms = 0;       ///< SMs that do not shade while the hardware reorders
  double reorder_cycles = 0;            ///< machine's default fixed cost of an exchange, per warp formed
  double exchange_bytes_per_cycle = 1;  ///< of one SM: bandwidth for moving live state
};

struct PlanContext {
  const trace::Trace& trace;
  const trace::Launch& launch;
  const WarpAssignment& order;  ///< who runs with whom at the start; start_rank is the order in which warps start
  const Segments& segments;     ///< cut as `cut` says
  MachineFacts machine;
  const HintSources& hints;
  /// Of the same launch: static schedules, and the keys that they need, are made on its devices; exchanges
  /// are not, since machines run side by side. Null: on the processor.
  trace::AcceleratedLaunch* on_device = nullptr;
};

enum class Grouping : std::uint8_t { Static, Timed, Bound };

/// Whose live state goes through memory when warps are formed.
enum class StateTraffic : std::uint8_t {
  None,
  Moved,  ///< of threads that moved: `bytes_per_moved`
  All,    ///< of every thread of a formed warp: `bytes_per_thread`
};

/// What the machine charges, beyond running the warp events.
struct Charges {
  double cycles_per_warp = 0;   ///< latency of every warp formed after the first of its threads
  double cycles_per_cut = 0;    ///< latency of every warp formed, moved or not: what splitting the call costs
  double bytes_per_moved = 0;   ///< memory traffic per thread that moved: live state, written and read
  double bytes_per_thread = 0;  ///< memory traffic per thread of every formed warp, moved or not (state kept in memory)
  double bytes_per_cycle = 0;   ///< bandwidth for them, of one SM; 0: the machine's
  std::uint32_t withheld_sms = 0;                   ///< run nothing
  StateTraffic state_traffic = StateTraffic::None;  ///< which of the two it is, even where the model's state is 0 bytes
};

class SchedulerModel {
 public:
  static constexpr const char* kModelKind = "scheduler model";
  virtual ~SchedulerModel() = default;

  [[nodiscard]] virtual Cut cut() const = 0;
  [[nodiscard]] virtual Grouping grouping() const = 0;
  [[nodiscard]] virtual Charges charges(const MachineFacts& machine) const = 0;

  /// Most bytes of ray state that wait in memory at once (wavefront's queues, a model's buffers); 0: none.
  [[nodiscard]] virtual std::uint64_t state_bytes(const PlanContext&) const {
    return 0;
  }
  /// Static models; the others throw Internal.
  [[nodiscard]] virtual SegmentSchedule schedule(const PlanContext& context) const;
  /// Timed models; the others throw Internal. One exchange for each of the machine's shading SMs, or a single one for
  /// all of them.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Exchange>> exchanges(const PlanContext& context) const;
};

using SchedulerModels = Registry<SchedulerModel>;

}  // namespace rayreplay::scheduler
