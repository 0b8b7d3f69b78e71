#include "sim/launch/regrouped_launch.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/machine/timing.hpp"

namespace rayreplay::experiment {
namespace {

constexpr double kWordBytes = 4;

/// Timed models: runs the time model for the warps, their SMs and their order.
void run_timed_model(const scheduler::PlanContext& context, const scheduler::SchedulerModel& model,
                     const RegroupOptions& options, RegroupedLaunch& result) {
  const machine::Costs costs = machine::make_costs(context.trace, context.launch, options.costs);
  machine::TimedRun run = machine::run_timed(
      context, model, options.machine, options.resident_warps, costs, options.policy, result.charges,
      {.latency_per_issue = options.costs.cycles_per_instruction}, {.placement = true, .progress = options.progress});
  result.state_moves =
      scheduler::timed_state_moves(result.segments, run.schedule, run.moved_lanes, result.charges.state_traffic);
  result.schedule = std::move(run.schedule);
  result.sm = std::move(run.timing.placement.sm);
}

/// Places in the queues of a schedule.
scheduler::QueuePlaces places_of(const RegroupedLaunch& launch, const scheduler::ModelQueues& queues,
                                 const scheduler::MachineFacts& facts) {
  if (launch.sm.empty()) {
    return scheduler::static_places(launch.segments, queues, launch.schedule);
  }
  return scheduler::played_places(launch.segments, queues, launch.schedule, launch.sm, launch.charges.withheld_sms,
                                  facts.sms, queue_places(facts.resident_warps, launch.schedule.warp_size));
}

template <class T>
std::uint64_t column_bytes(const T& column) {
  return column.capacity() * sizeof(column[0]);
}

}  // namespace

std::uint64_t RegroupedLaunch::bytes() const {
  return column_bytes(segments.event_offset) + column_bytes(segments.first) + column_bytes(segments.bounce) +
         column_bytes(schedule.segment_at) + column_bytes(schedule.moved) + column_bytes(schedule.round_begin) +
         column_bytes(schedule.unit_begin) + column_bytes(schedule.unit_sm) + column_bytes(sm) +
         column_bytes(state_moves) + column_bytes(start_delay) +
         (forming
              ? column_bytes(forming->start.thread_at) + column_bytes(forming->start.start_rank) +
                    column_bytes(forming->start.tile) + (forming->queues.keys ? column_bytes(*forming->queues.keys) : 0)
              : 0) +
         (queues ? queues->bytes() : 0);
}

std::uint32_t state_bytes_of(const scheduler::Charges& charges) {
  const double traffic = charges.state_traffic == scheduler::StateTraffic::All     ? charges.bytes_per_thread
                         : charges.state_traffic == scheduler::StateTraffic::Moved ? charges.bytes_per_moved
                                                                                   : 0;
  if (traffic / 2 > scheduler::kMaxStateBytes) {
    throw Error(ErrorKind::Usage,
                {"the state of a thread is too large to move", "scheduler model",
                 fmt::format("{:.0f} bytes", traffic / 2), fmt::format("at most {} bytes", scheduler::kMaxStateBytes),
                 "it was counted in the launch's shaders; give another with the model: ser:live_state=84"});
  }
  return static_cast<std::uint32_t>(std::ceil(traffic / 2 / kWordBytes) * kWordBytes);
}

void leave_out_payload(RegroupedLaunch& launch) {
  launch.state_bytes -= std::min(launch.state_bytes, launch.payload_bytes);
  launch.payload_bytes = 0;
  if (launch.state_bytes == 0) {
    launch.state_moves = {};
  }
}

void require_warps(const std::string& model, const std::string& where) {
  if (scheduler::SchedulerModels::create(model).model->grouping() == scheduler::Grouping::Bound) {
    throw Error(ErrorKind::Usage, {"the scheduler model is a bound: it has no warps whose accesses could be simulated",
                                   where, "'" + model + "'", "a model that forms warps: plain, ser, wavefront, …",
                                   "choose another model, or leave out the outputs about memory"});
  }
}

std::uint64_t queue_places(std::uint32_t resident_warps, std::uint32_t warp_size) {
  return std::uint64_t{resident_warps} * warp_size;
}

std::unique_ptr<scheduler::QueuePlaces> forming_places(const scheduler::Segments& segments, const Forming& forming) {
  return std::make_unique<scheduler::QueuePlaces>(segments, forming.queues, forming.facts.sms,
                                                  queue_places(forming.facts.resident_warps, forming.start.warp_size));
}

bool is_timed(const std::string& model) {
  return scheduler::SchedulerModels::create(model).model->grouping() == scheduler::Grouping::Timed;
}

RegroupedLaunch regroup_launch(const trace::Trace& trace, const trace::Launch& launch,
                               const scheduler::WarpAssignment& start, const std::string& model,
                               const RegroupOptions& options) {
  require_warps(model, "scheduler model");
  const scheduler::SchedulerModels::Created created = scheduler::SchedulerModels::create(model);
  const scheduler::MachineFacts facts =
      machine::facts(options.machine, options.resident_warps, options.live_state_bytes);
  RegroupedLaunch result;
  result.model = created.spec;
  result.charges = created.model->charges(facts);
  result.state_bytes = state_bytes_of(result.charges);
  result.segments = scheduler::cut_paths(launch, created.model->cut(), options.on_device);
  const scheduler::PlanContext context{trace, launch, start, result.segments, facts, options.hints, options.on_device};
  const scheduler::ModelQueues queues = created.model->queues(context);
  const bool timed = created.model->grouping() == scheduler::Grouping::Timed;
  if (timed && options.closed_loop) {
    result.forming = {start, facts, options.hints, queues};
    result.schedule.warp_size = start.warp_size;
    if (result.charges.state_traffic == scheduler::StateTraffic::All) {
      result.state_moves =
          scheduler::timed_state_moves(result.segments, result.schedule, {}, result.charges.state_traffic);
    }
  } else if (timed) {
    run_timed_model(context, *created.model, options, result);
  } else {
    result.schedule = created.model->schedule(context);
    result.state_moves = scheduler::static_state_moves(result.segments, result.schedule, result.charges.state_traffic);
  }
  if (result.state_bytes == 0) {
    result.state_moves = {};
  }
  if (queues.entry_bytes != 0 && !result.forming) {
    result.queues = std::make_shared<const scheduler::QueuePlaces>(places_of(result, queues, facts));
  }
  // Results kept between stages have no copy in a device's memory.
  result.segments.on_device = {};
  result.schedule.on_device = {};
  return result;
}

}  // namespace rayreplay::experiment
