// Does the comparison say of a launch what its parts say, alike on one worker and on many?
#include "sim/comparison/compare.hpp"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "scheduler-models/bound.hpp"
#include "scheduler-models/launch_order.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/second_path.hpp"

namespace rayreplay::test {
namespace {

using experiment::CompareOptions;
using experiment::CompareResult;
using experiment::CompareRow;
using scheduler::Grouping;

trace::Trace random_launch() {
  RandomTraceOptions options;
  options.seed = 11;
  options.size = {32, 24, 1};
  options.rays_per_thread = 6;
  return random_trace(options);
}

experiment::Resolved resolved(const trace::Trace& trace) {
  experiment::Configuration configuration;
  configuration.warp_size = 32;
  configuration.order = "z-order";
  configuration.packings = {"identity"};
  return experiment::resolve(configuration, trace);
}

CompareOptions all_models() {
  CompareOptions options;
  options.models = scheduler::SchedulerModels::names();
  options.machine = machine::load_machine("rtx4060-laptop");
  return options;
}

TEST(Compare, PlainIsTheReplayerOfThreads) {
  const trace::Trace trace = random_launch();
  const experiment::Resolved configuration = resolved(trace);
  const CompareResult result = compare_by_hand(trace, configuration, all_models());
  const scheduler::WarpAssignment order =
      scheduler::LaunchOrders::create(configuration.order).model->assign(trace.launches[0], 32);
  const simt::ReplayResult replay = simt::replay(trace.launches[0], trace.shaders, order);
  ASSERT_EQ(result.rows.size(), scheduler::SchedulerModels::names().size());
  const CompareRow& plain = result.rows.front();
  EXPECT_EQ(plain.model, "plain");
  EXPECT_EQ(plain.replay.replay.total, replay.total);
  EXPECT_EQ(plain.replay.replay.by_kind, replay.by_kind);
  EXPECT_DOUBLE_EQ(plain.speed_up, 1);
  EXPECT_DOUBLE_EQ(plain.change, 0);
  EXPECT_EQ(plain.moved, 0U);
}

TEST(Compare, RowsAddUp) {
  const trace::Trace trace = random_launch();
  const CompareResult result = compare_by_hand(trace, resolved(trace), all_models());
  std::set<Grouping> kinds;
  for (const CompareRow& row : result.rows) {
    SCOPED_TRACE(row.model);
    kinds.insert(row.grouping);
    const simt::Tally& total = row.replay.replay.total;
    EXPECT_EQ(total.active_lanes, result.rows.front().replay.replay.total.active_lanes);
    EXPECT_DOUBLE_EQ(row.efficiency, total.efficiency(32));
    EXPECT_NEAR(row.speed_up, result.rows.front().timing.cycles / row.timing.cycles, 1e-12);
    EXPECT_GT(row.segments, 0U);
    if (row.grouping == Grouping::Bound) {
      continue;
    }
    std::uint64_t events = 0, lanes = 0;
    for (std::size_t i = 0; i < row.replay.active_lanes.size(); ++i) {
      events += row.replay.active_lanes[i];
      lanes += i * row.replay.active_lanes[i];
    }
    EXPECT_EQ(events, total.warp_events);
    EXPECT_EQ(lanes, total.active_lanes);
    const machine::Split& split = row.timing.split;
    const double all = row.timing.cycles * result.machine.sms;
    EXPECT_NEAR(split.traversal + split.shading + split.reorder + split.idle + split.withheld, all, 1e-6 * all);
    EXPECT_TRUE(row.schedule.segment_at.empty());
    EXPECT_TRUE(row.timing.placement.sm.empty());
    EXPECT_TRUE(row.response.empty());
  }
  EXPECT_EQ(kinds.size(), 3U);  // all three ways of grouping took part
}

TEST(Compare, NoModelOfOneCutBeatsItsBound) {
  const trace::Trace trace = random_launch();
  const CompareResult result = compare_by_hand(trace, resolved(trace), all_models());
  const auto events = [&result](const std::string& name) {
    for (const CompareRow& row : result.rows) {
      if (row.model.substr(0, row.model.find(':')) == name) {
        return row.replay.replay.total.warp_events;
      }
    }
    ADD_FAILURE() << name;
    return std::uint64_t{0};
  };
  EXPECT_LE(events("oracle"), events("ser"));
  EXPECT_LE(events("oracle"), events("wavefront"));
  EXPECT_LE(events("oracle"), events("compaction"));
  EXPECT_LE(scheduler::lower_bound(trace.launches[0], 32).warp_events, events("oracle"));
}

TEST(Compare, BreakEvenIsWhereTheTimesAreThoseOfPlain) {
  const trace::Trace trace = random_launch();
  CompareOptions options;
  options.machine = machine::load_machine("rtx4060-laptop");
  options.models = {"ser", "wavefront"};
  const CompareResult result = compare_by_hand(trace, resolved(trace), options);
  int solved = 0;
  for (const CompareRow& row : result.rows) {
    const experiment::BreakEvenKind kind = row.break_even.kind;
    if (kind != experiment::BreakEvenKind::Above && kind != experiment::BreakEvenKind::Below) {
      continue;
    }
    // The same launch with calls that cost as much by hand.
    CompareOptions there = options;
    there.break_even = false;
    for (std::size_t id = 0; id < trace.shaders.size(); ++id) {
      if (trace.shaders[id].stage == trace::ShaderStage::ClosestHit) {
        const machine::CallCost& now =
            result.costs.calls[id * trace::kEventKinds + static_cast<std::size_t>(trace::EventKind::ClosestHit)];
        there.costs.hand.push_back({std::to_string(id), now.issue + row.break_even.instructions,
                                    now.latency + 6 * row.break_even.instructions});
      }
    }
    const CompareResult at = compare_by_hand(trace, resolved(trace), there);
    for (const CompareRow& again : at.rows) {
      if (again.model == row.model) {
        EXPECT_NEAR(again.speed_up, 1, 5e-3) << row.model;
        ++solved;
      }
    }
  }
  EXPECT_GE(solved, 1);
}

TEST(Compare, ObserversSeeWhatIsThenLetGo) {
  const trace::Trace trace = random_launch();
  CompareOptions options = all_models();
  options.break_even = false;
  std::vector<std::string> seen;
  options.observe = [&seen](const CompareRow& row) {
    seen.push_back(row.model);
    if (row.grouping != Grouping::Bound) {
      // Timed models list their warps by start: what ran after what is the placement's matter.
      if (row.grouping == Grouping::Static) {
        check(row.schedule, row.cut);
      }
      std::vector<int> times(row.cut.size());
      for (const std::uint32_t segment : row.schedule.segment_at) {
        if (segment != scheduler::kNoSegment) {
          ++times[segment];
        }
      }
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(times.size()));
      EXPECT_EQ(row.timing.placement.sm.size(), row.schedule.warps());
    }
    EXPECT_EQ(row.cut.size(), row.segments);
  };
  const CompareResult result = compare_by_hand(trace, resolved(trace), options);
  ASSERT_EQ(seen.size(), result.rows.size());
  EXPECT_TRUE(result.rows.front().schedule.segment_at.empty());
  EXPECT_EQ(result.rows.back().break_even.kind, experiment::BreakEvenKind::NotAsked);
  options.placement = true;
  EXPECT_FALSE(compare_by_hand(trace, resolved(trace), options).rows.front().schedule.segment_at.empty());
}

TEST(Compare, ResponseFallsWithLiveState) {
  const trace::Trace trace = random_launch();
  CompareOptions options;
  options.models = {"ser:scope=launch"};
  options.machine = machine::load_machine("rtx4060-laptop");
  options.response = true;
  const CompareResult result = compare_by_hand(trace, resolved(trace), options);
  double last = INFINITY;
  std::size_t points = 0;
  for (const experiment::ResponsePoint& point : result.rows[1].response) {
    if (!std::isnan(point.live_bytes)) {
      EXPECT_LE(point.speed_up, last * (1 + 1e-2)) << point.live_bytes;
      last = point.speed_up;
      ++points;
    }
  }
  EXPECT_GE(points, 5U);
}

std::vector<experiment::ResponsePoint> over_live_state(const CompareRow& row) {
  std::vector<experiment::ResponsePoint> points;
  for (const experiment::ResponsePoint& point : row.response) {
    if (!std::isnan(point.live_bytes)) {
      points.push_back(point);
    }
  }
  return points;
}

TEST(Compare, LiveStateIsOfTheThreadsThatSpillIt) {
  // What the model itself has for live state is no matter: the curve is that of the model with others.
  const trace::Trace trace = random_launch();
  CompareOptions options;
  options.machine = machine::load_machine("rtx4060-laptop");
  options.response = true;
  for (const std::string spill : {"all", "moved"}) {
    const std::string spec = "ser:scope=sm,spill=" + spill;
    options.models = {spec + ",live_state=0", spec + ",live_state=84", spec + ",live_state=128"};
    const CompareResult result = compare_by_hand(trace, resolved(trace), options);
    const auto none = over_live_state(result.rows[1]), usual = over_live_state(result.rows[2]);
    ASSERT_GE(none.size(), 5U);
    ASSERT_EQ(none.size(), usual.size());
    bool met = false;
    for (std::size_t i = 0; i < none.size(); ++i) {
      EXPECT_EQ(none[i].speed_up, usual[i].speed_up) << spill << none[i].live_bytes;
      if (none[i].live_bytes == 128) {
        EXPECT_DOUBLE_EQ(none[i].speed_up, result.rows[3].speed_up) << spill;
        met = true;
      }
    }
    EXPECT_TRUE(met);
    EXPECT_LT(none.back().speed_up, none.front().speed_up);
  }
  // Within a warp nothing is spilled.
  options.models = {"ser:scope=warp"};
  EXPECT_TRUE(over_live_state(compare_by_hand(trace, resolved(trace), options).rows[1]).empty());
}

TEST(Compare, FewWarpsAreSaidOfSmallLaunchesAlone) {
  CompareOptions options;
  options.models = {"ser:scope=sm", "oracle"};
  options.break_even = false;
  const auto flags = [&](std::uint32_t width, std::uint32_t height, bool break_even) {
    RandomTraceOptions random;
    random.seed = 5;
    random.size = {width, height, 1};
    const trace::Trace trace = random_trace(random);
    options.break_even = break_even;
    const CompareResult result = compare_by_hand(trace, resolved(trace), options);
    std::vector<bool> list;
    for (const CompareRow& row : result.rows) {
      list.push_back(too_few_warps(result, row));
      if (row.grouping == Grouping::Bound) {
        EXPECT_FALSE(list.back());
      } else if (!break_even) {
        EXPECT_EQ(list.back(), std::min(row.timing.busy_share, result.rows[0].timing.busy_share) < 0.5);
      } else if (row.break_even.kind != experiment::BreakEvenKind::NotAsked) {
        EXPECT_GT(row.break_even_busy_share, 0);
        EXPECT_GT(row.break_even_plain_busy_share, 0);
      }
    }
    return list;
  };
  options.machine = machine::load_machine("rtx4060-laptop");
  EXPECT_EQ(flags(32, 24, true), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(flags(32, 24, false), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(flags(512, 512, false), (std::vector<bool>{false, false, false}));
}

TEST(Compare, TheSameWithOneWorkerAndMany) {
  const trace::Trace trace = random_launch();
  CompareOptions options = all_models();
  options.response = true;
  const auto run = [&](std::size_t workers) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
    return compare_by_hand(trace, resolved(trace), options);
  };
  const CompareResult one = run(1), many = run(4);
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    const CompareRow &a = one.rows[i], &b = many.rows[i];
    SCOPED_TRACE(a.model);
    EXPECT_EQ(a.replay.replay.total, b.replay.replay.total);
    EXPECT_EQ(a.timing.cycles, b.timing.cycles);
    EXPECT_EQ(a.break_even.instructions, b.break_even.instructions);
    ASSERT_EQ(a.response.size(), b.response.size());
    for (std::size_t k = 0; k < a.response.size(); ++k) {
      EXPECT_EQ(a.response[k].speed_up, b.response[k].speed_up);
    }
  }
}

}  // namespace
}  // namespace rayreplay::test
