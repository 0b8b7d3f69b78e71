// What every builder promises (builder.hpp, tree.hpp), on ordinary and hostile items.
#include <gtest/gtest.h>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "tests/bvh/hostile_items.hpp"
#include "tests/bvh/tree_check.hpp"

namespace rayreplay::bvh {
namespace {

bool splits(const std::string& builder) {
  return builder.starts_with("high");
}

const std::vector<std::string> kBuilders = {"low", "medium", "high", "high:extra_references=4", "median"};

TEST(Builder, KeepsItsPromisesOnHostileItems) {
  for (const test::ItemSet& set : test::hostile_items(3000)) {
    for (const std::string& spec : kBuilders) {
      const auto builder = Builders::create(spec);
      for (const BuildLimits limits : {BuildLimits{2, 1}, BuildLimits{4, 4}, BuildLimits{8, 3}, BuildLimits{6, 32}}) {
        const Tree tree = builder.model->build(set.items, limits, nullptr, nullptr);
        EXPECT_EQ(test::fault_of(tree, set.items, limits, splits(spec)), "")
            << set.name << ", " << spec << ", " << limits.branching << " children, " << limits.leaf_size << " a leaf";
      }
    }
  }
}

TEST(Builder, SameTreeForAnyNumberOfThreads) {
  const tbb::global_control many(tbb::global_control::max_allowed_parallelism, 16);
  for (const test::ItemSet& set : test::hostile_items(8000)) {
    for (const std::string& spec : kBuilders) {
      const auto builder = Builders::create(spec);
      const BuildLimits limits{8, 4};
      Tree expected;
      tbb::task_arena(1).execute([&] { expected = builder.model->build(set.items, limits, nullptr, nullptr); });
      for (const int threads : {2, 5, 16}) {
        Tree tree;
        tbb::task_arena(threads).execute([&] { tree = builder.model->build(set.items, limits, nullptr, nullptr); });
        if (!test::same(expected, tree)) {
          ADD_FAILURE() << set.name << ", " << spec << ", " << threads << " threads";
          break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace rayreplay::bvh
