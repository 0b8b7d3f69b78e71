#include "sim/comparison/compare.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/regrouping/segment_bound.hpp"
#include "sim/comparison/remembered_times.hpp"
#include "sim/launch/regrouped_launch.hpp"
#include "sim/machine/path_tally.hpp"
#include "sim/machine/work_counts.hpp"
#include "sim/simt/segment_replay.hpp"

namespace rayreplay::experiment {
namespace {

using scheduler::Charges;
using scheduler::Grouping;

constexpr const char* kBaseline = "plain";
constexpr std::uint32_t kTimedPerDecade = 1;
constexpr int kTimedStepsBelow = 2;
constexpr std::uint32_t kTimedSamples = 7;
constexpr std::array kLiveBytes = {0.0, 16.0, 32.0, 64.0, 96.0, 128.0, 192.0, 256.0, 384.0, 512.0};
constexpr double kOwn = std::numeric_limits<double>::quiet_NaN();

struct Candidate {
  std::unique_ptr<scheduler::SchedulerModel> model;
  std::string spec;
};

std::vector<Candidate> make_candidates(const std::vector<std::string>& specs) {
  std::vector<Candidate> candidates;
  const auto add = [&candidates](const std::string& spec) {
    auto created = scheduler::SchedulerModels::create(spec);
    if (std::none_of(candidates.begin(), candidates.end(),
                     [&](const Candidate& other) { return other.spec == created.spec; })) {
      candidates.push_back({std::move(created.model), std::move(created.spec)});
    }
  };
  add(kBaseline);
  std::for_each(specs.begin(), specs.end(), add);
  return candidates;
}

/// Moved state is written and read.
Charges with_live_bytes(Charges charges, double live) {
  constexpr double kTwice = 2;
  switch (charges.state_traffic) {
    case scheduler::StateTraffic::None:
      break;
    case scheduler::StateTraffic::Moved:
      charges.bytes_per_moved = kTwice * live;
      break;
    case scheduler::StateTraffic::All:
      charges.bytes_per_thread = kTwice * live;
      break;
  }
  return charges;
}

/// The bound's sums in the form of a replay. The weight of a call is its mean weight in plain's replay.
simt::ReplayResult as_replay(const scheduler::SegmentBound& bound, const simt::ReplayResult& plain) {
  simt::ReplayResult replay;
  replay.warp_size = plain.warp_size;
  replay.policy = plain.policy;
  replay.by_shader.resize(plain.by_shader.size());
  for (const scheduler::CallBound& call : bound.by_call) {
    const auto of_plain = std::find_if(
        plain.by_call.begin(), plain.by_call.end(),
        [&call](const simt::CallTally& other) { return other.kind == call.kind && other.shader == call.shader; });
    const std::uint64_t cost = of_plain != plain.by_call.end() && of_plain->tally.active_lanes > 0
                                   ? of_plain->tally.weighted_lanes / of_plain->tally.active_lanes
                                   : 0;
    const simt::Tally tally{call.sum.warp_events, call.sum.calls, cost * call.sum.warp_events, cost * call.sum.calls};
    replay.by_call.push_back({call.kind, call.shader, tally});
    replay.total += tally;
    replay.by_kind[static_cast<std::size_t>(call.kind)] += tally;
    replay.by_shader[call.shader] += tally;
  }
  return replay;
}

/// Resources that the replay's warp events and all rays' visits need.
machine::Job needs_of(const simt::ReplayResult& replay, const std::vector<machine::CallCost>& calls, double visits,
                      double extra_per_hit) {
  machine::Job sum;
  for (const simt::CallTally& call : replay.by_call) {
    const std::size_t index = call_index(call);
    const auto events = static_cast<double>(call.tally.warp_events);
    sum.issue += events * (calls[index].issue + (call.kind == trace::EventKind::ClosestHit ? extra_per_hit : 0));
    sum.shading += events * calls[index].latency;
  }
  sum.visits = visits;
  return sum;
}

std::uint64_t most_rounds(const scheduler::SegmentSchedule& schedule) {
  std::uint64_t most = 0;
  for (std::size_t unit = 0; unit < schedule.units(); ++unit) {
    most = std::max(most, schedule.unit_begin[unit + 1] - schedule.unit_begin[unit]);
  }
  return most;
}

/// Instructions that every closest-hit call can lose while each still has a positive cost.
double most_savings(const simt::ReplayResult& replay, const machine::Costs& costs, double latency_per_issue) {
  double least = kMaxHitInstructions;
  for (const simt::CallTally& call : replay.by_call) {
    if (call.kind == trace::EventKind::ClosestHit) {
      const machine::CallCost& cost = costs.calls[call_index(call)];
      least = std::min({least, cost.issue, cost.latency / latency_per_issue});
      const std::uint32_t by_path =
          costs.paths == nullptr ? machine::PathCosts::kNone : costs.paths->place(call_index(call));
      if (by_path != machine::PathCosts::kNone) {
        least = std::min(least, costs.paths->calls()[by_path].least);
      }
    }
  }
  constexpr double kNearlyAll = 0.99;
  return least < kMaxHitInstructions ? kNearlyAll * least : 0;
}

class Comparison {
 public:
  Comparison(const trace::Trace& trace, const Resolved& configuration, const scheduler::WarpAssignment& start,
             const CompareOptions& options, CompareResult& result)
      : trace_(trace),
        launch_(trace.launches[configuration.launch]),
        options_(options),
        result_(result),
        on_device_(options.accelerator == nullptr
                       ? nullptr
                       : std::make_unique<trace::AcceleratedLaunch>(*options.accelerator, launch_)),
        start_(start),
        facts_(machine::facts(result.machine, result.resident_warps, options.live_state.bytes)),
        besides_payload_(
            machine::facts(result.machine, result.resident_warps, options.live_state.besides_payload().bytes)),
        event_paths_(profile::event_paths(trace, launch_)) {}

