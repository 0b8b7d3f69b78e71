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
#include "tests/machine/slow_job.hpp"
#include "tests/machine/slow_machine.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using machine::Job;
using machine::Machine;
using machine::TimedRun;
using scheduler::Exchange;
using scheduler::FormedWarp;
using scheduler::kNoSegment;

using Exchanges = std::vector<std::unique_ptr<Exchange>>;

class TestModel final : public scheduler::SchedulerModel {
 public:
  TestModel(scheduler::Cut cut, std::function<Exchanges()> make) : cut_(cut), make_(std::move(make)) {}
  [[nodiscard]] scheduler::Cut cut() const override {
    return cut_;
  }
  [[nodiscard]] scheduler::Grouping grouping() const override {
    return scheduler::Grouping::Timed;
  }
  [[nodiscard]] scheduler::Charges charges(const scheduler::MachineFacts&) const override {
    return {};
  }
  [[nodiscard]] Exchanges exchanges(const scheduler::PlanContext&) const override {
    return make_();
  }

 private:
  scheduler::Cut cut_;
  std::function<Exchanges()> make_;
};

/// Everything that a run needs.
struct Setting {
  trace::Trace trace;
  scheduler::WarpAssignment order;
  scheduler::Cut cut{.at = scheduler::CutAt::PendingCall};
  scheduler::Segments segments;
  scheduler::HintSources hints;
  Machine machine;
  std::uint32_t resident = 2;
  machine::Costs costs;
  scheduler::Charges charges;
  machine::Extra extra;
  std::function<Exchanges()> exchanges;

  [[nodiscard]] const trace::Launch& launch() const {
    return trace.launches.at(0);
  }
  [[nodiscard]] std::uint32_t shading() const {
    return machine.sms - charges.withheld_sms;
  }
  [[nodiscard]] TimedRun run() const {
    const TestModel model(cut, exchanges);
    const scheduler::PlanContext context{trace, launch(), order, segments, machine::facts(machine, resident), hints};
    return run_timed(context, model, machine, resident, costs, simt::Policy::StageMajority, charges, extra,
                     {.placement = true});
  }
};

/// The rules of timing.hpp, by searching.
class SlowRun {
 public:
  explicit SlowRun(const Setting& setting)
      : setting_(setting),
        size_(setting.order.warp_size),
        sms_(setting.machine, setting.resident, setting.charges),
        exchanges_(setting.exchanges()),
        ready_(exchanges_.size()) {
    for (std::uint32_t rank = 0; rank < setting.order.warps(); ++rank) {
      std::vector<std::uint32_t> lanes(size_, kNoSegment);
      for (std::uint32_t warp = 0; warp < setting.order.warps(); ++warp) {
        for (std::uint32_t lane = 0; setting.order.start_rank[warp] == rank && lane < size_; ++lane) {
          const std::uint32_t thread = setting.order.thread_at[warp * size_ + lane];
          if (thread != scheduler::kNoThread && setting.segments.first[thread] < setting.segments.first[thread + 1]) {
            lanes[lane] = setting.segments.first[thread];
          }
        }
      }
      if (lanes != std::vector<std::uint32_t>(size_, kNoSegment)) {
        launch_.push_back(lanes);
      }
    }
  }

  TimedRun run() {
    settle();
    for (;;) {
      double next = sms_.next_end();
      for (const auto& exchange : exchanges_) {
        next = exchange->waiting() > 0 ? std::min(next, exchange->deadline_cycles()) : next;
      }
      if (next == scheduler::kNever) {
        break;
      }
      const bool ends = sms_.next_end() <= next;
      std::vector<SlowJob> ended = sms_.advance(std::max(next, sms_.now));
      EXPECT_TRUE(!ended.empty() || !ends);
      std::stable_sort(ended.begin(), ended.end(), [](const SlowJob& a, const SlowJob& b) {
        return a.sm != b.sm ? a.sm < b.sm : a.number < b.number;
      });
      std::vector<bool> asked(exchanges_.size(), false);
      for (const SlowJob& job : ended) {
        asked[of(job.sm)] = true;
        placed_.end[job.number] = sms_.now;
        for (std::uint32_t lane = 0; lane < size_; ++lane) {
          const std::uint32_t segment = warps_[job.number][lane];
          if (segment != kNoSegment && goes_on(segment)) {
            exchanges_[of(job.sm)]->arrive({segment + 1, job.number, static_cast<std::uint8_t>(lane)}, sms_.now);
          }
        }
      }
      for (std::size_t e = 0; e < exchanges_.size(); ++e) {
        if (asked[e] || (exchanges_[e]->waiting() > 0 && exchanges_[e]->deadline_cycles() <= sms_.now)) {
          release(e, false);
        }
      }
      settle();
    }
    sms_.finish(setting_.machine, setting_.charges);
    TimedRun result;
    for (const auto& lanes : warps_) {
      result.schedule.segment_at.insert(result.schedule.segment_at.end(), lanes.begin(), lanes.end());
    }
    result.schedule.moved.assign(moved_.begin(), moved_.end());
    result.timing = sms_.timing;
    result.timing.placement = placed_;
    return result;
  }
  [[nodiscard]] bool ambiguous() const {
    return sms_.ambiguous;
  }

