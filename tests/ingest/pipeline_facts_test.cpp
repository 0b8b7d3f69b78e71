// Facts of pipelines from the spool: those of launches alone, and spools that do not fit.
#include "capture/ingest/pipeline_facts.hpp"

#include "tests/ingest/support.hpp"

namespace rayreplay::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Lines = std::vector<std::string>;

// Ray generation, intersection, any-hit, closest-hit, miss, callable, and one whose block is lost.
const std::vector<std::uint8_t> kStagesOfFacts = {0, 1, 2, 3, 4, 5, 255};
constexpr std::uint32_t kWordOfFacts = 0;

spool::GroupStack general_group(std::uint16_t shader, std::uint64_t bytes) {
  spool::GroupStack group;
  group.general = shader;
  group.general_bytes = bytes;
  return group;
}

/// Device 1: launches 0 and 1 of pipeline 4, with facts, and 2 without events of pipeline 5.
SpoolContents spool_with_facts() {
  SpoolContents result;
  result.process.emplace();
  for (std::uint32_t i = 0; i < 3; ++i) {
    SpooledLaunch& launch = result.launches[i];
    launch.launch.device = 1;
    launch.launch.launch = i;
    launch.launch.pipeline = i < 2 ? 4 : 5;
    launch.launch.stack_bytes = i == 0 ? 512 : 256;
    if (i < 2) {
      launch.events.push_back({i, 0, {&kWordOfFacts, 1}});
    }
  }
  for (const std::uint32_t pipeline : {4U, 5U, 6U}) {
    spool::PipelineFacts& facts = result.pipeline_facts[pipeline];
    facts.device = 1;
    facts.pipeline = pipeline;
    facts.recursion_depth = 2;
    facts.dynamic_stack = 1;
    facts.groups = {general_group(0, 96)};
  }
  return result;
}

std::vector<trace::PipelineFacts> facts_read(const SpoolContents& from, Lines& remarks) {
  spool::Device device;
  device.device = 1;
  return read_pipeline_facts(from, device, kStagesOfFacts, remarks);
}

TEST(PipelineFacts, AreThoseOfPipelinesOfCapturedLaunches) {
  Lines remarks;
  const auto facts = facts_read(spool_with_facts(), remarks);
  EXPECT_THAT(remarks, IsEmpty());
  ASSERT_THAT(facts, SizeIs(1));
  EXPECT_EQ(facts[0].pipeline, 4U);
  EXPECT_EQ(facts[0].recursion_depth, 2U);
  EXPECT_TRUE(facts[0].dynamic_stack);
  EXPECT_EQ(facts[0].set_stack, 512U);  // the largest
  ASSERT_THAT(facts[0].groups, SizeIs(1));
  EXPECT_EQ(facts[0].groups[0].general, 0);
  EXPECT_EQ(facts[0].groups[0].general_bytes, 96U);
}

TEST(PipelineFacts, OfAnotherDeviceAreNotTaken) {
  SpoolContents from = spool_with_facts();
  from.pipeline_facts[4].device = 0;
  Lines remarks;
  EXPECT_THAT(facts_read(from, remarks), IsEmpty());
  EXPECT_THAT(remarks, IsEmpty());
}

TEST(PipelineFacts, WithoutADynamicStackNoneWasSet) {
  SpoolContents from = spool_with_facts();
  from.pipeline_facts[4].dynamic_stack = 0;
  Lines remarks;
  EXPECT_EQ(facts_read(from, remarks).at(0).set_stack, 0U);
}

TEST(PipelineFacts, ThatWereAskedForAndAreNotThereAreSaid) {
  SpoolContents from = spool_with_facts();
  from.pipeline_facts.clear();
  Lines remarks;
  EXPECT_THAT(facts_read(from, remarks), IsEmpty());
  EXPECT_THAT(remarks, IsEmpty());
  from.process->options = "every=1\npipeline_facts=on\nlog=warning\n";
  EXPECT_THAT(facts_read(from, remarks), IsEmpty());
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("pipeline 4: what the driver says of it")));
}

