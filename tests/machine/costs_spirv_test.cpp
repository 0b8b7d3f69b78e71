// Counts of SPIR-V as applications give it, which is not optimised, against those of the same modules after
// SPIRV-Tools' optimizer (spirv-opt -O).
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <spirv-tools/optimizer.hpp>

#include "capture/trace/reader.hpp"
#include "sim/machine/cost_sources.hpp"

namespace rayreplay::machine {
namespace {

/// What else an optimizer finds: common expressions, code that nobody needs. Seen: 1.28 at most.
constexpr double kMaxExcess = 1.35;

std::vector<std::uint32_t> optimized(const std::vector<std::uint32_t>& words) {
  spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_2);
  optimizer.RegisterPerformancePasses();
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  std::vector<std::uint32_t> result;
  EXPECT_TRUE(optimizer.Run(words.data(), words.size(), &result, options));
  return result;
}

class CapturedModules : public testing::TestWithParam<const char*> {};

TEST_P(CapturedModules, CountLikeOptimizedOnes) {
  const trace::Trace trace = trace::load(std::string(RAYREPLAY_SOURCE_DIR "/tests/data/h200/") + GetParam() + ".rrt");
  std::size_t modules = 0;
  for (const trace::Shader& shader : trace.shaders) {
    if (shader.spirv.empty()) {
      continue;
    }
    ++modules;
    const auto as_given = count_spirv(shader.spirv, shader.stage, shader.entry);
    const auto after = count_spirv(optimized(shader.spirv), shader.stage, shader.entry);
    ASSERT_TRUE(as_given && after) << shader.name;
    EXPECT_GE(as_given->instructions, after->instructions) << shader.name;
    EXPECT_LE(as_given->instructions, kMaxExcess * after->instructions) << shader.name;
    EXPECT_EQ(as_given->trace_calls, after->trace_calls) << shader.name;
  }
  EXPECT_GT(modules, 2U);
}

INSTANTIATE_TEST_SUITE_P(H200, CapturedModules,
                         testing::Values("one-weekend", "one-weekend-ser", "teapot-alpha", "bunny"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(CountSpirv, HasTheDocumentedCounts) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/one-weekend.rrt");
  std::vector<double> counts;
  for (const trace::Shader& shader : trace.shaders) {
    counts.push_back(count_spirv(shader.spirv, shader.stage, shader.entry).value().instructions);
  }
  EXPECT_EQ(counts, (std::vector<double>{293, 31, 95, 336}));
}

std::vector<std::uint32_t> module_of(const std::vector<std::vector<std::uint32_t>>& instructions) {
  std::vector<std::uint32_t> words = {0x0723'0203U, 0x0001'0400U, 0, 100, 0};
  for (const auto& instruction : instructions) {
    words.push_back(static_cast<std::uint32_t>((instruction.size() << 16U) | instruction[0]));
    words.insert(words.end(), instruction.begin() + 1, instruction.end());
  }
  return words;
}

TEST(CountSpirv, LeavesOutMovesBetweenRegistersAlone) {
  constexpr std::uint32_t kMain = 0x6E69'616D;  // "main"
  // 1: void, 2: its function, 3: float, 4: pointer to one in Function, 5: in StorageBuffer, 6: array of them in
  // Function.
  const std::vector<std::vector<std::uint32_t>> before = {{14, 0, 1},     {15, 5317, 10, kMain, 0},
                                                          {19, 1},        {33, 2, 1},
                                                          {22, 3, 32},    {32, 4, 7, 3},
                                                          {32, 5, 12, 3}, {43, 3, 7, 0},
                                                          {59, 5, 8, 12}, {54, 1, 10, 0, 2},
                                                          {248, 11},      {59, 4, 12, 7}};
  const auto count = [&](std::vector<std::vector<std::uint32_t>> body) {
    body.insert(body.begin(), before.begin(), before.end());
    body.push_back({56});
    return count_spirv(module_of(body), trace::ShaderStage::Miss, "main").value().instructions;
  };
  EXPECT_EQ(count({{61, 3, 20, 12}}), 0);                                   // of a variable of the function
  EXPECT_EQ(count({{62, 12, 7}}), 0);                                       // to it
  EXPECT_EQ(count({{61, 3, 20, 8}}), 1);                                    // of memory
  EXPECT_EQ(count({{62, 8, 7}}), 1);                                        // to memory
  EXPECT_EQ(count({{65, 4, 21, 12, 7}, {61, 3, 20, 21}}), 0);               // by a constant index
  EXPECT_EQ(count({{61, 3, 19, 8}, {65, 4, 21, 12, 19}, {62, 21, 7}}), 2);  // by one from memory
}

}  // namespace
}  // namespace rayreplay::machine
