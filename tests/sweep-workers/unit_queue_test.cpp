#include "sim/sweep/workers/unit_queue.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace rayreplay::sweep {
namespace {

std::vector<Unit> units_of(const std::vector<std::pair<std::size_t, std::uint64_t>>& sizes_and_affinities) {
  std::vector<Unit> units;
  std::uint64_t run = 0;
  for (const auto& [size, affinity] : sizes_and_affinities) {
    Unit unit;
    unit.affinity = affinity;
    for (std::size_t i = 0; i < size; ++i) {
      unit.runs.push_back(run++);
    }
    units.push_back(unit);
  }
  return units;
}

std::vector<std::uint64_t> runs_of(const Selection& selection) {
  std::vector<std::uint64_t> runs;
  for (const Task& task : selection.tasks) {
    runs.insert(runs.end(), task.runs.begin(), task.runs.end());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

TEST(SelectUnits, LeavesOutWhatIsFinishedAndUnitsThatAre) {
  const auto units = units_of({{2, 0}, {2, 0}, {3, 1}});
  const Selection selection = select_units(units, {true, true, false, true, false, false, true}, {});
  EXPECT_EQ(selection.total, 7U);
  EXPECT_EQ(selection.finished, 4U);
  EXPECT_EQ(runs_of(selection), (std::vector<std::uint64_t>{2, 4, 5}));
  ASSERT_EQ(selection.tasks.size(), 2U);
  EXPECT_EQ(selection.tasks[0].id, 1U);
}

TEST(SelectUnits, StopsByCount) {
  const auto units = units_of({{3, 0}, {3, 0}});
  EXPECT_EQ(runs_of(select_units(units, {}, {0, 1, 4, 0})), (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(runs_of(select_units(units, {true}, {0, 1, 0, 3})), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(select_units(units, {true}, {0, 1, 0, 3}).total, 6U);
}

TEST(SelectUnits, ShardsPartitionTheRunsEvenly) {
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;
  for (std::uint64_t i = 0; i < 400; ++i) {
    sizes.emplace_back(1 + i % 3, i / 37);
  }
  const auto units = units_of(sizes);
  for (const std::uint32_t shards : {1U, 2U, 3U, 7U}) {
    std::set<std::uint64_t> seen;
    std::uint64_t total = 0;
    std::uint64_t least = 1000;
    std::uint64_t most = 0;
    for (std::uint32_t shard = 0; shard < shards; ++shard) {
      const Selection selection = select_units(units, {}, {shard, shards, 0, 0});
      const auto runs = runs_of(selection);
      seen.insert(runs.begin(), runs.end());
      total += runs.size();
      least = std::min<std::uint64_t>(least, runs.size());
      most = std::max<std::uint64_t>(most, runs.size());
    }
    EXPECT_EQ(seen.size(), 799U);
    EXPECT_EQ(total, 799U) << "no run in two shards";
    EXPECT_LE(most - least, 2 * 799 / (4 * shards) + 3) << shards;
  }
}

TEST(SelectUnits, AShardIsTheSameWhateverIsFinished) {
  const auto units = units_of({{2, 0}, {2, 0}, {2, 1}, {2, 1}, {2, 2}});
  std::vector<bool> some(10, false);
  some[0] = some[5] = some[9] = true;
  for (std::uint32_t shard = 0; shard < 2; ++shard) {
    const Selection fresh = select_units(units, {}, {shard, 2, 0, 0});
    const Selection resumed = select_units(units, some, {shard, 2, 0, 0});
    EXPECT_EQ(fresh.total, resumed.total);
    std::vector<std::uint64_t> left = runs_of(fresh);
    std::erase_if(left, [&](std::uint64_t run) { return some[run]; });
    EXPECT_EQ(runs_of(resumed), left);
  }
}

TEST(SelectUnits, UnitsOfOneAffinityStayTogether) {
  std::vector<std::pair<std::size_t, std::uint64_t>> sizes;
  for (std::uint64_t i = 0; i < 64; ++i) {
    sizes.emplace_back(1, i / 2);
  }
  const auto units = units_of(sizes);
  for (std::uint32_t shard = 0; shard < 4; ++shard) {
    const auto runs = runs_of(select_units(units, {}, {shard, 4, 0, 0}));
    for (const std::uint64_t run : runs) {
      EXPECT_TRUE(std::binary_search(runs.begin(), runs.end(), run ^ 1U)) << "runs 2k and 2k + 1 share an affinity";
    }
  }
}

std::vector<Task> tasks_of(const std::vector<std::uint64_t>& affinities) {
  std::vector<Task> tasks;
  for (std::uint64_t i = 0; i < affinities.size(); ++i) {
    tasks.push_back({i, affinities[i], {i}});
  }
  return tasks;
}

TEST(UnitQueue, GivesTheFirstToOneMachine) {
  UnitQueue queue(tasks_of({5, 5, 6}));
  EXPECT_EQ(queue.first()->id, 0U);
  EXPECT_EQ(queue.first()->id, 1U);
  EXPECT_EQ(queue.first()->id, 2U);
  EXPECT_FALSE(queue.first());
}

TEST(UnitQueue, KeepsAMachineWithWhatItKnows) {
  UnitQueue queue(tasks_of({5, 5, 6, 6, 5}));
  EXPECT_EQ(queue.next(std::nullopt)->id, 0U);
  EXPECT_EQ(queue.next(std::nullopt)->id, 2U) << "nobody has had 6";
  EXPECT_EQ(queue.next(5)->id, 1U);
  EXPECT_EQ(queue.next(6)->id, 3U);
  EXPECT_EQ(queue.next(6)->id, 4U) << "nothing left of 6";
  EXPECT_TRUE(queue.empty());
}

TEST(UnitQueue, NobodyHoardsTowardsTheEnd) {
  EXPECT_EQ(units_in_hand(6, 1000, 4), 6U) << "plenty: all it has room for";
  EXPECT_EQ(units_in_hand(6, 8, 4), 3U) << "two workers, and its part of half of what is left";
  EXPECT_EQ(units_in_hand(6, 7, 4), 2U);
  EXPECT_EQ(units_in_hand(6, 0, 4), 2U);
  EXPECT_EQ(units_in_hand(1, 0, 1), 1U) << "never nothing";
}

TEST(UnitQueue, WhatALostWorkerHadComesFirst) {
  UnitQueue queue(tasks_of({1, 1, 1}));
  Task task = *queue.next(1);
  queue.give_back(std::move(task));
  EXPECT_EQ(queue.next(1)->id, 0U);
}

}  // namespace
}  // namespace rayreplay::sweep