  void add(const Candidate& candidate) {
    report_start(options_.progress, candidate.spec, 0);
    CompareRow row;
    row.model = candidate.spec;
    row.grouping = candidate.model->grouping();
    row.charges = candidate.model->charges(facts_);
    row.moved_payload_bytes = state_bytes_of(row.charges) - state_bytes_of(candidate.model->charges(besides_payload_));
    row.cut = scheduler::cut_paths(launch_, candidate.model->cut(), on_device_.get());
    row.segments = row.cut.size();
    const scheduler::PlanContext context{trace_, launch_, start_, row.cut, facts_, options_.hints, on_device_.get()};
    row.state_bytes = candidate.model->state_bytes(context);
    switch (row.grouping) {
      case Grouping::Static:
        add_static(candidate, context, row);
        break;
      case Grouping::Timed:
        add_timed(candidate, context, row);
        break;
      case Grouping::Bound:
        add_bound(row);
        break;
    }
    if ((options_.placement || options_.observe) && row.grouping != Grouping::Bound) {
      row.queues = candidate.model->queues(context);
      row.queue_places = row.queues.entry_bytes == 0
                             ? 0
                             : static_cast<std::uint32_t>(queue_places(facts_.resident_warps, row.schedule.warp_size));
    }
    row.efficiency = row.replay.replay.total.efficiency(result_.configuration.warp_size);
    if (event_paths_ != nullptr && row.grouping != Grouping::Bound) {
      row.paths = machine::tally_warps(launch_, trace_.shaders, row.cut.event_offset, row.schedule.segment_at,
                                       row.schedule.warp_size, result_.configuration.policy, *event_paths_);
    }
    row.warps = row.schedule.warps();
    for (const std::uint32_t moved : row.schedule.moved) {
      row.moved += moved;
    }
    const CompareRow& plain = result_.rows.empty() ? row : result_.rows.front();
    row.change = plain.efficiency > 0 ? row.efficiency / plain.efficiency - 1 : 0;
    row.speed_up = row.timing.cycles > 0 ? plain.timing.cycles / row.timing.cycles : 1;
    report_finish(options_.progress);
    if (options_.observe) {
      options_.observe(row);
    }
    if (!options_.placement) {
      row.schedule = {};
      row.cut = {};
      row.queues = {};
      row.moved_lanes = {};
      row.timing.placement = {};
    }
    result_.rows.push_back(std::move(row));
    if (options_.accelerator != nullptr) {
      options_.accelerator->note_cpu("time model", "it has no kernel");
    }
  }

