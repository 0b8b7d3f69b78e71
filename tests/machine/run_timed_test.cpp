// Timed models: the run against a slow twin with the real exchanges, on random launches; a case worked out by hand; and
// exchanges that break their contract.
#include <deque>
#include <functional>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/regrouping/exchanges/pool_exchange.hpp"
#include "scheduler-models/regrouping/exchanges/queue_exchange.hpp"
#include "sim/machine/timing.hpp"
#include "tests/machine/slow_run.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

double fraction(Random& random) {
  return static_cast<double>(random.bits() >> 11) * 0x1p-53;
}

Setting random_setting(std::uint64_t seed) {
  Random random(seed);
  Setting setting;
  const std::uint32_t warp_size = 1U << (1 + random.below(3));
  setting.trace = random_trace({.seed = seed, .size = {8, 1 + random.below(6), 1}, .rays_per_thread = 5});
  setting.order = scheduler::LaunchOrders::create("z-order").model->assign(setting.launch(), warp_size);
  setting.cut.at = random.one_in(3) ? scheduler::CutAt::EveryCall : scheduler::CutAt::PendingCall;
  setting.segments = scheduler::cut_paths(setting.launch(), setting.cut);
  setting.machine.sms = 1 + random.below(4);
  setting.machine.issue_per_cycle = 0.3 + fraction(random);
  setting.machine.rt_steps_per_cycle = 0.3 + fraction(random);
  setting.machine.l1_latency_cycles = 1;
  setting.machine.rt_test_latency_cycles = fraction(random);
  setting.resident = 1 + random.below(4);
  machine::CostOptions costs;
  for (std::size_t ray = 0; ray < setting.launch().data.rays.size(); ++ray) {
    costs.ray_steps.push_back(random.below(100'000));
  }
  for (std::size_t shader = 0; shader < setting.trace.shaders.size(); ++shader) {
    costs.hand.push_back({std::to_string(shader), 1000 * fraction(random), 1000 + 10000 * fraction(random)});
  }
  setting.costs = machine::make_costs(setting.trace, setting.launch(), costs);
  if (random.one_in(2)) {
    setting.charges = {.cycles_per_warp = 100 * fraction(random),
                       .cycles_per_cut = 100 * fraction(random),
                       .bytes_per_moved = 300 * fraction(random),
                       .bytes_per_thread = 100 * fraction(random),
                       .withheld_sms = random.below(setting.machine.sms)};
  }
  auto keys = std::make_shared<trace::Column<std::uint64_t>>();
  for (std::size_t segment = 0; segment < setting.segments.size(); ++segment) {
    keys->push_back(random.below(4));
  }
  const std::size_t count = random.one_in(2) ? 1 : setting.shading();
  const bool queues = random.one_in(2);
  const std::uint32_t pool = 1 + random.below(4);
  const double timeout = random.one_in(2) ? scheduler::kNever : 20000 * fraction(random);
  const std::uint64_t most = random.one_in(2) ? 0 : 1 + random.below(30);
  const bool split = random.one_in(2);
  setting.exchanges = [=] {
    Exchanges result;
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back(queues ? scheduler::make_queue_exchange(keys, warp_size, most)
                              : scheduler::make_pool_exchange(keys, warp_size, {.split_keys = split}, pool, timeout));
    }
    return result;
  };
  return setting;
}

TEST(RunTimed, IsThatOfTheSlowTwin) {
  std::uint64_t formed = 0;
  std::uint64_t ambiguous = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    const Setting setting = random_setting(seed);
    const TimedRun fast = setting.run();
    SlowRun twin(setting);
    const TimedRun slow = twin.run();
    if (twin.ambiguous()) {
      ++ambiguous;
      continue;
    }
    ASSERT_EQ(fast.schedule.segment_at, slow.schedule.segment_at);
    ASSERT_EQ(fast.schedule.moved, slow.schedule.moved);
    ASSERT_EQ(fast.timing.placement.sm, slow.timing.placement.sm);
    ASSERT_EQ(fast.timing.placement.slot, slow.timing.placement.slot);
    const double near = 1e-9 * std::max(1.0, slow.timing.cycles);
    EXPECT_NEAR(fast.timing.cycles, slow.timing.cycles, near);
    EXPECT_NEAR(fast.timing.tail_cycles, slow.timing.tail_cycles, near);
    EXPECT_NEAR(fast.timing.traffic_bytes, slow.timing.traffic_bytes, 1e-9 * std::max(1.0, slow.timing.traffic_bytes));
    for (std::size_t warp = 0; warp < fast.schedule.warps(); ++warp) {
      ASSERT_NEAR(fast.timing.placement.start[warp], slow.timing.placement.start[warp], near);
      ASSERT_NEAR(fast.timing.placement.end[warp], slow.timing.placement.end[warp], near);
    }
    const double all = near * setting.machine.sms;
    EXPECT_NEAR(fast.timing.split.shading, slow.timing.split.shading, all);
    EXPECT_NEAR(fast.timing.split.traversal, slow.timing.split.traversal, all);
    EXPECT_NEAR(fast.timing.split.reorder, slow.timing.split.reorder, all);
    EXPECT_NEAR(fast.timing.split.idle, slow.timing.split.idle, all);
    formed += static_cast<std::uint64_t>(fast.schedule.warps()) - setting.order.warps();
  }
  EXPECT_LT(ambiguous, 80U);
  EXPECT_GT(formed, 10'000U) << "the random launches exchange too little to mean anything";
}

TEST(RunTimed, EverySegmentRunsOnceAndAfterTheOneBefore) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    const Setting setting = random_setting(seed);
    const TimedRun run = setting.run();
    std::vector<std::uint32_t> warp_of(setting.segments.size(), kNoSegment);
    for (std::size_t place = 0; place < run.schedule.segment_at.size(); ++place) {
      const std::uint32_t segment = run.schedule.segment_at[place];
      if (segment != kNoSegment) {
        EXPECT_EQ(warp_of[segment], kNoSegment);
        warp_of[segment] = static_cast<std::uint32_t>(place / run.schedule.warp_size);
      }
    }
    EXPECT_EQ(std::count(warp_of.begin(), warp_of.end(), kNoSegment), 0);
    for (std::size_t thread = 0; thread + 1 < setting.segments.first.size(); ++thread) {
      for (std::size_t s = setting.segments.first[thread] + std::size_t{1}; s < setting.segments.first[thread + 1];
           ++s) {
        EXPECT_GE(run.timing.placement.start[warp_of[s]], run.timing.placement.end[warp_of[s - 1]]);
      }
    }
    const machine::Split& split = run.timing.split;
    EXPECT_NEAR(split.shading + split.traversal + split.reorder + split.idle + split.withheld,
                run.timing.cycles * setting.machine.sms, 1e-9 * run.timing.cycles * setting.machine.sms);
  }
}

