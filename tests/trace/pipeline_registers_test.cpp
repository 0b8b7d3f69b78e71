// Registers of a thread from a driver's statistics.
#include "capture/trace/pipeline_registers.hpp"

#include <gtest/gtest.h>

#include "tests/trace/sound_trace.hpp"

namespace rayreplay::trace {
namespace {

PipelineFacts with_statistics(const std::vector<std::vector<Statistic>>& executables) {
  PipelineFacts facts;
  facts.pipeline = 3;
  for (const std::vector<Statistic>& statistics : executables) {
    facts.executables.push_back({"main", "", 0x100, 32, statistics});
  }
  return facts;
}

Statistic u64(const char* name, std::uint64_t value) {
  return {name, "", StatisticFormat::Uint64, value};
}

TEST(PipelineRegisters, AreTheMostOfItsExecutables) {
  const auto found = registers_of(sound_pipeline_facts()[0]);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->registers, 72U);
  EXPECT_EQ(found->statistic, "Register Count");
  const auto amd = registers_of(with_statistics({{u64("SGPRs", 128), u64("VGPRs", 48)}, {u64("VGPRs", 96)}, {}}));
  ASSERT_TRUE(amd);
  EXPECT_EQ(amd->registers, 96U);
  EXPECT_EQ(amd->statistic, "VGPRs");
}

TEST(PipelineRegisters, AreNotKnownFromOtherStatistics) {
  EXPECT_FALSE(registers_of(with_statistics({})));
  EXPECT_FALSE(registers_of(with_statistics({{u64("GRF registers", 128), u64("Max live registers", 90)}})));
  EXPECT_FALSE(registers_of(with_statistics({{u64("Register Count", 0), u64("VGPRs", 1025), u64("SGPRs", 40)}})));
  EXPECT_EQ(registers_of(with_statistics({{u64("Register Count", 0), u64("VGPRs", 1024)}}))->registers, 1024U);
}

TEST(PipelineRegisters, AreThoseOfTheNamedPipeline) {
  const std::vector<PipelineFacts> facts = sound_pipeline_facts();
  EXPECT_EQ(registers_of(facts, 2)->registers, 72U);
  EXPECT_FALSE(registers_of(facts, 5)) << "no executables";
  EXPECT_FALSE(registers_of(facts, 3)) << "no facts of it";
  std::vector<PipelineFacts> last = {facts[0]};
  last[0].pipeline = kNone;
  EXPECT_FALSE(registers_of(last, kNone)) << "the launch does not say its pipeline";
}

}  // namespace
}  // namespace rayreplay::trace
