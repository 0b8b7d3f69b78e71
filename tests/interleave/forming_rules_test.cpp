// The closed loop where warps only compute: the worked example of docs/schedules.md, and the time model, which forms
// the same warps where both give all warps the same times.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/machine/job_maker.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/page_tables.hpp"
#include "tests/interleave/slow_forming.hpp"
#include "tests/interleave/slow_interleave.hpp"
#include "tests/machine/slow_run.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay::machine {
namespace {

using test::Lanes;
using test::StartedWarp;

/// Warps that compute for as long as their lanes say, and access nothing.
class ComputingSource final : public memory::WarpSource {
 public:
  using Cycles = std::function<std::uint32_t(const Lanes&)>;
  ComputingSource(const memory::ItemSegments& items, std::uint32_t warp_size, Cycles cycles)
      : items_(items), warp_size_(warp_size), cycles_(std::move(cycles)) {}
  [[nodiscard]] std::uint32_t items() const override {
    return items_.most_items();
  }
  [[nodiscard]] const memory::Allocations& allocations() const override {
    return allocations_;
  }
  [[nodiscard]] const memory::CoalesceOptions& coalescing() const override {
    return coalescing_;
  }
  void generate(std::span<const std::uint32_t> items, std::span<memory::WarpStream> out) override {
    for (std::size_t i = 0; i < items.size(); ++i) {
      Lanes lanes(warp_size_);
      (void)items_.segments_of(items[i], lanes);
      out[i] = {};
      out[i].work = {{.latency = cycles_(lanes)}};
    }
  }

 private:
  const memory::ItemSegments& items_;
  std::uint32_t warp_size_;
  Cycles cycles_;
  memory::Allocations allocations_;
  memory::CoalesceOptions coalescing_{};
};

constexpr const char* kLoopPage = RAYREPLAY_SOURCE_DIR "/docs/schedules.md";

/// Ten threads; the first six but one and the seventh have a second segment, of shader A or B.
struct LoopExample {
  test::FormingLaunch launch = test::forming_launch({2, 2, 2, 2, 2, 1, 2, 1, 1, 1}, 2);
  Machine machine = test::machine_of_examples();
  InterleaveOptions options{.resident_warps = 2, .work = true};
  std::vector<std::uint32_t> delays = {0, 0, 0, 0, 0, 3};
  std::vector<std::uint32_t> cycles;  ///< by segment

  LoopExample() {
    constexpr std::uint32_t kA = 10, kB = 20;
    const std::vector<std::uint32_t> first = {20, 20, 5, 5, 30, 30, 40, 40, 30, 30};
    const std::vector<std::uint32_t> second = {kA, kB, kB, kA, kA, 0, kB, 0, 0, 0};
    auto shader = std::make_shared<trace::Column<std::uint64_t>>();
    for (std::size_t thread = 0; thread < first.size(); ++thread) {
      cycles.push_back(first[thread]);
      shader->push_back(0);
      if (second[thread] > 0) {
        cycles.push_back(second[thread]);
        shader->push_back(second[thread]);
      }
    }
    launch.exchanges = [shader] {
      Exchanges result;
      for (int sm = 0; sm < 2; ++sm) {
        result.push_back(scheduler::make_queue_exchange(shader, 2, 0));
      }
      return result;
    };
    options.start_delay = delays;
  }
};

TEST(FormingRules, TheWorkedExample) {
  const LoopExample example;
  const auto dispatcher = dispatch_forming(example.launch.order, example.launch.segments, example.launch.exchanges(),
                                           example.machine, 2, 0);
  test::NotingDispatcher noting(*dispatcher, 2);
  ComputingSource source(*dispatcher, 2, [&](const Lanes& lanes) { return example.cycles[lanes.front()]; });
  test::KeepingSink sink;
  const InterleaveResult result = interleave(source, noting, example.machine, example.options, sink);
  std::vector<std::vector<std::string>> made(noting.started.size());
  for (std::size_t i = 0; i < noting.started.size(); ++i) {
    const StartedWarp& warp = noting.started[i];
    std::string threads;
    for (const std::uint32_t segment : warp.lanes) {
      if (segment != scheduler::kNoSegment) {
        const auto thread = std::ranges::upper_bound(example.launch.segments.first, segment) -
                            example.launch.segments.first.begin() - 1;
        threads += fmt::format("{}{}", threads.empty() ? "" : ", ", thread);
      }
    }
    const std::uint32_t item = noting.items_of[i];
    made.at(item) = {fmt::format("{}", item), fmt::format("{}", warp.sm), threads, fmt::format("{}", warp.cycle),
                     fmt::format("{}", noting.end_of.at(item))};
  }
  auto said = test::table_under(kLoopPage, "| warp | SM | threads | starts | ends | why |");
  for (auto& row : said) {
    row.pop_back();
  }
  EXPECT_EQ(said, made);
  EXPECT_EQ(result.cycles, 76U);
  EXPECT_EQ(result.items, 9U);
  EXPECT_EQ(result.time.sms[0].waits[static_cast<std::size_t>(WarpWait::Reorder)], 6U);
}

/// Threads of some rays whose hit shaders are drawn; calls take whole numbers of cycles.
struct Drawn {
  test::Setting setting;

