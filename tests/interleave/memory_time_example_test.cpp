// The worked example of docs/memory-time-example.md: are its tables what memory time, and its slow twin, really do?
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler-models/regrouping/segment_schedule.hpp"
#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/page_tables.hpp"
#include "tests/interleave/slow_interleave.hpp"

namespace rayreplay::machine {
namespace {

using memory::kIssueScale;
using test::load;
using test::store;
using test::table_under;
using Rows = std::vector<std::vector<std::string>>;

constexpr const char* kTimePage = RAYREPLAY_SOURCE_DIR "/docs/memory-time-example.md";
constexpr std::array<const char*, kWarpWaits> kStateNames = {"reorder", "issue",  "traversal", "load unit",
                                                             "l1",      "merged", "l2",        "dram"};

/// Two SMs of two slots.
Machine two_sms() {
  Machine machine = test::machine_of_examples();
  machine.warp_size = 2;
  machine.clock_mhz = 1;  // bytes a second are bytes a cycle, times a million
  machine.issue_per_cycle = 2;
  machine.issue_partitions = 2;
  machine.rt_boxes_per_cycle = 1;
  machine.rt_triangles_per_cycle = 0.5;
  machine.rt_test_latency_cycles = 2;
  machine.rt_rays = 2;
  machine.l2_bytes_per_second = 16e6;
  machine.dram_bytes_per_second = 8e6;
  return machine;
}

/// Warps 0 and 1 trace and leave their state; warps 2 (hits) and 3 (misses) of the same threads shade.
test::KeptSource four_warps() {
  test::KeptSource source = test::hand_made({{load({0}), load({0}), load({1}), load({1}), store({2})},
                                             {load({0}), load({{1, 0b0100}, 6}), load({7}), store({{2, 0b0010}})},
                                             {load({{2, 0b0011}}), load({3}), store({5})},
                                             {load({{2, 0b0011}}), load({4}), store({{5, 0b0100}})}});
  const auto shader = [](std::uint32_t instructions, std::uint32_t latency) {
    return memory::WarpWork{.issue = instructions * kIssueScale, .latency = latency};
  };
  memory::WarpWork begin = shader(6, 8);
  begin.rays_begin = 2;
  memory::WarpWork end = shader(2, 3);
  end.visits = end.triangles = 1;
  end.rays_end = 2;
  memory::WarpWork longer_end = end;
  longer_end.visits = longer_end.triangles = 3;
  source.streams[0].work = {begin, {.visits = 2, .boxes = 2}, {.visits = 1, .boxes = 1}, {.follows = true}, end, {}};
  source.streams[1].work = {begin, {.visits = 2, .boxes = 2}, {.follows = true}, longer_end, {}};
  source.streams[2].work = {{}, {.follows = true}, shader(20, 24), shader(4, 4)};
  source.streams[3].work = {{}, {.follows = true}, shader(8, 9), shader(4, 4)};
  return source;
}

/// One exchange between two rounds of two warps; all SMs share them.
scheduler::SegmentSchedule two_rounds() {
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = 2;
  schedule.moved.resize(4);
  schedule.spread = true;
  schedule.round_begin = {0, 2, 4};
  schedule.unit_begin = {0, 2};
  schedule.unit_sm = {scheduler::kAnySm};
  return schedule;
}

std::string rows_text(const Rows& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    text += fmt::format("| {} |\n", fmt::join(row, " | "));
  }
  return text;
}

/// The page's table without its last column, the reasons.
Rows said(const std::string& header) {
  Rows rows = table_under(kTimePage, header);
  for (std::vector<std::string>& row : rows) {
    row.pop_back();
  }
  return rows;
}

std::string text_of(std::uint64_t number) {
  return fmt::format("{}", number);
}

class MemoryTimeExample : public testing::Test {
 protected:
  MemoryTimeExample() {
    options_.start_delay = delays_;
    test::SlowUnits units(schedule_, machine_.sms, 0, machine_.l2_latency_cycles);
    test::SlowInterleave slow(source_.streams, source_.options, units, machine_, options_);
    slow.run();
    completions_ = slow.completions;
    spans_ = slow.spans;
    twin_ = slow.result;
    played_ = test::play(source_, *dispatch_schedule(schedule_, machine_, 0), machine_, options_);
  }

