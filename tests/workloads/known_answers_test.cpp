// Does every generator make sound workloads, and do the libraries find what it says is known?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bvh/bvh.hpp"
#include "capture/trace/validate.hpp"
#include "sim/rays/traverse.hpp"
#include "sim/workloads/workload.hpp"
#include "tests/support/second_path.hpp"
#include "tests/workloads/measure.hpp"
#include "tests/workloads/specs.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::workloads {
namespace {

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
  const experiment::TraverseResult traced = test::traverse_by_hand(made, experiment::resolve({}, made), options);
  for (const experiment::TraverseRow& row : traced.rows) {
    if (row.kind == experiment::TraverseKind::Scalar) {
      EXPECT_EQ(row.compared, row.rays) << row.traversal;
      EXPECT_EQ(row.agreed, row.rays) << row.traversal;
      EXPECT_EQ(row.ignored, 0U);
      EXPECT_EQ(row.unobserved, 0U);
    }
  }
}

/// Every closest hit's event against the ray traced again: also where, and from which side.
TEST(RayWorkloads, HitWhatTheirEventsSay) {
  for (const char* spec : {"divergence", "shader-cost", "ser-pool", "coherence", "coherence:coherence=0"}) {
    const trace::Trace made = Workloads::create(spec).model->make_trace();
    const trace::ThreadData& data = made.launches[0].data;
    std::vector<traversal::Ray> rays;
    for (std::size_t row = 0; row < data.rays.size(); ++row) {
      rays.push_back(traversal::ray_of(data.rays, row));
    }
    const traversal::TraceResult traced =
        traversal::Traversals::create("near-first").model->trace(bvh::build_bvh(made.scene, 0, spec, {}), rays, {});
    ASSERT_EQ(data.events.size(), 2 * rays.size());
    for (std::size_t row = 0; row < rays.size(); ++row) {
      const std::size_t event = 2 * row + 1;
      ASSERT_EQ(traced.hits[row].instance, data.events.instance[event]) << spec << " " << row;
      ASSERT_EQ(traced.hits[row].primitive, data.events.primitive[event]) << spec << " " << row;
      ASSERT_EQ(traced.hits[row].hit_kind, data.events.hit_kind[event]) << spec << " " << row;
      ASSERT_NEAR(traced.hits[row].t, data.events.t[event], 1e-5) << spec << " " << row;
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

INSTANTIATE_TEST_SUITE_P(Workloads, EveryWorkload, testing::ValuesIn(test::all_specs()),
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