 private:
  [[nodiscard]] machine::TimingOptions timing_options() const {
    return {options_.placement || options_.observe != nullptr, nullptr};
  }
  /// Reports one finished timing.
  void advance() const {
    report_advance(options_.progress, 1);
  }
  [[nodiscard]] machine::Extra extra(double hit_instructions) const {
    return {hit_instructions, options_.costs.cycles_per_instruction};
  }
  [[nodiscard]] simt::SegmentReplayResult replay(const scheduler::PlanContext& context,
                                                 const scheduler::SegmentSchedule& schedule) const {
    simt::SegmentReplayOptions options;
    options.policy = result_.configuration.policy;
    options.shader_cost = result_.configuration.costs;
    options.detail = true;
    options.on_device = on_device_.get();
    options.schedule_on_device = schedule.on_device.get();
    return simt::replay_segments(launch_, trace_.shaders, context.segments, schedule.segment_at, schedule.warp_size,
                                 options);
  }

  void add_static(const Candidate& candidate, const scheduler::PlanContext& context, CompareRow& row) {
    row.schedule = candidate.model->schedule(context);
    row.rounds = most_rounds(row.schedule);
    row.sm_source = row.schedule.sm_source;
    row.replay = replay(context, row.schedule);
    const bool is_plain = result_.rows.empty();
    if (is_plain) {
      list_quantities(row.replay.replay);
    }
    Plan plan;
    machine::Workload workload;
    if (options_.sensitivity) {
      plan.counts = count_work(context, row.schedule);
      workload = plan.counts.workload(result_.costs.calls, result_.costs.steps_per_ray, result_.machine);
    } else {
      workload = machine::make_workload(launch_, trace_.shaders, context.segments, row.schedule, result_.machine,
                                        result_.costs, result_.configuration.policy);
    }
    row.timing = machine::time_schedule(row.schedule, workload, result_.machine, result_.resident_warps, row.charges,
                                        extra(0), timing_options());
    const auto time = [&](double x, const Charges& charges) {
      machine::Timing timing = machine::time_schedule(row.schedule, workload, result_.machine, result_.resident_warps,
                                                      charges, extra(x), {});
      advance();
      return timing;
    };
    if (is_plain) {
      result_.mean_hit_cost = mean_hit_cost(row.replay.replay, result_.costs);
      plain_times_.remember(0, row.timing);
      plain_schedule_ = row.schedule;
      plain_workload_ = std::move(workload);
      plain_charges_ = row.charges;
      plain_counts_ = std::move(plan.counts);
      return;
    }
    RememberedTimes times([&](double x) { return time(x, row.charges); });
    times.remember(0, row.timing);
    solve({}, times, row);
    if (options_.response && row.charges.state_traffic != scheduler::StateTraffic::None) {
      std::array<double, kLiveBytes.size()> cycles{};
      tbb::parallel_for(std::size_t{0}, cycles.size(), [&](std::size_t i) {
        cycles[i] = time(0, with_live_bytes(row.charges, kLiveBytes[i])).cycles;
      });
      for (std::size_t i = 0; i < cycles.size(); ++i) {
        row.response.push_back({0, kLiveBytes[i], plain_times_.at(0).cycles / cycles[i]});
      }
    }
    judge_static(context, std::move(plan), row);
  }

  /// Warps of a static model, and their events.
  struct Plan {
    scheduler::SegmentSchedule schedule;  ///< empty: the row's
    machine::WorkCounts counts;
  };

  [[nodiscard]] machine::WorkCounts count_work(const scheduler::PlanContext& context,
                                               const scheduler::SegmentSchedule& schedule) const {
    return {launch_,
            trace_.shaders,
            context.segments,
            schedule,
            quantities_->classes(),
            result_.costs,
            result_.configuration.policy};
  }

