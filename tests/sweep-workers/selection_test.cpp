#include "sim/sweep/workers/selection.hpp"

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

TEST(Pieces, AreOfOneAffinityAndBecomeSmall) {
  std::vector<std::uint64_t> affinities(100, 5);
  affinities.resize(130, 6);
  const std::vector<Task> tasks = tasks_of(affinities);
  const std::vector<std::size_t> ends = piece_ends(tasks, 4);
  ASSERT_FALSE(ends.empty());
  EXPECT_EQ(ends.back(), tasks.size());
  std::size_t first = 0;
  for (const std::size_t end : ends) {
    ASSERT_GT(end, first);
    EXPECT_EQ(tasks[first].affinity, tasks[end - 1].affinity);
    EXPECT_LE(end - first, std::max<std::size_t>(1, (tasks.size() - first) / 8)) << "half of an equal part of the rest";
    first = end;
  }
  EXPECT_EQ(ends[0], 16U) << "130 / 8";
  EXPECT_EQ(ends.back() - ends[ends.size() - 2], 1U);
  EXPECT_EQ(std::ranges::count(ends, 100U), 1) << "where the affinity changes";
}

TEST(Pieces, HoldWholeTasksAndEveryOne) {
  std::vector<Task> tasks = tasks_of({1, 1, 1});
  tasks[0].runs.resize(1000);
  EXPECT_EQ(piece_ends(tasks, 1000), (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_TRUE(piece_ends({}, 3).empty());
}

TEST(TaskSource, GivesAllToOneProcess) {
  TaskSource source(tasks_of({5, 5, 6}), nullptr);
  for (std::uint64_t id = 0; id < 3; ++id) {
    EXPECT_TRUE(source.at_hand());
    EXPECT_FALSE(source.over());
    EXPECT_EQ(source.next()->id, id);
  }
  EXPECT_FALSE(source.next());
  EXPECT_TRUE(source.over());
}

}  // namespace
}  // namespace rayreplay::sweep