  Machine machine_ = two_sms();
  test::KeptSource source_ = four_warps();
  scheduler::SegmentSchedule schedule_ = two_rounds();
  std::vector<std::uint32_t> delays_ = {0, 0, 12, 12};
  InterleaveOptions options_{.resident_warps = 2, .work = true, .cycles = true};
  test::Played played_;
  InterleaveResult twin_;
  std::vector<std::uint64_t> completions_;
  std::vector<test::SlowInterleave::Span> spans_;
};

TEST_F(MemoryTimeExample, EveryAccess) {
  ASSERT_EQ(played_.issued.size(), completions_.size());
  Rows made;
  for (std::size_t i = 0; i < played_.issued.size(); ++i) {
    const test::Issued& row = played_.issued[i];
    made.push_back({text_of(row.cycle), text_of(row.sm), text_of(row.item), text_of(row.instruction), text_of(row.line),
                    test::name_of(row.outcome), text_of(completions_[i])});
  }
  EXPECT_EQ(said("| cycle | SM | warp | instruction | line | served by | completes | why |"), made) << "it does this:\n"
                                                                                                    << rows_text(made);
}

/// Windows of one cycle each: the launch is short.
TEST_F(MemoryTimeExample, EveryMissOverTime) {
  TimeHistory history(machine_.sms);
  options_.history = &history;
  const test::Played told = test::play(source_, *dispatch_schedule(schedule_, machine_, 0), machine_, options_);
  ASSERT_EQ(history.window_cycles(), 1U);
  ASSERT_EQ(history.windows().size(), told.result.cycles);
  std::vector<std::vector<HistoryWindow>> expected(machine_.sms, std::vector<HistoryWindow>(told.result.cycles));
  std::uint64_t misses = 0;
  for (const auto& row : said("| cycle | SM | warp | instruction | line | served by | completes | why |")) {
    std::vector<HistoryWindow>& sm = expected[std::stoul(row[1])];
    const std::size_t cycle = std::stoul(row[0]);
    const bool dram = row[5] == "DRAM";
    sm[cycle].accesses += row[5] == "store" ? 0U : 1U;
    if (dram || row[5] == "L2") {
      ++misses;
      ++sm[cycle].l1_misses;
      sm[cycle].l2_misses += dram ? 1U : 0U;
      for (std::size_t held = cycle; held < std::stoul(row[6]); ++held) {
        ++sm[held].miss_cycles;
      }
    }
  }
  EXPECT_EQ(misses, 10U);
  for (const auto& span : spans_) {
    for (std::uint64_t cycle = span.from; cycle < span.to; ++cycle) {
      ++expected[span.sm][cycle].warp_cycles;
    }
  }
  for (std::size_t sm = 0; sm < expected.size(); ++sm) {
    for (std::size_t cycle = 0; cycle < expected[sm].size(); ++cycle) {
      EXPECT_TRUE(history.of_sms()[sm][cycle] == expected[sm][cycle]) << "SM " << sm << ", cycle " << cycle;
    }
  }
  // The second miss of cycle 8 waits for the L2 until 10, and finds the sector on its way from memory.
  EXPECT_EQ(history.windows()[8].l2_bytes, 32U);
  EXPECT_EQ(history.windows()[10].l2_bytes, 32U);
  EXPECT_EQ(history.windows()[8].dram_bytes, 32U);
}

TEST_F(MemoryTimeExample, EveryWait) {
  std::stable_sort(spans_.begin(), spans_.end(), [](const auto& a, const auto& b) { return a.item < b.item; });
  Rows made;
  for (const auto& span : spans_) {
    made.push_back({text_of(span.item), text_of(span.sm), text_of(span.from), text_of(span.to),
                    kStateNames[static_cast<std::size_t>(span.state)]});
  }
  EXPECT_EQ(said("| warp | SM | from | to | state | why |"), made) << "it does this:\n" << rows_text(made);
}

TEST_F(MemoryTimeExample, EveryCycle) {
  EXPECT_EQ(played_.result.cycles, twin_.cycles);
  EXPECT_EQ(played_.result.time.sms, twin_.time.sms);
  const MemoryTime& time = played_.result.time;
  ASSERT_EQ(time.sms.size(), 2U);
  Rows made;
  for (std::size_t state = 0; state < kWarpWaits; ++state) {
    made.push_back({kStateNames[state], text_of(time.sms[0].waits[state]), text_of(time.sms[1].waits[state])});
  }
  made.push_back({"busy", text_of(time.sms[0].busy), text_of(time.sms[1].busy)});
  made.push_back({"barrier", text_of(time.sms[0].barrier), text_of(time.sms[1].barrier)});
  made.push_back({"idle", text_of(time.sms[0].idle), text_of(time.sms[1].idle)});
  EXPECT_EQ(table_under(kTimePage, "| cycles | SM 0 | SM 1 |"), made) << "it does this:\n" << rows_text(made);
  const Rows sums = {{"cycles", text_of(played_.result.cycles)},
                     {"SM-cycles of MSHR stalls", text_of(played_.result.mshr_stall_cycles)},
                     {"bytes of the L2", text_of(time.l2_bytes)},
                     {"bytes of DRAM", text_of(time.dram_bytes)},
                     {"busy: issue slots", fmt::format("{}", time.issue_cycles)},
                     {"busy: ray-tracing units", fmt::format("{}", time.ray_unit_cycles)},
                     {"busy: L2", fmt::format("{}", time.l2_cycles)},
                     {"busy: DRAM", fmt::format("{}", time.dram_cycles)}};
  EXPECT_EQ(table_under(kTimePage, "| sum | value |"), sums) << "it does this:\n" << rows_text(sums);
}

}  // namespace
}  // namespace rayreplay::machine