 private:
  [[nodiscard]] std::size_t of(std::uint32_t sm) const {
    return exchanges_.size() == 1 ? 0 : sm;
  }
  [[nodiscard]] bool goes_on(std::uint32_t segment) const {
    const auto& first = setting_.segments.first;
    return std::find(first.begin(), first.end(), segment + 1) == first.end();
  }
  void release(std::size_t e, bool starved) {
    std::vector<FormedWarp> out;
    exchanges_[e]->release(sms_.now, starved, out);
    ready_[e].insert(ready_[e].end(), out.begin(), out.end());
  }
  [[nodiscard]] std::size_t running(std::size_t e) const {
    return static_cast<std::size_t>(
        std::count_if(sms_.running.begin(), sms_.running.end(), [&](const SlowJob& job) { return of(job.sm) == e; }));
  }
  [[nodiscard]] bool admits(std::size_t e) const {
    const std::size_t slots = setting_.resident * (exchanges_.size() == 1 ? sms_.shading() : 1);
    return running(e) + ready_[e].size() + (exchanges_[e]->waiting() + size_ - 1) / size_ + 1 <= slots;
  }
  void start(std::uint32_t sm, const std::vector<std::uint32_t>& lanes, std::uint32_t moved, bool formed) {
    std::uint32_t hits = 0;
    const Job alone = slow_job(setting_.launch(), setting_.trace.shaders, setting_.segments, setting_.machine,
                               setting_.costs, lanes, hits);
    const auto threads = static_cast<std::uint32_t>(size_ - std::count(lanes.begin(), lanes.end(), kNoSegment));
    const Job job =
        slow_charge(alone, hits, threads, moved, formed, true, setting_.charges, setting_.extra, sms_.bandwidth());
    sms_.timing.traffic_bytes += job.bytes;
    placed_.slot.push_back(sms_.start(sm, static_cast<std::uint32_t>(warps_.size()), job));
    placed_.sm.push_back(sm + setting_.charges.withheld_sms);
    placed_.start.push_back(sms_.now);
    placed_.end.push_back(sms_.now);
    warps_.push_back(lanes);
    moved_.push_back(moved);
  }
  void fill() {
    for (std::size_t e = 0; e < exchanges_.size(); ++e) {
      while (!ready_[e].empty()) {
        const std::uint32_t sm = exchanges_.size() == 1 ? sms_.emptiest() : static_cast<std::uint32_t>(e);
        if (sm == sms_.shading() || !sms_.has_room(sm)) {
          break;
        }
        const FormedWarp warp = ready_[e].front();
        ready_[e].pop_front();
        start(sm, {warp.segment_at.begin(), warp.segment_at.begin() + size_}, warp.moved, true);
      }
    }
    while (!launch_.empty()) {
      std::uint32_t best = sms_.shading();
      for (std::uint32_t sm = 0; sm < sms_.shading(); ++sm) {
        if (sms_.has_room(sm) && admits(of(sm)) && (best == sms_.shading() || sms_.jobs_on(sm) < sms_.jobs_on(best))) {
          best = sm;
        }
      }
      if (best == sms_.shading()) {
        return;
      }
      const auto lanes = launch_.front();
      launch_.pop_front();
      start(best, lanes, 0, false);
    }
  }
  [[nodiscard]] bool starved(std::size_t e) const {
    if (exchanges_[e]->waiting() == 0 || !ready_[e].empty() || (!launch_.empty() && running(e) > 0)) {
      return false;
    }
    for (const SlowJob& job : sms_.running) {
      for (const std::uint32_t segment : warps_[job.number]) {
        if (of(job.sm) == e && segment != kNoSegment && goes_on(segment)) {
          return false;
        }
      }
    }
    return true;
  }
  void settle() {
    for (bool fed = true; fed;) {
      fill();
      fed = false;
      for (std::size_t e = 0; e < exchanges_.size(); ++e) {
        if (starved(e)) {
          release(e, true);
          fed = true;
        }
      }
    }
  }

  const Setting& setting_;
  std::uint32_t size_;
  SlowSms sms_;
  Exchanges exchanges_;
  std::vector<std::deque<FormedWarp>> ready_;
  std::deque<std::vector<std::uint32_t>> launch_;
  std::vector<std::vector<std::uint32_t>> warps_;
  std::vector<std::uint32_t> moved_;
  machine::Placement placed_;
};

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
  setting.machine.rt_step_latency_cycles = 1 + fraction(random);
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
  try {
    (void)setting.run();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    return error.what();
  }
  return "no error";
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
