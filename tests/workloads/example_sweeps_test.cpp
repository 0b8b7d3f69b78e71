// Are the example sweeps what they say: readable, complete in every configuration, and small?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/sweep/plan/plan.hpp"

namespace rayreplay::sweep {
namespace {

TEST(ExampleSweeps, ArePlanned) {
  const std::filesystem::path folder = std::filesystem::path(RAYREPLAY_SOURCE_DIR) / "examples" / "sweeps";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".toml") {
      continue;
    }
    ++files;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const Plan plan(parse_sweep(text.str(), entry.path().string(), folder.string()));
    EXPECT_GE(plan.runs(), 10U) << entry.path();
    EXPECT_LE(plan.runs(), 1000U) << entry.path();
    EXPECT_EQ(plan.dropped(), 0U) << entry.path();
    EXPECT_TRUE(plan.definition().objective.has_value()) << entry.path();
    for (std::uint64_t run = 0; run < plan.runs(); ++run) {
      EXPECT_NO_THROW(static_cast<void>(experiment::complete(plan.settings(run)))) << entry.path() << " " << run;
    }
    const std::string name = entry.path().filename().string();
    EXPECT_THAT(text.str(), testing::StartsWith("# ")) << name;
    EXPECT_THAT(text.str(), testing::HasSubstr("rayreplay sweep examples/sweeps/" + name)) << name;
  }
  EXPECT_GE(files, 5U);
}

}  // namespace
}  // namespace rayreplay::sweep