  void list_quantities(const simt::ReplayResult& plain) {
    const std::vector<std::uint32_t>& steps = result_.costs.ray_steps;
    const double counted =
        steps.empty() ? -1 : std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
    const TimeInputs now{result_.machine,
                         result_.costs.calls,
                         options_.costs.cycles_per_instruction,
                         result_.costs.steps_per_ray,
                         options_.registers_per_thread,
                         options_.registers_origin,
                         "",
                         options_.live_state};
    quantities_ = std::make_unique<Quantities>(trace_.shaders, plain.by_call, now, counted, options_.given);
    result_.quantities = quantities_->list();
  }

  [[nodiscard]] std::uint32_t resident_of(const TimeInputs& inputs) const {
    return machine::resident_warps(inputs.machine, result_.configuration.warp_size, inputs.registers_per_thread);
  }

  [[nodiscard]] scheduler::MachineFacts facts_of(const TimeInputs& inputs) const {
    return machine::facts(inputs.machine, resident_of(inputs), inputs.live_state.bytes);
  }

  /// Plain's cycles, remembered by the quantities on which they depend: those of all models come first in `values`.
  double plain_cycles(std::span<const double> values, const TimeInputs& inputs) {
    std::vector<double> key;
    for (std::size_t i = 0; i < result_.quantities.size(); ++i) {
      if (result_.quantities[i].of_plain) {
        key.push_back(values[i]);
      }
    }
    {
      const std::lock_guard lock(plain_mutex_);
      const auto known = plain_at_.find(key);
      if (known != plain_at_.end()) {
        return known->second;
      }
    }
    const machine::Workload workload = plain_counts_.workload(inputs.calls, inputs.steps_per_ray, inputs.machine);
    const double cycles = machine::time_schedule(plain_schedule_, workload, inputs.machine, resident_of(inputs),
                                                 plain_charges_, {0, inputs.cycles_per_instruction}, {})
                              .cycles;
    const std::lock_guard lock(plain_mutex_);
    plain_at_.emplace(std::move(key), cycles);
    return cycles;
  }

  using CyclesAt = std::function<double(const TimeInputs&)>;

  void judge_row(const Quantities& own, const CyclesAt& cycles, CompareRow& row) {
    if (!options_.sensitivity || !(row.timing.cycles > 0)) {
      return;
    }
    const SpeedUpAt speed_up = [&](std::span<const double> values) {
      const TimeInputs inputs = own.at(values);
      const double plain = plain_cycles(values, inputs), model = cycles(inputs);
      advance();
      return plain == model ? 1 : plain / model;
    };
    row.verdict = judge(own.list(), result_.rows.front().timing.cycles / row.timing.cycles, speed_up,
                        {.noisy = row.grouping == Grouping::Timed});
  }

  [[nodiscard]] Quantities quantities_of(CompareRow& row) const {
    const auto named = options_.given_parameters.find(row.model);
    Quantities own = named == options_.given_parameters.end() ? quantities_->of_model(row.model, facts_)
                                                              : quantities_->of_model(row.model, facts_, named->second);
    row.parameters.assign(own.list().begin() + static_cast<std::ptrdiff_t>(result_.quantities.size()),
                          own.list().end());
    return own;
  }

