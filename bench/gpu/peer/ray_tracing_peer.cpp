#include "bench/gpu/peer/ray_tracing_peer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "PeerClosestHit.spv.hpp"
#include "PeerMiss.spv.hpp"
#include "PeerRayGeneration.spv.hpp"
#include "capture/apps/framework/acceleration.hpp"
#include "capture/apps/framework/descriptors.hpp"
#include "capture/apps/framework/pipeline.hpp"
#include "capture/apps/framework/result.hpp"

namespace rayreplay::bench {
namespace {

constexpr std::uint32_t kWidth = 1024;  ///< of a launch

std::vector<apps::BottomLevelInput> mesh_input(const trace::Geometry& mesh, const apps::Buffer& vertices,
                                               const apps::Buffer& indices) {
  VkAccelerationStructureGeometryKHR geometry{};
  geometry.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  geometry.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
  geometry.flags = VK_GEOMETRY_OPAQUE_BIT_KHR;
  VkAccelerationStructureGeometryTrianglesDataKHR& triangles = geometry.geometry.triangles;
  triangles.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR;
  triangles.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT;
  triangles.vertexData.deviceAddress = vertices.address();
  triangles.vertexStride = 3 * sizeof(float);
  triangles.maxVertex = static_cast<std::uint32_t>(mesh.vertices.size() / 3 - 1);
  triangles.indexType = VK_INDEX_TYPE_UINT32;
  triangles.indexData.deviceAddress = indices.address();
  apps::BottomLevelInput input;
  input.geometries.push_back(geometry);
  input.ranges.push_back({static_cast<std::uint32_t>(mesh.primitives()), 0, 0, 0});
  return {input};
}

std::vector<VkAccelerationStructureInstanceKHR> one_instance(VkDeviceAddress structure) {
  VkAccelerationStructureInstanceKHR instance{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    instance.transform.matrix[axis][axis] = 1;
  }
  instance.mask = 0xFF;
  instance.flags = VK_GEOMETRY_INSTANCE_TRIANGLE_FACING_CULL_DISABLE_BIT_KHR;
  instance.accelerationStructureReference = structure;
  return {instance};
}

/// Whole rows of a launch: the last ray again to fill up.
std::vector<traversal::Ray> padded(std::span<const traversal::Ray> rays) {
  std::vector<traversal::Ray> result(rays.begin(), rays.end());
  result.resize((rays.size() + kWidth - 1) / kWidth * kWidth, rays.back());
  return result;
}

apps::PipelineBuilder stages() {
  apps::PipelineBuilder builder;
  builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_RAYGEN_BIT_KHR, kPeerRayGeneration));
  builder.add_general_group(builder.add_stage(VK_SHADER_STAGE_MISS_BIT_KHR, kPeerMiss));
  builder.add_hit_group(builder.add_stage(VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, kPeerClosestHit), apps::kNoStage,
                        apps::kNoStage);
  return builder;
}

}  // namespace

struct RayTracingPeer::State {
  State(std::uint32_t index, const trace::Geometry& mesh, std::span<const traversal::Ray> given)
      : device({.device = std::to_string(index)}),
        count(given.size()),
        vertices(apps::upload(device, std::as_bytes(std::span(mesh.vertices)), apps::kBuildInputUsage)),
        indices(apps::upload(device, std::as_bytes(std::span(mesh.indices)), apps::kBuildInputUsage)),
        rows((given.size() + kWidth - 1) / kWidth),
        rays(apps::upload(device, padded(given), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)),
        hits(device, rows * kWidth * sizeof(PeerHit),
             VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT),
        bottom(device, mesh_input(mesh, vertices, indices), true),
        top(device, one_instance(bottom.address(0)), false),
        descriptors(device,
                    {apps::StructureBinding{top.handle()}, apps::StorageBinding{&rays}, apps::StorageBinding{&hits}}),
        pipeline(device, stages(), descriptors),
        table(device, pipeline, {0, {}}, {{1, {}}}, {{2, {}}}) {
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 2;
    apps::require_success(vkCreateQueryPool(device.handle(), &info, nullptr, &stamps), "vkCreateQueryPool");
  }
  ~State() {
    vkDestroyQueryPool(device.handle(), stamps, nullptr);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  apps::Device device;
  std::size_t count;
  apps::Buffer vertices, indices;
  std::size_t rows;
  apps::Buffer rays, hits;
  apps::BottomLevels bottom;
  apps::TopLevel top;
  apps::DescriptorSet descriptors;
  apps::RayTracingPipeline pipeline;
  apps::ShaderBindingTable table;
  VkQueryPool stamps = VK_NULL_HANDLE;
};

RayTracingPeer::RayTracingPeer(std::uint32_t device, const trace::Geometry& mesh, std::span<const traversal::Ray> rays)
    : state_(std::make_unique<State>(device, mesh, rays)) {}

RayTracingPeer::~RayTracingPeer() = default;

double RayTracingPeer::trace() {
  State& state = *state_;
  state.device.submit([&](VkCommandBuffer commands) {
    VkDescriptorSet set = state.descriptors.handle();
    vkCmdResetQueryPool(commands, state.stamps, 0, 2);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, state.pipeline.handle());
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, state.pipeline.layout(), 0, 1, &set, 0,
                            nullptr);
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, state.stamps, 0);
    state.table.trace(commands, kWidth, static_cast<std::uint32_t>(state.rows));
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, state.stamps, 1);
  });
  std::array<std::uint64_t, 2> ticks{};
  apps::require_success(vkGetQueryPoolResults(state.device.handle(), state.stamps, 0, 2, sizeof(ticks), ticks.data(),
                                              sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                        "vkGetQueryPoolResults");
  constexpr double kNano = 1e-9;
  return static_cast<double>(ticks[1] - ticks[0]) * static_cast<double>(state.device.limits().timestamp_ns) * kNano;
}

std::vector<PeerHit> RayTracingPeer::hits() const {
  State& state = *state_;
  const std::size_t bytes = state.count * sizeof(PeerHit);
  const apps::Buffer host(state.device, bytes, VK_BUFFER_USAGE_TRANSFER_DST_BIT, apps::MemoryKind::Readback);
  state.device.submit([&](VkCommandBuffer commands) {
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1,
                         &barrier, 0, nullptr, 0, nullptr);
    const VkBufferCopy region{0, 0, bytes};
    vkCmdCopyBuffer(commands, state.hits.handle(), host.handle(), 1, &region);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                         nullptr, 0, nullptr);
  });
  std::vector<PeerHit> result(state.count);
  std::memcpy(result.data(), host.mapped(), bytes);
  return result;
}

}  // namespace rayreplay::bench