  Drawn(std::uint64_t seed, bool single) {
    constexpr std::uint16_t kShaders = 5;
    test::Draws draw(seed);
    const std::uint32_t threads = 1 + draw.upto(60);
    std::vector<machine::HandCost> hand;
    for (std::uint16_t shader = 0; shader < kShaders; ++shader) {
      setting.trace.shaders.emplace_back().stage =
          shader == 0 ? trace::ShaderStage::RayGeneration : trace::ShaderStage::ClosestHit;
      hand.push_back({std::to_string(shader), 1, 20.0 + draw.upto(300)});
    }
    test::LaunchBuilder builder({threads, 1, 1});
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      builder.thread();
      for (std::uint32_t ray = 0; ray <= draw.upto(4); ++ray) {
        builder.begin(0).closest_hit(static_cast<std::uint16_t>(1 + draw.upto(kShaders - 2)));
      }
    }
    setting.trace.launches.push_back(builder.build());
    setting.segments = scheduler::cut_paths(setting.launch(), setting.cut);
    const trace::Events& events = setting.launch().data.events;
    auto keys = std::make_shared<trace::Column<std::uint64_t>>();
    for (std::size_t segment = 0; segment < setting.segments.size(); ++segment) {
      const std::uint64_t row = setting.segments.event_offset[segment];
      keys->push_back(events.shader[row]);
    }
    const std::uint32_t size = 1U << draw.upto(3);
    setting.order.warp_size = size;
    for (std::uint32_t thread = 0; thread < (threads + size - 1) / size * size; ++thread) {
      setting.order.thread_at.push_back(thread < threads ? thread : scheduler::kNoThread);
    }
    setting.order.start_rank.resize(setting.order.thread_at.size() / size);
    std::iota(setting.order.start_rank.begin(), setting.order.start_rank.end(), 0U);
    setting.order.tile.assign(setting.order.start_rank.size(), 0);
    setting.machine.sms = single ? 1 : 2 + draw.upto(3);
    setting.machine.issue_per_cycle = 1e9;
    setting.machine.l2_latency_cycles = single ? 1 + draw.upto(50) : 1;
    setting.resident = 500;  // nobody waits for a slot, or fluid and exact times of starts could differ
    setting.costs = make_costs(setting.trace, setting.launch(), {.hand = hand, .steps_per_ray = 0});
    if (single) {
      // The signal to the exchange: here before the start of the formed warp, there a part of its time.
      setting.charges.cycles_per_warp = setting.machine.l2_latency_cycles;
    }
    const std::uint32_t count = setting.machine.sms;
    const bool queues = draw.upto(1) == 0;
    const std::uint32_t pool = 1 + draw.upto(2);
    const double timeout = draw.upto(1) == 0 ? scheduler::kNever : 1 + draw.upto(400);
    setting.exchanges = [=] {
      Exchanges result;
      for (std::uint32_t i = 0; i < count; ++i) {
        result.push_back(queues ? scheduler::make_queue_exchange(keys, size, 0)
                                : scheduler::make_pool_exchange(keys, size, {}, pool, timeout));
      }
      return result;
    };
  }

  /// The latencies of the warp's calls, one after another, as the time model adds them up.
  [[nodiscard]] ComputingSource::Cycles cycles() const {
    simt::SegmentReplayOptions options;
    options.weights = job_weights(setting.costs);
    auto weigher = std::make_shared<simt::WarpWeigher>(setting.launch(), setting.trace.shaders, setting.segments,
                                                       setting.order.warp_size, options);
    return [weigher](const Lanes& lanes) {
      return static_cast<std::uint32_t>(static_cast<double>(weigher->weigh(lanes)[kLatencyWeight]) / kCostScale);
    };
  }
};

