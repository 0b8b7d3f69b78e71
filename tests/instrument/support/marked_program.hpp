// The shaders execution/marked.*: every block marks itself in a buffer, by an atomic add of its own.
#pragma once

#include <array>
#include <map>

#include <gtest/gtest.h>
#include <spirv-tools/optimizer.hpp>

#include "MarkedAnyHit.spv.hpp"
#include "MarkedClosestHit.spv.hpp"
#include "MarkedIntersection.spv.hpp"
#include "MarkedMiss.spv.hpp"
#include "MarkedRayGeneration.spv.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/spirv/control_flow.hpp"
#include "tests/instrument/support/execution_scene.hpp"

namespace rayreplay::test {

using Words = std::vector<std::uint32_t>;

inline constexpr std::uint32_t kWidth = 16;
inline constexpr std::uint32_t kHeight = 4;
inline constexpr std::size_t kMarks = 64;
inline constexpr VkBufferUsageFlags kStorage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

enum Shader : std::size_t { kRayGeneration, kMiss, kClosestHit, kAnyHit, kIntersection, kShaders };

inline constexpr std::array<VkShaderStageFlagBits, kShaders> kStages = {
    VK_SHADER_STAGE_RAYGEN_BIT_KHR, VK_SHADER_STAGE_MISS_BIT_KHR, VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR,
    VK_SHADER_STAGE_ANY_HIT_BIT_KHR, VK_SHADER_STAGE_INTERSECTION_BIT_KHR};

inline std::array<Words, kShaders> marked_shaders(bool optimised) {
  std::array<Words, kShaders> result = {Words(std::begin(kMarkedRayGeneration), std::end(kMarkedRayGeneration)),
                                        Words(std::begin(kMarkedMiss), std::end(kMarkedMiss)),
                                        Words(std::begin(kMarkedClosestHit), std::end(kMarkedClosestHit)),
                                        Words(std::begin(kMarkedAnyHit), std::end(kMarkedAnyHit)),
                                        Words(std::begin(kMarkedIntersection), std::end(kMarkedIntersection))};
  for (Words& words : result) {
    spvtools::Optimizer optimiser(SPV_ENV_VULKAN_1_2);
    optimiser.RegisterPerformancePasses();
    if (optimised) {
      Words out;
      EXPECT_TRUE(optimiser.Run(words.data(), words.size(), &out));
      words = std::move(out);
    }
  }
  return result;
}

inline void launch_marked(const apps::Device& device, const std::array<Words, kShaders>& words,
                          const apps::Buffer& marks) {
  const ExecutionScene scene(device, false);
  apps::DescriptorSet descriptors(
      device, std::vector<apps::Binding>{apps::StructureBinding{scene.top()}, apps::StorageBinding{&marks}});
  apps::PipelineBuilder builder;
  std::array<std::uint32_t, kShaders> stages{};
  for (std::size_t s = 0; s < kShaders; ++s) {
    stages.at(s) = builder.add_stage(kStages.at(s), words.at(s));
  }
  const auto generation = builder.add_general_group(stages[kRayGeneration]);
  const auto miss = builder.add_general_group(stages[kMiss]);
  const auto triangles = builder.add_hit_group(stages[kClosestHit], stages[kAnyHit], apps::kNoStage);
  const auto boxes = builder.add_hit_group(stages[kClosestHit], apps::kNoStage, stages[kIntersection]);
  const apps::RayTracingPipeline pipeline(device, builder, descriptors);
  apps::ShaderBindingTable table(device, pipeline, apps::ShaderRecord{generation, {}},
                                 std::vector<apps::ShaderRecord>{{miss, {}}},
                                 std::vector<apps::ShaderRecord>{{triangles, {}}, {boxes, {}}});
  device.submit([&](VkCommandBuffer commands) {
    const VkDescriptorSet set = descriptors.handle();
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.handle());
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, pipeline.layout(), 0, 1, &set, 0,
                            nullptr);
    table.trace(commands, kWidth, kHeight);
    VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_SHADER_WRITE_BIT,
                            VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
  });
}

[[nodiscard]] inline spirv::Module parsed(const Words& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  EXPECT_TRUE(module) << reason;
  return std::move(*module);
}

/// By mark: the executions of the blocks that add to it.
[[nodiscard]] inline std::map<std::uint32_t, std::uint64_t> marked_blocks(
    const Words& words, const std::map<std::uint32_t, std::vector<std::uint64_t>>& lanes) {
  const spirv::Module module = parsed(words);
  std::map<spirv::Id, std::uint32_t> constants;
  for (const auto& i : module.globals) {
    if (i.is(spv::Op::OpConstant)) {
      constants[i[2]] = i[3];
    }
  }
  std::map<std::uint32_t, std::uint64_t> result;
  for (const auto& [f, counts] : lanes) {
    const spirv::Function& function = module.functions.at(f);
    std::map<spirv::Id, std::uint32_t> chains;
    std::size_t block = 0;
    bool first = true;
    for (const auto& i : function.body) {
      if (i.is(spv::Op::OpLabel)) {
        block += first ? 0U : 1U;
        first = false;
      } else if (i.is(spv::Op::OpAccessChain) && i.size() == 6) {
        chains[i[2]] = constants.at(i[5]);
      } else if (i.is(spv::Op::OpAtomicIAdd)) {
        result[chains.at(i[3])] += counts.at(block);
      }
    }
  }
  return result;
}

}  // namespace rayreplay::test
