// Annotated instructions of modules that are damaged, or that do not fit the counts.
#include "app/report/shaders/disassembly.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/report/shaders/trace_rows.hpp"
#include "base/text.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay::report {
namespace {

/// Counts of some blocks, whether the module has them or not.
Executions some_executions(std::mt19937& random) {
  Executions executions;
  executions.warp_size = 8;
  executions.pipelines = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  executions.notes = {"a note\n"};
  for (std::uint32_t b = 0; b < 9; ++b) {
    profile::BlockProfile block;
    block.function = b / 3;
    block.block = b % 3;
    block.instructions = b;
    block.lanes = random() % 1000;
    block.groups = block.lanes / 4;
    executions.profile.lane_instructions += static_cast<double>(block.lanes) * b;
    executions.profile.blocks.push_back(block);
  }
  return executions;
}

TEST(Disassembly, TakesAnyModuleAndIsCutByLines) {
  std::mt19937 random(7);
  std::size_t shown = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    if (module.words.size() > 3000) {
      continue;
    }
    for (int change = 0; change < 4; ++change) {
      std::vector<std::uint32_t> words = module.words;
      for (int i = 0; i < change; ++i) {
        words[5 + random() % (words.size() - 5)] ^= 1U << random() % 18;
      }
      std::string reason;
      const auto known = known_module(words, 0, reason);
      if (known == nullptr) {
        continue;
      }
      const Executions executions = some_executions(random);
      for (const spirv::ShaderFacts& facts : known->facts.shaders) {
        const ShaderRow row{stage_of_model(facts.model), facts.entry, "name", known, &facts, {}};
        const std::string text = disassembly(row, {&executions, nullptr});
        EXPECT_EQ(text::printable_lines(text), text) << module.name;
        EXPECT_LT(text.size(), 2000 + 500 * words.size()) << module.name;
        EXPECT_THAT(text, testing::HasSubstr("pipelines 0, 1, 2, 3, 4, 5, 6, 7 and 2 more"));
        const std::string cut = disassembly(row, {&executions, nullptr}, 500);
        const std::size_t end = cut.rfind("… and ");
        if (end == std::string::npos) {
          EXPECT_EQ(cut, text);
        } else {
          EXPECT_EQ(cut.substr(0, end), text.substr(0, end));
          const auto rest =
              static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n'));
          EXPECT_THAT(cut.substr(end), testing::StartsWith("… and " + std::to_string(rest) + " more line"));
          EXPECT_LT(cut.size(), 900U);
        }
        ++shown;
      }
    }
  }
  EXPECT_GT(shown, 200U);
}

TEST(Disassembly, NamesPipelines) {
  Executions executions;
  executions.pipelines = {3};
  EXPECT_EQ(executions.pipelines_text(), "pipeline 3");
  executions.pipelines = {3, 5};
  EXPECT_EQ(executions.pipelines_text(), "pipelines 3, 5");
}

}  // namespace
}  // namespace rayreplay::report