/// Two threads in one warp, each with a closest hit; all calls cost 16 instructions and 100 cycles, traversal nothing.
Setting two_threads() {
  Setting setting;
  setting.trace.shaders.resize(2);
  setting.trace.shaders[1].stage = trace::ShaderStage::ClosestHit;
  LaunchBuilder builder({2, 1, 1});
  builder.thread().begin(0).closest_hit(1).thread().begin(0).closest_hit(1);
  setting.trace.launches.push_back(builder.build());
  setting.order.warp_size = 2;
  setting.order.thread_at = {0, 1};
  setting.order.start_rank = {0};
  setting.order.tile = {0};
  setting.segments = scheduler::cut_paths(setting.launch(), setting.cut);
  setting.machine.sms = 1;
  setting.costs = machine::make_costs(setting.trace, setting.launch(),
                                      {.hand = {{"0", 16, 100}, {"1", 16, 100}}, .steps_per_ray = 0});
  return setting;
}

/// Releases each thread in a warp of its own, a fixed time after it came.
class Delay : public Exchange {
 public:
  explicit Delay(double cycles) : cycles_(cycles) {}
  void arrive(const scheduler::Arrival& arrival, double now) override {
    waiting_.push_back({arrival, now + cycles_});
  }
  void release(double now, bool starved, std::vector<FormedWarp>& out) override {
    while (!waiting_.empty() && (starved || waiting_.front().second <= now)) {
      FormedWarp warp;
      warp.segment_at.fill(kNoSegment);
      warp.segment_at[waiting_.front().first.lane] = waiting_.front().first.segment;
      out.push_back(warp);
      waiting_.pop_front();
      if (starved) {
        return;
      }
    }
  }
  [[nodiscard]] double deadline_cycles() const override {
    return waiting_.empty() ? scheduler::kNever : waiting_.front().second;
  }
  [[nodiscard]] std::uint64_t waiting() const override {
    return waiting_.size();
  }