  void judge_static(const scheduler::PlanContext& context, Plan plan, CompareRow& row) {
    const Quantities own = quantities_of(row);
    std::map<std::uint32_t, Plan> plans;  // by withheld SMs, for units that are bound to SMs
    const auto withheld =
        std::ranges::find(own.list(), std::string("machine.withheld_sms"), [](const Quantity& one) { return one.key; });
    if (options_.sensitivity && row.sm_source != scheduler::SmSource::None && withheld->varied()) {
      for (const double value : {withheld->low, withheld->high}) {
        std::vector<double> values = own.now();
        values[static_cast<std::size_t>(withheld - own.list().begin())] = value;
        const TimeInputs inputs = own.at(values);
        const auto model = scheduler::SchedulerModels::create(inputs.model).model;
        const scheduler::MachineFacts facts = facts_of(inputs);
        scheduler::PlanContext other{trace_, launch_, start_, context.segments, facts, options_.hints, nullptr};
        Plan made{model->schedule(other), {}};
        made.counts = count_work(context, made.schedule);
        plans.insert_or_assign(model->charges(facts).withheld_sms, std::move(made));
      }
    }
    plans.erase(row.charges.withheld_sms);
    judge_row(
        own,
        [&](const TimeInputs& inputs) {
          const std::uint32_t resident = resident_of(inputs);
          const Charges charges = scheduler::SchedulerModels::create(inputs.model).model->charges(facts_of(inputs));
          const auto other = plans.find(charges.withheld_sms);
          const Plan& used = other == plans.end() ? plan : other->second;
          const machine::Workload workload = used.counts.workload(inputs.calls, inputs.steps_per_ray, inputs.machine);
          return machine::time_schedule(other == plans.end() ? row.schedule : used.schedule, workload, inputs.machine,
                                        resident, charges, {0, inputs.cycles_per_instruction}, {})
              .cycles;
        },
        row);
  }

  void judge_timed(const Candidate& candidate, const scheduler::PlanContext& context, CompareRow& row) {
    judge_row(
        quantities_of(row),
        [&](const TimeInputs& inputs) {
          const std::uint32_t resident = resident_of(inputs);
          const scheduler::MachineFacts facts = facts_of(inputs);
          const scheduler::PlanContext other{trace_, launch_,        start_,           context.segments,
                                             facts,  options_.hints, context.on_device};
          machine::Costs costs = result_.costs;
          costs.calls = inputs.calls;
          costs.steps_per_ray = inputs.steps_per_ray;
          const Charges charges = scheduler::SchedulerModels::create(inputs.model).model->charges(facts);
          return machine::run_timed(other, *candidate.model, inputs.machine, resident, costs,
                                    result_.configuration.policy, charges, {0, inputs.cycles_per_instruction}, {})
              .timing.cycles;
        },
        row);
  }

  void add_timed(const Candidate& candidate, const scheduler::PlanContext& context, CompareRow& row) {
    const auto run = [&](double x, const machine::TimingOptions& options) {
      machine::TimedRun timed =
          machine::run_timed(context, *candidate.model, result_.machine, result_.resident_warps, result_.costs,
                             result_.configuration.policy, row.charges, extra(x), options);
      advance();
      return timed;
    };
    machine::TimedRun timed = run(0, timing_options());
    row.schedule = std::move(timed.schedule);
    row.timing = std::move(timed.timing);
    row.moved_lanes = std::move(timed.moved_lanes);
    row.replay = replay(context, row.schedule);
    RememberedTimes times([&](double x) { return run(x, {}).timing; });
    times.remember(0, row.timing);
    CostCurves curves;
    curves.per_decade = kTimedPerDecade;
    curves.steps_below = kTimedStepsBelow;
    curves.samples = kTimedSamples;
    solve(curves, times, row);
    judge_timed(candidate, context, row);
  }

  void add_bound(CompareRow& row) {
    row.replay.replay =
        as_replay(scheduler::segment_bound(launch_, trace_.shaders, row.cut, result_.configuration.warp_size),
                  result_.rows.front().replay.replay);
    const double counted = std::accumulate(result_.costs.ray_steps.begin(), result_.costs.ray_steps.end(), 0.0);
    const auto visits = [&](double steps_per_ray) {
      return result_.costs.ray_steps.empty() ? static_cast<double>(launch_.data.rays.size()) * steps_per_ray : counted;
    };
    const auto time = [&](double x) {
      return machine::time_bound(
          needs_of(row.replay.replay, result_.costs.calls, visits(result_.costs.steps_per_ray), x), result_.machine,
          row.charges);
    };
    row.timing = time(0);
    RememberedTimes times(time);
    solve({}, times, row);
    judge_row(
        quantities_of(row),
        [&](const TimeInputs& inputs) {
          const Charges charges = scheduler::SchedulerModels::create(inputs.model).model->charges(facts_of(inputs));
          return machine::time_bound(needs_of(row.replay.replay, inputs.calls, visits(inputs.steps_per_ray), 0),
                                     inputs.machine, charges)
              .cycles;
        },
        row);
  }