TEST(PipelineFacts, ShadersThatCannotStandThereAreLeftOut) {
  SpoolContents from = spool_with_facts();
  spool::GroupStack wrong;
  wrong.closest_hit = 4;  // a miss shader
  wrong.closest_hit_bytes = 8;
  wrong.any_hit = 2;  // no size
  wrong.intersection = 1;
  wrong.intersection_bytes = 32;
  from.pipeline_facts[4].groups = {wrong,
                                   general_group(3, 8),
                                   general_group(6, 8),
                                   general_group(7, 8),
                                   general_group(spool::kNoShader, 8),
                                   general_group(5, 24)};
  Lines remarks;
  const auto facts = facts_read(from, remarks);
  EXPECT_THAT(remarks, ElementsAre("pipeline 4: stack sizes of 6 shaders that the spool does not have, or of another "
                                   "stage"));
  ASSERT_THAT(facts, SizeIs(1));
  ASSERT_THAT(facts[0].groups, SizeIs(6));
  EXPECT_EQ(facts[0].groups[0].closest_hit, trace::kNoShader);
  EXPECT_EQ(facts[0].groups[0].closest_hit_bytes, trace::kNoStack);
  EXPECT_EQ(facts[0].groups[0].any_hit, trace::kNoShader);
  EXPECT_EQ(facts[0].groups[0].intersection, 1);
  EXPECT_EQ(facts[0].groups[0].intersection_bytes, 32U);
  EXPECT_EQ(facts[0].groups[5].general, 5);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(facts[0].groups[i].general, trace::kNoShader);
    EXPECT_EQ(facts[0].groups[i].general_bytes, trace::kNoStack);
  }
}

TEST(PipelineFacts, NamesAreCutAndCleaned) {
  SpoolContents from = spool_with_facts();
  spool::Executable executable{std::string(100'000, 'x'), "a\nb", 0x100, 32, {}};
  executable.statistics = {{"\xFF", "", spool::StatisticFormat::Bool, 7},
                           {"f", "", spool::StatisticFormat::Float64, ~0ULL}};
  from.pipeline_facts[4].executables = {executable};
  Lines remarks;
  const auto facts = facts_read(from, remarks);
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("is not UTF-8")));
  const trace::Executable& found = facts.at(0).executables.at(0);
  EXPECT_EQ(found.name, std::string(255, 'x'));
  EXPECT_EQ(found.description, "a b");
  EXPECT_EQ(found.statistics.at(0).name, "\xEF\xBF\xBD");
  EXPECT_EQ(found.statistics.at(0).value, 1U);
  EXPECT_EQ(found.statistics.at(1).value, ~0ULL);
}

using PipelineFactsFileTest = IngestTest;

/// A spool whose facts do not fit still gives a trace, which passes every rule.
TEST_F(PipelineFactsFileTest, WhateverTheSpoolSaysTheTraceIsSound) {
  test::Random random(8);
  std::uint64_t written = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    test::SyntheticCapture capture = test::synthesize({.seed = seed, .facts = true});
    spool::PipelineFacts& facts = capture.pipeline_facts.at(0);
    for (spool::GroupStack& group : facts.groups) {
      for (std::uint16_t* shader : {&group.general, &group.closest_hit, &group.any_hit, &group.intersection}) {
        if (random.one_in(2)) {
          *shader = static_cast<std::uint16_t>(random.below(16));
        }
      }
      group.any_hit_bytes = random.one_in(2) ? random.bits() : spool::kNoStack;
    }
    facts.dynamic_stack = static_cast<std::uint8_t>(random.below(3));
    written += ingested(capture).pipeline_facts.size();
  }
  EXPECT_GT(written, 20U);
}

}  // namespace
}  // namespace rayreplay::ingest
