// Does every generator make sound workloads, and do the libraries find what it says is known?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "capture/trace/validate.hpp"
#include "sim/experiment/traverse.hpp"
#include "sim/workloads/workload.hpp"
#include "tests/workloads/measure.hpp"

namespace rayreplay::workloads {
namespace {

/// Beside every generator's own examples.
const std::vector<std::string> kGrid = {
    "divergence:degree=2",
    "divergence:degree=3,bounces=2",
    "divergence:degree=5,bounces=3,warps=7",
    "divergence:degree=33",
    "divergence:degree=40,bounces=2,warps=3",
    "divergence:degree=4,warp_size=8",
    "divergence:degree=64,warp_size=64,bounces=2",
    "divergence:degree=3,warp_size=1",
    "divergence:degree=6,placement=blocked,bounces=4,warps=6",
    "shader-cost:ratio=2.5,share=0.25",
    "shader-cost:ratio=1000,share=0.96875",
    "shader-cost:ratio=7,share=0,warps=8",
    "shader-cost:ratio=20,share=0.5,cost=1000",
    "shader-cost:ratio=3,share=0.3,warp_size=10,warps=20",
    "ser-pool:shaders=1",
    "ser-pool:shaders=2,warps=48",
    "ser-pool:shaders=32",
    "ser-pool:shaders=7,warps=33",
    "ser-pool:shaders=40,warp_size=16,warps=12",
    "coherence:coherence=0.99",
    "coherence:coherence=0.2,shaders=3,seed=9",
    "coherence:coherence=0,shaders=32,seed=2",
    "coherence:coherence=0.5,shaders=1,cells=1",
    "coherence:coherence=1,shaders=13,cells=7,warp_size=64",
    "box-overlap:overlap=0.25",
    "box-overlap:overlap=0.75,primitives=512",
    "box-overlap:overlap=0.97,primitives=100,warps=11",
    "box-overlap:overlap=0.999,primitives=40",
    "box-overlap:overlap=0,primitives=4096",
    "box-overlap:overlap=0.3,primitives=1",
    "box-overlap:overlap=0.5,kind=boxes,primitives=9,warp_size=16",
    "box-overlap:overlap=1,kind=boxes,primitives=20",
    "stride:stride=8",
    "stride:stride=12,instructions=77",
    "stride:stride=124,repeats=3",
    "stride:stride=132",
    "stride:stride=4096,instructions=50",
    "stride:stride=20,warp_size=7,instructions=31,repeats=2",
    "stride:stride=4,warp_size=64",
    "working-set:lines=1,passes=5",
    "working-set:lines=2,passes=3,sms=2",
    "working-set:lines=100,passes=7,sms=3",
    "working-set:lines=100,passes=7,sms=3,share=shared",
    "working-set:lines=64,passes=1",
    "working-set:pattern=random,lines=64,passes=100,sms=2,seed=5",
    "working-set:pattern=random,lines=1000,passes=8,share=shared,sms=3",
    "reuse-distance:near=0,blocks=5",
    "reuse-distance:near=1,blocks=2,repeats=2,rounds=2",
    "reuse-distance:near=30,blocks=3,repeats=1,rounds=6",
    "reuse-distance:near=100,blocks=1,repeats=9,rounds=1",
};

std::vector<std::string> all_specs() {
  std::vector<std::string> specs;
  for (const std::string& name : Workloads::names()) {
    specs.push_back(name);
    for (const std::string& example : Workloads::create(name).model->examples()) {
      specs.push_back(example);
    }
  }
  specs.insert(specs.end(), kGrid.begin(), kGrid.end());
  return specs;
}

class EveryWorkload : public testing::TestWithParam<std::string> {};

TEST_P(EveryWorkload, IsSound) {
  const auto created = Workloads::create(GetParam());
  if (created.model->is_memory()) {
    const MemoryWorkload made = created.model->make_memory();
    import::check(made.header, "workload");
    ASSERT_GT(made.records.records(), 0U);
    for (std::size_t row = 0; row < made.records.records(); ++row) {
      import::check(made.header, made.records, row, "workload");
    }
    const import::TraceAllocation& data = made.header.allocations.front();
    EXPECT_GE(*std::ranges::min_element(made.records.address), data.start);
    EXPECT_LT(*std::ranges::max_element(made.records.address), data.start + data.bytes);
    EXPECT_EQ(made.records, created.model->make_memory().records);
    EXPECT_THROW(static_cast<void>(created.model->make_trace()), Error);
    return;
  }
  const trace::Trace made = created.model->make_trace();
  trace::check(made, "workload");
  EXPECT_THROW(static_cast<void>(created.model->make_memory()), Error);
  experiment::TraverseOptions options;
  options.traversals = {"near-first", "fixed-order"};
  const experiment::TraverseResult traced =
      experiment::traverse(made, "workload", experiment::resolve({}, made), options);
  for (const experiment::TraverseRow& row : traced.rows) {
    if (row.kind == experiment::TraverseKind::Scalar) {
      EXPECT_EQ(row.compared, row.rays) << row.traversal;
      EXPECT_EQ(row.agreed, row.rays) << row.traversal;
      EXPECT_EQ(row.ignored, 0U);
      EXPECT_EQ(row.unobserved, 0U);
    }
  }
}

TEST_P(EveryWorkload, HasTheKnownAnswers) {
  const auto created = Workloads::create(GetParam());
  const std::vector<KnownAnswer> answers = created.model->answers();
  ASSERT_FALSE(answers.empty());
  for (const KnownAnswer& known : answers) {
    EXPECT_FALSE(known.because.empty());
    std::string under;
    for (const auto& [key, value] : known.settings) {
      under.append(key).append("=").append(value).append(" ");
    }
    const double found = test::measure(*created.model, known);
    EXPECT_TRUE(agrees(known, found)) << created.spec << ": " << known.metric << " is " << found << ", known "
                                      << known.value << " ± " << known.tolerance << " under " << under;
  }
}

INSTANTIATE_TEST_SUITE_P(Workloads, EveryWorkload, testing::ValuesIn(all_specs()),
                         [](const testing::TestParamInfo<std::string>& spec) {
                           std::string name = std::to_string(spec.index) + "_" + spec.param;
                           for (char& letter : name) {
                             letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
                           }
                           return name;
                         });

TEST(Agrees, TellsWhatIsNotKnown) {
  EXPECT_TRUE(agrees({"m", 0.5, 0, ""}, 0.5));
  EXPECT_FALSE(agrees({"m", 0.5, 0, ""}, 0.500001));
  EXPECT_TRUE(agrees({"m", 0.5, 0.01, ""}, 0.491));
  EXPECT_FALSE(agrees({"m", 0.5, 0.01, ""}, 0.489));
  EXPECT_FALSE(agrees({"m", 0.5, 0.01, ""}, std::numeric_limits<double>::quiet_NaN()));
  const KnownAnswer bound{"m", 2, 0.1, "", {}, Relation::AtMost};
  EXPECT_TRUE(agrees(bound, 0.1));
  EXPECT_TRUE(agrees(bound, 2.05));
  EXPECT_FALSE(agrees(bound, 2.2));
  EXPECT_FALSE(agrees(bound, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace
}  // namespace rayreplay::workloads