  void solve(CostCurves curves, RememberedTimes& times, CompareRow& row) {
    if (!options_.break_even) {
      return;
    }
    curves.plain = [this](double x) { return plain_times_.at(x).cycles; };
    curves.model = [&times](double x) { return times.at(x).cycles; };
    curves.cost_now = result_.mean_hit_cost;
    curves.cheaper =
        most_savings(result_.rows.front().replay.replay, result_.costs, options_.costs.cycles_per_instruction);
    const BreakEvenSolution solution = solve_break_even(curves);
    row.break_even = solution.result;
    row.break_even_busy_share = times.at(solution.result.decided_at).busy_share;
    row.break_even_plain_busy_share = plain_times_.at(solution.result.decided_at).busy_share;
    if (options_.response) {
      for (const CostPoint& point : solution.curve) {
        row.response.push_back({point.instructions, kOwn, point.speed_up});
      }
    }
  }

  const trace::Trace& trace_;
  const trace::Launch& launch_;
  const CompareOptions& options_;
  CompareResult& result_;
  std::unique_ptr<trace::AcceleratedLaunch> on_device_;
  const scheduler::WarpAssignment& start_;
  scheduler::MachineFacts facts_;
  scheduler::MachineFacts besides_payload_;  ///< the same, but payloads do not move along
  std::shared_ptr<const profile::EventPaths> event_paths_;

  scheduler::SegmentSchedule plain_schedule_;
  machine::Workload plain_workload_;
  Charges plain_charges_;
  std::unique_ptr<Quantities> quantities_;
  machine::WorkCounts plain_counts_;
  std::map<std::vector<double>, double> plain_at_;
  std::mutex plain_mutex_;
  RememberedTimes plain_times_{[this](double x) {
    return machine::time_schedule(plain_schedule_, plain_workload_, result_.machine, result_.resident_warps,
                                  plain_charges_, extra(x), {});
  }};
};

}  // namespace

double mean_hit_cost(const simt::ReplayResult& replay, const machine::Costs& costs) {
  double instructions = 0;
  double calls = 0;
  for (const simt::CallTally& call : replay.by_call) {
    if (call.kind == trace::EventKind::ClosestHit) {
      const auto lanes = static_cast<double>(call.tally.active_lanes);
      instructions += lanes * costs.calls[call_index(call)].issue;
      calls += lanes;
    }
  }
  return calls > 0 ? instructions / calls : 0;
}

bool too_few_warps(const CompareResult& result, const CompareRow& row) {
  if (row.grouping == Grouping::Bound || row.timing.cycles == 0) {
    return false;
  }
  double least = std::min(row.timing.busy_share, result.rows.front().timing.busy_share);
  if (row.break_even.kind != BreakEvenKind::NotAsked) {
    least = std::min({least, row.break_even_busy_share, row.break_even_plain_busy_share});
  }
  return least < kFewBusy;
}

CompareResult compare(const trace::Trace& trace, const Resolved& configuration, const scheduler::WarpAssignment& start,
                      const CompareOptions& options) {
  const trace::Launch& launch = trace.launches.at(configuration.launch);
  const std::vector<Candidate> candidates = make_candidates(options.models);
  CompareResult result;
  result.configuration = configuration;
  result.machine = options.machine;
  result.trace_hash = trace.hash;
  result.tool_version = RAYREPLAY_VERSION;
  result.size = launch.size;
  result.rays = launch.data.rays.size();
  result.events = launch.data.events.size();
  result.resident_warps =
      machine::resident_warps(result.machine, configuration.warp_size, options.registers_per_thread);
  result.costs = machine::make_costs(trace, launch, options.costs);

  Comparison comparison(trace, configuration, start, options, result);
  for (const Candidate& candidate : candidates) {
    comparison.add(candidate);
  }
  result.costs.paths = nullptr;  // results outlive the trace, to which it refers
  return result;
}

}  // namespace rayreplay::experiment