TEST(FormingRules, ForTheWarpsOfTheTimeModelWhereTimesAreEqual) {
  std::size_t formed = 0;
  for (const bool single : {false, true}) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      SCOPED_TRACE(testing::Message() << (single ? "single " : "each ") << seed);
      const Drawn drawn(seed, single);
      const test::Setting& setting = drawn.setting;
      const TimedRun fluid = setting.run();
      const std::uint32_t size = setting.order.warp_size;
      std::vector<StartedWarp> expected;
      for (std::size_t warp = 0; warp < fluid.schedule.warps(); ++warp) {
        const auto first = fluid.schedule.segment_at.begin() + static_cast<std::ptrdiff_t>(warp * size);
        const double start = fluid.timing.placement.start[warp];
        const std::uint32_t signal = single && start > 0 ? setting.machine.l2_latency_cycles : 0;
        expected.push_back({static_cast<std::uint64_t>(std::llround(start)) + signal, fluid.timing.placement.sm[warp],
                            Lanes(first, first + size), fluid.moved_lanes[warp]});
      }
      const auto dispatcher =
          dispatch_forming(setting.order, setting.segments, setting.exchanges(), setting.machine, setting.resident, 0);
      test::NotingDispatcher noting(*dispatcher, size);
      ComputingSource source(*dispatcher, size, drawn.cycles());
      test::KeepingSink sink;
      const InterleaveResult result =
          interleave(source, noting, setting.machine, {.resident_warps = setting.resident, .work = true}, sink);
      std::ranges::sort(expected);
      std::ranges::sort(noting.started);
      ASSERT_EQ(noting.started.size(), expected.size());
      ASSERT_TRUE(noting.started == expected);
      EXPECT_NEAR(static_cast<double>(result.cycles), fluid.timing.cycles, 1e-6 * fluid.timing.cycles);
      formed += expected.size() - setting.order.warps();
    }
  }
  EXPECT_GT(formed, 3000U);
}

TEST(FormingRules, DelaysAreThoseOfLaunchedWarpsAndOneOfFormedOnes) {
  LoopExample example;
  example.options.start_delay = std::span(example.delays).first(5);
  const auto dispatcher = dispatch_forming(example.launch.order, example.launch.segments, example.launch.exchanges(),
                                           example.machine, 2, 0);
  ComputingSource source(*dispatcher, 2, [](const Lanes& /*lanes*/) { return 5U; });
  test::KeepingSink sink;
  const ErrorInfo info = test::error_of(
      ErrorKind::Usage, [&] { return interleave(source, *dispatcher, example.machine, example.options, sink); });
  EXPECT_EQ(info.what, "the delays are those of another number of items");
  EXPECT_EQ(info.found, "5 delays");
  EXPECT_EQ(info.expected, "6");
}

/// Never lets a thread go.
class Keeps final : public scheduler::Exchange {
 public:
  void arrive(const scheduler::Arrival& /*arrival*/, double /*now*/) override {
    ++threads_;
  }
  void release(double /*now*/, bool /*starved*/, std::vector<scheduler::FormedWarp>& /*out*/) override {}
  [[nodiscard]] std::uint64_t waiting() const override {
    return threads_;
  }

 private:
  std::uint64_t threads_ = 0;
};

TEST(FormingRules, AnExchangeThatKeepsThreadsIsAnInternalError) {
  const test::FormingLaunch launch = test::forming_launch({2, 2}, 2);
  Exchanges exchanges;
  exchanges.push_back(std::make_unique<Keeps>());
  const Machine machine = test::machine_of_examples();
  const auto dispatcher = dispatch_forming(launch.order, launch.segments, std::move(exchanges), machine, 2, 0);
  ComputingSource source(*dispatcher, 2, [](const Lanes& /*lanes*/) { return 5U; });
  test::KeepingSink sink;
  const std::string message = test::message_of(ErrorKind::Internal, [&] {
    (void)interleave(source, *dispatcher, machine, {.resident_warps = 2, .work = true}, sink);
  });
  EXPECT_NE(message.find("keeps threads for ever"), std::string::npos) << message;
}

}  // namespace
}  // namespace rayreplay::machine