 protected:
  double cycles_;
  std::deque<std::pair<scheduler::Arrival, double>> waiting_;
};

// The launched warp runs to 100. Both threads then wait and nothing runs: the exchange is starved, gives one thread,
// which runs alone to 200 and brings nobody, so the other is given at once, too.
TEST(RunTimed, AStarvedExchangeIsAskedAtOnce) {
  Setting setting = two_threads();
  setting.exchanges = [] {
    Exchanges result;
    result.push_back(std::make_unique<Delay>(1000));
    return result;
  };
  const TimedRun run = setting.run();
  EXPECT_EQ(run.schedule.segment_at, (trace::Column<std::uint32_t>{0, 2, 1, kNoSegment, kNoSegment, 3}));
  EXPECT_EQ(run.timing.placement.start, (std::vector<double>{0, 100, 100}));
  EXPECT_EQ(run.timing.cycles, 200);
}

std::string message(const Setting& setting) {
  return test::message_of(ErrorKind::Internal, [&] { (void)setting.run(); });
}

template <class Broken>
std::string message_of() {
  Setting setting = two_threads();
  setting.exchanges = [] {
    Exchanges result;
    result.push_back(std::make_unique<Broken>(1000));
    return result;
  };
  return message(setting);
}

class Keeps final : public Delay {
 public:
  using Delay::Delay;
  void release(double, bool, std::vector<FormedWarp>&) override {}
};
class Doubles final : public Delay {
 public:
  using Delay::Delay;
  void release(double now, bool starved, std::vector<FormedWarp>& out) override {
    Delay::release(now, starved, out);
    if (!out.empty()) {
      out.push_back(out.back());
    }
  }
};
class Nags final : public Delay {
 public:
  using Delay::Delay;
  void release(double now, bool starved, std::vector<FormedWarp>& out) override {
    if (starved) {
      Delay::release(now, starved, out);
    }
  }
  [[nodiscard]] double deadline_cycles() const override {
    return 0;
  }
};
class Hollow final : public Delay {
 public:
  using Delay::Delay;
  void release(double, bool, std::vector<FormedWarp>& out) override {
    out.emplace_back().segment_at.fill(kNoSegment);
  }
};

TEST(RunTimed, BrokenExchangesAreInternalErrors) {
  EXPECT_NE(message_of<Keeps>().find("keeps threads for ever"), std::string::npos) << message_of<Keeps>();
  EXPECT_NE(message_of<Doubles>().find("does not wait"), std::string::npos) << message_of<Doubles>();
  EXPECT_NE(message_of<Nags>().find("has passed"), std::string::npos) << message_of<Nags>();
  EXPECT_NE(message_of<Hollow>().find("without threads"), std::string::npos) << message_of<Hollow>();
  Setting three = two_threads();
  three.machine.sms = 2;
  three.exchanges = [] {
    Exchanges result;
    for (int i = 0; i < 3; ++i) {
      result.push_back(std::make_unique<Delay>(1));
    }
    return result;
  };
  EXPECT_NE(message(three).find("3 exchanges"), std::string::npos) << message(three);
}

}  // namespace
}  // namespace rayreplay::test
