// Profiles of branches and loads of a shader whose instructions are known.
#include "capture/profile/agreement_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/support/branching_shader.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::kNotCompared;

/// branching_shader()'s branch is instruction 6; 4, 8, 9 and 11 are loads. The entry point is none of the module's:
/// nothing is proven.
trace::Profile counted_profile() {
  trace::Profile result;
  result.header.warp_size = 8;
  result.shaders = {{trace::ShaderStage::Miss, "other", "sky", test::branching_shader()}};
  result.branch_counts = {{3}, {0}, {0}, {0}, {6}, {80}, {10}, {4}, {}};
  result.load_counts = {{3, 3, 3, 3},  {0, 0, 0, 0},  {0, 0, 0, 0},  {0, 1, 1, 1},           {4, 8, 9, 11},
                        {80, 9, 9, 0}, {10, 2, 2, 0}, {10, 2, 1, 0}, {9, kNotCompared, 2, 0}};
  return result;
}

TEST(AgreementProfile, TellsWhatAgreed) {
  const AgreementProfile found = agreement_profile(counted_profile(), "t.rrt");
  ASSERT_EQ(found.branches.size(), 1U);
  EXPECT_EQ(found.branches[0].kind, "branch");
  EXPECT_EQ(found.branches[0].function_name, "main");
  EXPECT_EQ(found.branches[0].label, 10U);
  EXPECT_EQ(found.branches[0].value.uniform, 4U);
  EXPECT_EQ(found.branches[0].value.agreement, Agreement::Divergent);
  ASSERT_EQ(found.loads.size(), 4U);
  EXPECT_EQ(found.loads[0].kind, "load");
  EXPECT_EQ(found.loads[0].value.agreement, Agreement::Observed);
  EXPECT_EQ(found.loads[0].address.agreement, Agreement::Divergent);
  EXPECT_EQ(found.loads[1].address.agreement, Agreement::NotCompared);
  EXPECT_FALSE(found.loads[1].address.uniform);
  EXPECT_EQ(found.loads[2].value.agreement, Agreement::Divergent);
  EXPECT_EQ(found.loads[3].value.agreement, Agreement::NotExecuted);
}

TEST(AgreementProfile, TellsWhatIsProven) {
  trace::Profile proven = counted_profile();
  proven.shaders[0].entry = "main";
  const AgreementProfile found = agreement_profile(proven, "t.rrt");
  EXPECT_EQ(found.loads[0].value.agreement, Agreement::Proven);
  EXPECT_EQ(found.loads[0].address.agreement, Agreement::Divergent) << "what was counted wins";
  EXPECT_EQ(found.loads[1].address.agreement, Agreement::Proven);
  EXPECT_EQ(found.loads[3].value.agreement, Agreement::Proven);
  const auto sums = sums_of(found);
  EXPECT_EQ(sums[2].compared, 14U);
  EXPECT_EQ(sums[2].uniform, 13U);
}

TEST(AgreementProfile, SumsPlacesAndExecutions) {
  const auto sums = sums_of(agreement_profile(counted_profile(), "t.rrt"));
  ASSERT_EQ(sums.size(), 3U);
  EXPECT_STREQ(sums[0].subject, "branches");
  EXPECT_THAT(sums[0].places, ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(sums[0].executions, ElementsAre(0, 0, 10, 0, 0));
  EXPECT_EQ(sums[0].uniform, 4U);
  EXPECT_EQ(sums[0].compared, 10U);
  EXPECT_STREQ(sums[1].subject, "loaded values");
  EXPECT_THAT(sums[1].places, ElementsAre(0, 2, 1, 1, 0));
  EXPECT_THAT(sums[1].executions, ElementsAre(0, 12, 2, 0, 0));
  EXPECT_EQ(sums[1].uniform, 13U);
  EXPECT_STREQ(sums[2].subject, "load addresses");
  EXPECT_THAT(sums[2].places, ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(sums[2].executions, ElementsAre(0, 2, 10, 0, 2));
  EXPECT_EQ(sums[2].compared, 12U);
  EXPECT_EQ(sums[2].uniform, 11U);
}

TEST(AgreementProfile, NamesWhatTheModuleDoesNotHave) {
  const auto fault = [](const auto& damage) {
    trace::Profile damaged = counted_profile();
    damage(damaged);
    const Error error = test::error_of([&] { static_cast<void>(agreement_profile(damaged, "t.rrt")); });
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    return std::string(error.what());
  };
  EXPECT_THAT(fault([](auto& p) { p.branch_counts.function[0] = 2; }),
              HasSubstr("t.rrt:/profile/branches/function[0]"));
  EXPECT_THAT(fault([](auto& p) { p.branch_counts.block[0] = 4; }), HasSubstr("the function has no such block"));
  EXPECT_THAT(fault([](auto& p) { p.branch_counts.instruction[0] = 8; }),
              HasSubstr("the block has no such instruction"));
  EXPECT_THAT(fault([](auto& p) { p.branch_counts.instruction[0] = 4; }), HasSubstr("the instruction is no branch"));
  EXPECT_THAT(fault([](auto& p) { p.load_counts.instruction[3] = 12; }), HasSubstr("the instruction is no load"));
  EXPECT_THAT(fault([](auto& p) { p.shaders[0].spirv.clear(); }), HasSubstr("is no SPIR-V module"));
}

}  // namespace
}  // namespace rayreplay::profile
