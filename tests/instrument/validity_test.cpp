// Every module of the corpus under every set of options: valid afterwards, the same bytes each time.
#include <gtest/gtest.h>

#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

using instrument::Status;

class Corpus : public testing::TestWithParam<test::NamedOptions> {};

TEST_P(Corpus, StaysValid) {
  std::size_t instrumented = 0;
  std::size_t unchanged = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    const instrument::Result result = instrument::instrument(module.words, GetParam().options);
    if (module.name.starts_with("plain.comp")) {
      EXPECT_EQ(result.status, Status::Unchanged) << module.name;
      continue;
    }
    // Without a geometry index the opacity table cannot be looked up.
    if (module.name.starts_with("nv_decide") && GetParam().options.opacity_address != 0) {
      EXPECT_EQ(result.status, Status::Refused) << module.name;
      EXPECT_NE(result.reason, "");
      continue;
    }
    // Without records only shaders that read the launch id or trace rays change.
    if (!GetParam().options.record && result.status == Status::Unchanged) {
      EXPECT_FALSE(result.entry_points.empty()) << module.name;
      EXPECT_TRUE(result.spirv.empty()) << module.name;
      ++unchanged;
      continue;
    }
    ASSERT_EQ(result.status, Status::Instrumented) << module.name << ": " << result.reason;
    EXPECT_EQ(test::validate(result.spirv, module.environment), "") << module.name;
    EXPECT_NE(result.spirv, module.words) << module.name;
    EXPECT_EQ(instrument::instrument(module.words, GetParam().options).spirv, result.spirv) << module.name;
    ++instrumented;
  }
  EXPECT_GE(instrumented + unchanged, 60U);
  EXPECT_GE(instrumented, 30U);
  EXPECT_EQ(unchanged > 0, !GetParam().options.record && !GetParam().options.count_blocks);
}

INSTANTIATE_TEST_SUITE_P(Options, Corpus, testing::ValuesIn(test::option_sets()),
                         [](const auto& set) { return set.param.name; });

TEST(RecordingAnyHit, IsValidAndRecords) {
  for (const test::NamedOptions& set : test::option_sets()) {
    const std::vector<std::uint32_t> words = instrument::recording_any_hit(set.options);
    EXPECT_EQ(test::validate(words, "vulkan1.2"), "") << set.name;
    const std::vector<instrument::EntryPoint> points = instrument::entry_points(words, 9);
    ASSERT_EQ(points.size(), 1U);
    EXPECT_EQ(points[0].stage, instrument::Stage::AnyHit);
    EXPECT_EQ(points[0].name, "main");
    EXPECT_EQ(points[0].shader, 9);
  }
}

// Compute shaders count when they are asked for; ray-tracing shaders then stay as they are.
TEST(OtherStages, AreInstrumentedInPlaceOfRayTracing) {
  std::size_t counted = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    instrument::Options options = test::plain_options();
    options.stages = instrument::Stages::Others;
    options.count_blocks = block_counts::CounterSet::All;
    options.count_branches = options.count_loads = true;
    options.value_slots = 4;
    const instrument::Result result = instrument::instrument(module.words, options);
    if (!module.name.starts_with("plain.comp")) {
      EXPECT_EQ(result.status, Status::Unchanged) << module.name;
      continue;
    }
    ASSERT_EQ(result.status, Status::Instrumented) << module.name << ": " << result.reason;
    EXPECT_EQ(test::validate(result.spirv, module.environment), "") << module.name;
    EXPECT_EQ(result.entry_points.at(0).stage, instrument::Stage::Compute);
    EXPECT_GT(result.counters.cells, 0U);
    EXPECT_TRUE(result.sites.empty());
    ++counted;
  }
  EXPECT_GT(counted, 0U);
}

// What was instrumented once is a module like any other.
TEST(Twice, StaysValid) {
  for (const test::CorpusModule& module : test::corpus()) {
    const instrument::Result once = instrument::instrument(module.words, test::plain_options());
    if (once.status == Status::Instrumented) {
      const instrument::Result twice = instrument::instrument(once.spirv, test::plain_options());
      ASSERT_EQ(twice.status, Status::Instrumented) << module.name << ": " << twice.reason;
      EXPECT_EQ(test::validate(twice.spirv, module.environment), "") << module.name;
    }
  }
}

}  // namespace
}  // namespace rayreplay
