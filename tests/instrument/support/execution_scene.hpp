// The scene of the shaders in execution/: rays of row 0 meet triangles, those of row 1 boxes, others nothing.
#pragma once

#include <optional>
#include <vector>

#include "capture/apps/framework/acceleration.hpp"

namespace rayreplay::test {

/// Triangles before row 0 and a box before row 1.
class ExecutionScene {
 public:
  ExecutionScene(const apps::Device& device, bool opaque) {
    vertices_ = apps::upload(device, std::vector<float>{-100, 1, 5, 100, 1, 5, 0, -100, 5}, apps::kBuildInputUsage);
    boxes_ = apps::upload(device, std::vector<float>{0, 1, 4, 16, 2, 6}, apps::kBuildInputUsage);
    const VkGeometryFlagsKHR flags = opaque ? VkGeometryFlagsKHR{VK_GEOMETRY_OPAQUE_BIT_KHR} : 0;
    VkAccelerationStructureGeometryKHR triangles{};
    triangles.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
    triangles.geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR;
    triangles.flags = flags;
    triangles.geometry.triangles.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR;
    triangles.geometry.triangles.vertexFormat = VK_FORMAT_R32G32B32_SFLOAT;
    triangles.geometry.triangles.vertexData.deviceAddress = vertices_.address();
    triangles.geometry.triangles.vertexStride = 12;
    triangles.geometry.triangles.maxVertex = 2;
    triangles.geometry.triangles.indexType = VK_INDEX_TYPE_NONE_KHR;
    VkAccelerationStructureGeometryKHR box{};
    box.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
    box.geometryType = VK_GEOMETRY_TYPE_AABBS_KHR;
    box.flags = flags;
    box.geometry.aabbs.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_AABBS_DATA_KHR;
    box.geometry.aabbs.data.deviceAddress = boxes_.address();
    box.geometry.aabbs.stride = 24;
    VkAccelerationStructureBuildRangeInfoKHR one{};
    one.primitiveCount = 1;
    bottom_.emplace(device, std::vector<apps::BottomLevelInput>{{{triangles}, {one}}, {{box}, {one}}}, false);
    std::vector<VkAccelerationStructureInstanceKHR> instances(2);
    for (std::uint32_t i = 0; i < 2; ++i) {
      instances[i].transform.matrix[0][0] = instances[i].transform.matrix[1][1] = instances[i].transform.matrix[2][2] =
          1;
      instances[i].mask = 0xFF;
      instances[i].instanceShaderBindingTableRecordOffset = i & 0xFFFFFF;
      instances[i].flags = VK_GEOMETRY_INSTANCE_TRIANGLE_FACING_CULL_DISABLE_BIT_KHR & 0xFF;
      instances[i].accelerationStructureReference = bottom_->address(i);
    }
    top_.emplace(device, instances, false);
  }
  [[nodiscard]] VkAccelerationStructureKHR top() const {
    return top_->handle();
  }

 private:
  apps::Buffer vertices_, boxes_;
  std::optional<apps::BottomLevels> bottom_;
  std::optional<apps::TopLevel> top_;
};

}  // namespace rayreplay::test
