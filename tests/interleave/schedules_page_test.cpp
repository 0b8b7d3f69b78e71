// The worked example of docs/schedules.md: is its table what the interleaving, and its slow twin, really do?
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/interleave/page_tables.hpp"
#include "tests/interleave/slow_interleave.hpp"

namespace rayreplay::machine {
namespace {

using test::hand_made;
using test::load;
using test::store;
using test::table_under;

constexpr const char* kPage = RAYREPLAY_SOURCE_DIR "/docs/schedules.md";

test::KeptSource example_items() {
  return hand_made({{load({0, 1}), load({0})},
                    {load({0}), store({4}), load({4})},
                    {load({2}), load({1})},
                    {load({0})},
                    {load({4})}});
}

TEST(SchedulesPage, TheWorkedExample) {
  test::KeptSource source = example_items();
  const WorkPlan plan = test::plan_of(source.items());
  const Machine machine = test::machine_of_examples();
  InterleaveOptions options{.resident_warps = 2, .cycles = true};
  test::SlowQueues queues(plan);
  test::SlowInterleave slow(source.streams, source.options, queues, machine, options);
  slow.run();
  const test::Played played = test::play(source, plan, machine, options);
  ASSERT_EQ(played.issued.size(), slow.completions.size());
  std::vector<std::vector<std::string>> made;
  std::string text;
  for (std::size_t i = 0; i < played.issued.size(); ++i) {
    const test::Issued& row = played.issued[i];
    made.push_back({fmt::format("{}", row.cycle), fmt::format("{}", row.sm), fmt::format("{}", row.item),
                    fmt::format("{}", row.instruction), fmt::format("{}", row.line), test::name_of(row.outcome),
                    fmt::format("{}", slow.completions[i])});
    text += fmt::format("| {} |\n", fmt::join(made.back(), " | "));
  }
  std::vector<std::vector<std::string>> said =
      table_under(kPage, "| cycle | SM | item | instruction | line | served by | completes | |");
  for (std::vector<std::string>& row : said) {
    row.resize(7);  // without the remark
  }
  EXPECT_EQ(said, made) << "the interleaving does this:\n" << text;
  const std::vector<std::vector<std::string>> sums = table_under(kPage, "| sum | value |");
  const std::vector<std::vector<std::string>> expected = {
      {"cycles", fmt::format("{}", played.result.cycles)},
      {"instructions", fmt::format("{}", played.result.instructions)},
      {"transactions", fmt::format("{}", played.result.transactions)},
      {"L1 hits", fmt::format("{}", played.result.l1_hits)},
      {"merged", fmt::format("{}", played.result.merged)},
      {"L2 hits", fmt::format("{}", played.result.l2_hits)},
      {"from DRAM", fmt::format("{}", played.result.dram)},
      {"SM-cycles of MSHR stalls", fmt::format("{}", played.result.mshr_stall_cycles)}};
  EXPECT_EQ(sums, expected);
}

}  // namespace
}  // namespace rayreplay::machine
