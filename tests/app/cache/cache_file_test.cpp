// What `rayreplay cache --elements` writes: every dataset described, rates and orders that follow from the counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include <hdf5.h>

#include "app/report/cache/cache_datasets.hpp"
#include "capture/trace/file/hdf5_handle.hpp"
#include "tests/app/cache/cache_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using trace::hdf5::Handle;

class CacheFileTest : public CacheCommand {
 protected:
  void open(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--elements", scratch_ / "e.h5"};
    words.insert(words.end(), more.begin(), more.end());
    result_ = answer(words);
    file_ = Handle(H5Fopen((scratch_ / "e.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    ASSERT_GE(file_.get(), 0);
  }
  template <class Value>
  [[nodiscard]] std::vector<Value> column(const char* name, hid_t type) const {
    const Handle dataset(H5Dopen2(file_.get(), name, H5P_DEFAULT));
    const Handle space(H5Dget_space(dataset.get()));
    std::vector<Value> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
    EXPECT_GE(H5Dread(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
    return values;
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers(const char* name) const {
    return column<std::uint64_t>(name, H5T_NATIVE_UINT64);
  }
  [[nodiscard]] static std::string text(hid_t object, const char* name) {
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT));
    const Handle type(H5Aget_type(attribute.get()));
    std::string value(H5Tget_size(type.get()), '\0');
    EXPECT_GE(H5Aread(attribute.get(), type.get(), value.data()), 0) << name;
    return value;
  }

  json result_;
  Handle file_;
};

TEST_F(CacheFileTest, EveryDatasetIsDescribed) {
  open({"--windows", "2", "--histograms", "element", "--time", "memory"});
  std::set<std::string> there;
  const auto add = [](hid_t, const char* name, const H5O_info_t* info, void* names) -> herr_t {
    if (info->type == H5O_TYPE_DATASET) {
      static_cast<std::set<std::string>*>(names)->insert(name);
    }
    return 0;
  };
  ASSERT_GE(H5Ovisit(file_.get(), H5_INDEX_NAME, H5_ITER_INC, add, &there), 0);
  std::set<std::string> listed;
  const std::string guide = document("cache.md");
  for (const report::CacheDataset& entry : report::cache_datasets()) {
    const std::string path = std::string(entry.group) + "/" + entry.name;
    listed.insert(path);
    const Handle dataset(H5Dopen2(file_.get(), path.c_str(), H5P_DEFAULT));
    ASSERT_GE(dataset.get(), 0) << path;
    EXPECT_EQ(text(dataset.get(), "unit"), entry.unit) << path;
    EXPECT_EQ(text(dataset.get(), "meaning"), entry.meaning) << path;
    EXPECT_THAT(guide, HasSubstr("`" + std::string(entry.group) + "`")) << "docs/cache.md";
    EXPECT_THAT(guide, HasSubstr("`" + std::string(entry.name) + "`")) << "docs/cache.md";
  }
  EXPECT_EQ(there, listed);
  EXPECT_EQ(text(file_.get(), "schema"), "rayreplay.cache-elements/4");
  EXPECT_EQ(text(file_.get(), "trace_hash"), result_["trace"]["hash"].get<std::string>());
  EXPECT_EQ(text(file_.get(), "tool_version"), result_["tool"]["version"].get<std::string>());
  EXPECT_THAT(text(file_.get(), "configuration"), HasSubstr("model = \"lru:write=through,allocate=false\""));
  EXPECT_THAT(text(file_.get(), "machine"), HasSubstr("l1_bytes = 4096"));
}

TEST_F(CacheFileTest, MemoryTimeBySmAndByStage) {
  open({"--time", "memory"});
  const json& time = result_["time"];
  const auto busy = numbers("time_sms/busy");
  ASSERT_EQ(busy.size(), time["sms"].size());
  EXPECT_EQ(numbers("time_stages/stage").size(), time["stages"].size());
  double of_all = 0;
  std::map<std::string, std::uint64_t> of_stage;
  for (const char* state : {"reorder", "issue", "traversal", "load_unit", "l1", "merged", "l2", "dram"}) {
    const auto by_sm = numbers(("time_sms/" + std::string(state)).c_str());
    const auto by_stage = numbers(("time_stages/" + std::string(state)).c_str());
    EXPECT_EQ(std::accumulate(by_sm.begin(), by_sm.end(), std::uint64_t{0}),
              std::accumulate(by_stage.begin(), by_stage.end(), std::uint64_t{0}))
        << state;
    for (std::size_t sm = 0; sm < busy.size(); ++sm) {
      EXPECT_EQ(by_sm[sm], time["sms"][sm]["warp_cycles"][state]) << state;
      of_all += static_cast<double>(by_sm[sm]);
    }
    for (std::size_t stage = 0; stage < by_stage.size(); ++stage) {
      of_stage[time["stages"][stage]["stage"]] += by_stage[stage];
    }
  }
  for (const json& stage : time["stages"]) {
    EXPECT_NEAR(stage["share"], static_cast<double>(of_stage[stage["stage"]]) / of_all, 1e-12) << stage["stage"];
  }
  EXPECT_GT(of_stage["traversal"], 0U);
  EXPECT_GT(of_stage["ray generation"], 0U);
  EXPECT_EQ(of_stage["exchange"], 0U);
}

TEST_F(CacheFileTest, RatesAndOrdersFollowFromCounts) {
  open({"--windows", "3"});
  const auto window = numbers("elements/window"), requests = numbers("elements/requests"),
             first = numbers("elements/first"), begin = numbers("windows/first_request"),
             all = numbers("windows/requests");
  const auto rate = column<float>("elements/access_rate", H5T_NATIVE_FLOAT);
  const auto order = column<float>("elements/access_order", H5T_NATIVE_FLOAT);
  ASSERT_EQ(all.size(), 3U);
  std::map<std::uint64_t, double> sums;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const auto in_window = static_cast<double>(all[window[i]]);
    ASSERT_EQ(rate[i], static_cast<float>(static_cast<double>(requests[i]) / in_window));
    ASSERT_EQ(order[i], static_cast<float>(static_cast<double>(first[i] - begin[window[i]]) / in_window));
    ASSERT_LT(order[i], 1);
    sums[window[i]] += static_cast<double>(rate[i]);
  }
  ASSERT_EQ(sums.size(), 3U);
  for (const auto& [number, sum] : sums) {
    EXPECT_NEAR(sum, 1, 1e-4) << number;  // the replayed traversal touches nothing outside its arrays
  }
}

TEST_F(CacheFileTest, ElementsLieInTheirAllocationAndBoxesInTheirParents) {
  open({"--layout", "compressed-wide-8"});
  const auto element = numbers("elements/element"), allocation = numbers("elements/allocation"),
             start = numbers("allocations/first_element"), count = numbers("allocations/elements");
  for (std::size_t i = 0; i < element.size(); ++i) {
    ASSERT_GE(element[i], start[allocation[i]]);
    ASSERT_LT(element[i], start[allocation[i]] + count[allocation[i]]);
  }
  // Of every tree there is one root, and its box holds the boxes of all others of that tree.
  const auto blas = numbers("boxes/blas"), depth = numbers("boxes/depth"), box = numbers("boxes/element"),
             kind = numbers("allocations/kind");
  const std::map<const char*, std::vector<float>> planes = {{"min_x", column<float>("boxes/min_x", H5T_NATIVE_FLOAT)},
                                                            {"max_x", column<float>("boxes/max_x", H5T_NATIVE_FLOAT)}};
  std::map<std::uint64_t, std::size_t> roots;
  const auto is_node = [&](std::size_t i) {
    const auto row = static_cast<std::size_t>(std::ranges::upper_bound(start, box[i]) - start.begin()) - 1;
    return kind[row] == 0;
  };
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (is_node(i) && depth[i] == 0) {
      EXPECT_TRUE(roots.emplace(blas[i], i).second) << blas[i];
    }
  }
  std::size_t below = 0;
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (is_node(i) && depth[i] > 0) {
      const std::size_t root = roots.at(blas[i]);
      // Quantised boxes may reach beyond their parents by a step of the grid.
      const float slack = (planes.at("max_x")[root] - planes.at("min_x")[root]) / 100;
      ASSERT_GE(planes.at("min_x")[i], planes.at("min_x")[root] - slack);
      ASSERT_LE(planes.at("max_x")[i], planes.at("max_x")[root] + slack);
      ++below;
    }
  }
  EXPECT_GT(below, 0U);
}

}  // namespace
}  // namespace rayreplay::test
