// The answers above the tables, from tables whose answers are known.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/report/context/answers.hpp"
#include "app/report/models/verdict.hpp"

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Show;
using output::Table;

Table packings(const std::vector<std::pair<std::string, double>>& efficiencies) {
  Table table;
  table.columns = {{"packing", "packing"},
                   {"efficiency", "SIMT efficiency", Show::Percent},
                   {"change", "change", Show::Change},
                   {"warp_events", "warp events"}};
  for (const auto& [name, efficiency] : efficiencies) {
    table.rows.push_back({name, efficiency, efficiency / efficiencies.front().second - 1, std::uint64_t{10}});
  }
  return table;
}

TEST(Answers, NameTheBestPackingAndTheBound) {
  EXPECT_EQ(packing_answer(packings({{"identity", 0.5}, {"worse", 0.25}, {"best", 0.75}, {"bound", 1}})),
            "answer   best packs best: SIMT efficiency 75.00 % instead of 50.00 % (+50.00 %); no packing can exceed "
            "100.00 %\n");
}

TEST(Answers, SayThatNoPackingHelps) {
  EXPECT_EQ(packing_answer(packings({{"identity", 0.5}, {"worse", 0.25}, {"same", 0.5}, {"bound", 0.5}})),
            "answer   no packing of these improves the SIMT efficiency, 50.00 %; no packing can exceed 50.00 %\n");
}

TEST(Answers, AreMissingWithoutEvents) {
  Table none = packings({{"identity", 1}, {"bound", 1}});
  for (auto& row : none.rows) {
    row.back() = std::uint64_t{0};
  }
  EXPECT_EQ(packing_answer(none), "");
  Table kinds;
  kinds.columns = {{"kind", "kind"}, {"tests", "tests"}, {"share", "share", Show::Percent}};
  for (const char* name : {"necessary", "box miss", "all"}) {
    kinds.rows.push_back({std::string(name), std::uint64_t{0}, 0.0});
  }
  EXPECT_EQ(test_answer(kinds), "");
  EXPECT_EQ(cache_answer(Table{{{"level", ""}, {"kind", ""}, {"accesses", ""}}, {}}), "");
}

/// Where one number decides, the sentence still says how far all uncertain numbers lead together.
TEST(Answers, SayTheJointRangeBesideTheNumberThatDecides) {
  experiment::Verdict verdict;
  verdict.kind = experiment::VerdictKind::CannotTell;
  verdict.speed_up = 0.5;
  verdict.quantities = {
      {.key = "shader_costs.miss", .name = "a miss call", .unit = "instructions", .value = 20, .low = 2, .high = 200}};
  verdict.effects = {{.quantity = 0, .points = {{2, 0.4}, {20, 0.5}, {200, 1.5}}}};
  verdict.effects.front().from = 2;
  verdict.effects.front().to = 90;
  verdict.effects.front().changes_above = true;
  verdict.decisive = 0;
  verdict.samples = {{{2}, 0.25}, {{200}, 2}};
  verdict.least = 0.25;
  verdict.most = 2;
  const VerdictSubject subject{.who = "ser", .baseline = "plain", .machine = "mine"};
  const std::string start =
      "ser: cannot tell on mine. At the present values it takes 2.000 times as long as plain; it pays when a miss call "
      "(assumed 20 instructions) costs more than 90; ";
  verdict.points = 36;
  EXPECT_EQ(
      verdict_sentence(verdict, subject),
      start + "at the 36 points tried within the ranges of the uncertain numbers it is 0.250 to 2.000 times as fast");
}

TEST(Answers, EqualTimesAreNoLoss) {
  experiment::Verdict verdict;
  verdict.kind = experiment::VerdictKind::ChangesNothing;
  VerdictSubject subject{.who = "ser", .baseline = "plain", .machine = "mine"};
  EXPECT_EQ(verdict_sentence(verdict, subject), "ser: changes nothing on mine. It takes as long as plain");
  verdict.samples = {{{2}, 1}, {{200}, 1}};
  verdict.points = 36;
  verdict.noisy = true;  // equal times do not scatter
  subject.partly = true;
  EXPECT_EQ(verdict_sentence(verdict, subject),
            "ser: changes nothing, over the numbers varied, on mine. It takes as long as plain, also at the 36 points "
            "tried within the ranges of the uncertain numbers varied");
  EXPECT_EQ(verdict_json(verdict).at("answer"), "changes-nothing");
  EXPECT_EQ(verdict_json(verdict).at("sign"), "same");
  verdict.kind = experiment::VerdictKind::DoesNotPay;
  verdict.noisy = subject.partly = false;
  verdict.least = 0.8;
  EXPECT_EQ(verdict_sentence(verdict, subject),
            "ser: does not pay on mine. It takes as long as plain, 1.000 to 1.250 times as long at the 36 points tried "
            "within the ranges of the uncertain numbers");
  EXPECT_EQ(verdict_json(verdict).at("sign"), "same");
}

TEST(Answers, SplitTheMissesOfEachLevel) {
  Table levels;
  levels.columns = {{"level", ""},    {"kind", ""},     {"accesses", ""},    {"hit_rate", ""},
                    {"misses", ""},   {"cold", ""},     {"stored_only", ""}, {"new_sectors", ""},
                    {"capacity", ""}, {"conflict", ""}, {"beyond", ""}};
  const std::uint64_t accesses = 1000, misses = 200;
  levels.rows = {
      {std::string("L1"), std::string("node"), accesses, 0.9, misses / 2, 10.0, 0.0, 0.0, 80.0, 10.0, 4.0},
      {std::string("L1"), std::string("all"), accesses, 0.8, misses, 20.0, 18.0, 12.0, 144.0, 6.0, 6.0},
      {std::string("L1"), std::string("all"), accesses, 0.8, misses, 0.0, 0.0, 0.0, 100.0, 100.0, 99.0},
      {std::string("L2"), std::string("all"), misses, 0.5, misses / 2, Cell(), Cell(), Cell(), Cell(), Cell(), Cell()}};
  EXPECT_EQ(
      cache_answer(levels),
      "answer   L1: 80.0 % of the accesses hit; of the misses 72.0 % are capacity (a larger cache helps), 10.0 % first "
      "accesses (only fewer or more compact data help), 9.0 % stored only (a cache that keeps what is stored helps), "
      "6.0 % new sectors (larger sectors or prefetching help), 3.0 % conflict (more ways do not help: the cache hits "
      "as often as a fully associative LRU one)\n"
      "answer   L1: 80.0 % of the accesses hit; of the misses 50.0 % are capacity (a larger cache helps), 50.0 % "
      "conflict (more ways help)\n"
      "answer   L2: 50.0 % of the accesses hit\n");
}

TEST(Answers, NameTheMostFrequentCauseOfTests) {
  Table kinds;
  kinds.columns = {{"kind", "kind"}, {"tests", "tests"}, {"share", "share", Show::Percent}};
  const auto add = [&kinds](const char* name, std::uint64_t tests) {
    kinds.rows.push_back({std::string(name), tests, static_cast<double>(tests) / 2000});
  };
  add("necessary", 500);
  add("box miss", 400);
  add("R3 order", 1100);
  add("all", 2000);
  EXPECT_EQ(test_answer(kinds),
            "answer   25.0 % of 2,000 intersection tests were necessary; the most frequent cause of the others: R3 "
            "order, 55.0 % "
            "of all\n");
}

}  // namespace
}  // namespace rayreplay::report
