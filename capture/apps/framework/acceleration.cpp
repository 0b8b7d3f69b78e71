#include "capture/apps/framework/acceleration.hpp"

#include <algorithm>
#include <cstring>

#include "capture/apps/framework/result.hpp"

namespace rayreplay::apps {
namespace {

constexpr VkDeviceSize kStructureAlignment = 256;  // Vulkan's rule for the offset of a structure in its buffer
constexpr VkDeviceSize kScratchBytes = VkDeviceSize{256} << 20U;

VkAccelerationStructureBuildGeometryInfoKHR build_info(VkAccelerationStructureTypeKHR type,
                                                       VkBuildAccelerationStructureFlagsKHR flags,
                                                       std::uint32_t geometry_count,
                                                       const VkAccelerationStructureGeometryKHR* geometries) {
  VkAccelerationStructureBuildGeometryInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR;
  info.type = type;
  info.flags = flags;
  info.mode = VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR;
  info.geometryCount = geometry_count;
  info.pGeometries = geometries;
  return info;
}

VkAccelerationStructureBuildSizesInfoKHR sizes_of(const Device& device,
                                                  const VkAccelerationStructureBuildGeometryInfoKHR& info,
                                                  const std::vector<std::uint32_t>& counts) {
  VkAccelerationStructureBuildSizesInfoKHR sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR;
  device.functions().build_sizes(device.handle(), VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR, &info, counts.data(),
                                 &sizes);
  return sizes;
}

Buffer make_storage(const Device& device, VkDeviceSize size) {
  return {device, size,
          VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
}

/// The device may require an alignment of scratch memory that buffers do not have.
Buffer make_scratch(const Device& device, VkDeviceSize size) {
  return {device, size + device.limits().scratch_alignment,
          VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
}

VkDeviceAddress scratch_address(const Device& device, const Buffer& scratch) {
  return align(scratch.address(), device.limits().scratch_alignment);
}

VkAccelerationStructureKHR make_structure(const Device& device, const Buffer& storage, VkDeviceSize offset,
                                          VkDeviceSize size, VkAccelerationStructureTypeKHR type) {
  VkAccelerationStructureCreateInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR;
  info.buffer = storage.handle();
  info.offset = offset;
  info.size = size;
  info.type = type;
  VkAccelerationStructureKHR structure = VK_NULL_HANDLE;
  require_success(device.functions().create_acceleration_structure(device.handle(), &info, nullptr, &structure),
                  "vkCreateAccelerationStructureKHR");
  return structure;
}

/// Between builds that share scratch memory, and before reads of a structure.
void build_barrier(VkCommandBuffer commands, VkPipelineStageFlags readers) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_ACCELERATION_STRUCTURE_WRITE_BIT_KHR;
  barrier.dstAccessMask =
      VK_ACCESS_ACCELERATION_STRUCTURE_READ_BIT_KHR | VK_ACCESS_ACCELERATION_STRUCTURE_WRITE_BIT_KHR;
  if ((readers & VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR) != 0) {
    barrier.dstAccessMask = VK_ACCESS_ACCELERATION_STRUCTURE_READ_BIT_KHR;
  }
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR, readers, 0, 1, &barrier, 0,
                       nullptr, 0, nullptr);
}

void destroy(const Device& device, std::vector<VkAccelerationStructureKHR>& structures) noexcept {
  for (VkAccelerationStructureKHR structure : structures) {
    device.functions().destroy_acceleration_structure(device.handle(), structure, nullptr);
  }
  structures.clear();
}

}  // namespace

VkAccelerationStructureGeometryKHR box_geometry(VkDeviceAddress boxes, bool opaque) {
  VkAccelerationStructureGeometryKHR geometry{};
  geometry.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  geometry.geometryType = VK_GEOMETRY_TYPE_AABBS_KHR;
  geometry.geometry.aabbs.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_AABBS_DATA_KHR;
  geometry.geometry.aabbs.data.deviceAddress = boxes;
  geometry.geometry.aabbs.stride = sizeof(VkAabbPositionsKHR);
  geometry.flags = opaque ? VK_GEOMETRY_OPAQUE_BIT_KHR : 0;
  return geometry;
}

BottomLevels::BottomLevels(const Device& device, const std::vector<BottomLevelInput>& inputs, bool compact_them)
    : device_(&device) {
  VkBuildAccelerationStructureFlagsKHR flags = VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR;
  if (compact_them) {
    flags |= VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_COMPACTION_BIT_KHR;
  }
  try {
    build(inputs, flags);
    if (compact_them) {
      compact();
    }
  } catch (...) {
    release();
    throw;
  }
}

BottomLevels::~BottomLevels() {
  release();
}

void BottomLevels::release() noexcept {
  destroy(*device_, structures_);
}

void BottomLevels::build(const std::vector<BottomLevelInput>& inputs, VkBuildAccelerationStructureFlagsKHR flags) {
  const VkDeviceSize scratch_alignment = device_->limits().scratch_alignment;
  std::vector<VkAccelerationStructureBuildGeometryInfoKHR> infos;
  std::vector<VkAccelerationStructureBuildSizesInfoKHR> sizes;
  VkDeviceSize storage_bytes = 0;
  VkDeviceSize all_scratch = 0;
  VkDeviceSize largest_scratch = 0;
  for (const BottomLevelInput& input : inputs) {
    std::vector<std::uint32_t> counts;
    for (const auto& range : input.ranges) {
      counts.push_back(range.primitiveCount);
    }
    infos.push_back(build_info(VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, flags,
                               static_cast<std::uint32_t>(input.geometries.size()), input.geometries.data()));
    sizes.push_back(sizes_of(*device_, infos.back(), counts));
    storage_bytes += align(sizes.back().accelerationStructureSize, kStructureAlignment);
    const VkDeviceSize scratch = align(sizes.back().buildScratchSize, scratch_alignment);
    all_scratch += scratch;
    largest_scratch = std::max(largest_scratch, scratch);
  }
  storage_ = make_storage(*device_, storage_bytes);
  const VkDeviceSize scratch_bytes = std::max(largest_scratch, std::min(all_scratch, kScratchBytes));
  const Buffer scratch = make_scratch(*device_, scratch_bytes);

  VkDeviceSize offset = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    structures_.push_back(make_structure(*device_, storage_, offset, sizes[i].accelerationStructureSize,
                                         VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR));
    infos[i].dstAccelerationStructure = structures_.back();
    offset += align(sizes[i].accelerationStructureSize, kStructureAlignment);
  }

  device_->submit([&](VkCommandBuffer commands) {
    std::size_t first = 0;
    while (first < inputs.size()) {
      std::vector<const VkAccelerationStructureBuildRangeInfoKHR*> ranges;
      VkDeviceSize used = 0;
      std::size_t last = first;
      for (; last < inputs.size(); ++last) {
        const VkDeviceSize bytes = align(sizes[last].buildScratchSize, scratch_alignment);
        if (used + bytes > scratch_bytes) {
          break;
        }
        infos[last].scratchData.deviceAddress = scratch_address(*device_, scratch) + used;
        ranges.push_back(inputs[last].ranges.data());
        used += bytes;
      }
      device_->functions().cmd_build(commands, static_cast<std::uint32_t>(last - first), &infos[first], ranges.data());
      build_barrier(commands, VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR);
      first = last;
    }
  });
}

void BottomLevels::compact() {
  VkQueryPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  pool_info.queryType = VK_QUERY_TYPE_ACCELERATION_STRUCTURE_COMPACTED_SIZE_KHR;
  pool_info.queryCount = static_cast<std::uint32_t>(structures_.size());
  VkQueryPool pool = VK_NULL_HANDLE;
  require_success(vkCreateQueryPool(device_->handle(), &pool_info, nullptr, &pool), "vkCreateQueryPool");
  std::vector<VkDeviceSize> sizes(structures_.size());
  VkResult result = VK_SUCCESS;
  try {
    device_->submit([&](VkCommandBuffer commands) {
      vkCmdResetQueryPool(commands, pool, 0, pool_info.queryCount);
      device_->functions().cmd_write_properties(commands, pool_info.queryCount, structures_.data(), pool_info.queryType,
                                                pool, 0);
    });
    result =
        vkGetQueryPoolResults(device_->handle(), pool, 0, pool_info.queryCount, sizes.size() * sizeof(VkDeviceSize),
                              sizes.data(), sizeof(VkDeviceSize), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
  } catch (...) {
    vkDestroyQueryPool(device_->handle(), pool, nullptr);
    throw;
  }
  vkDestroyQueryPool(device_->handle(), pool, nullptr);
  require_success(result, "vkGetQueryPoolResults");

  VkDeviceSize total = 0;
  for (const VkDeviceSize size : sizes) {
    total += align(size, kStructureAlignment);
  }
  Buffer storage = make_storage(*device_, total);
  std::vector<VkAccelerationStructureKHR> compacted;
  try {
    VkDeviceSize offset = 0;
    for (const VkDeviceSize size : sizes) {
      compacted.push_back(
          make_structure(*device_, storage, offset, size, VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR));
      offset += align(size, kStructureAlignment);
    }
    device_->submit([&](VkCommandBuffer commands) {
      for (std::size_t i = 0; i < compacted.size(); ++i) {
        VkCopyAccelerationStructureInfoKHR copy{};
        copy.sType = VK_STRUCTURE_TYPE_COPY_ACCELERATION_STRUCTURE_INFO_KHR;
        copy.src = structures_[i];
        copy.dst = compacted[i];
        copy.mode = VK_COPY_ACCELERATION_STRUCTURE_MODE_COMPACT_KHR;
        device_->functions().cmd_copy(commands, &copy);
      }
      build_barrier(commands, VK_PIPELINE_STAGE_ACCELERATION_STRUCTURE_BUILD_BIT_KHR);
    });
  } catch (...) {
    destroy(*device_, compacted);
    throw;
  }
  structures_.swap(compacted);
  destroy(*device_, compacted);
  storage_ = std::move(storage);
}

VkDeviceAddress BottomLevels::address(std::size_t index) const {
  VkAccelerationStructureDeviceAddressInfoKHR info{};
  info.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR;
  info.accelerationStructure = structures_.at(index);
  return device_->functions().acceleration_structure_address(device_->handle(), &info);
}

TopLevel::TopLevel(const Device& device, const std::vector<VkAccelerationStructureInstanceKHR>& instances,
                   bool updatable)
    : device_(&device),
      count_(static_cast<std::uint32_t>(instances.size())),
      flags_(VK_BUILD_ACCELERATION_STRUCTURE_PREFER_FAST_TRACE_BIT_KHR) {
  if (updatable) {
    flags_ |= VK_BUILD_ACCELERATION_STRUCTURE_ALLOW_UPDATE_BIT_KHR;
  }
  try {
    create(instances);
  } catch (...) {
    device.functions().destroy_acceleration_structure(device.handle(), structure_, nullptr);
    throw;
  }
}

TopLevel::~TopLevel() {
  device_->functions().destroy_acceleration_structure(device_->handle(), structure_, nullptr);
}

void TopLevel::create(const std::vector<VkAccelerationStructureInstanceKHR>& instances) {
  // Instances are in host memory, as in an application that moves them every frame.
  instances_ = Buffer(*device_, std::max<VkDeviceSize>(1, count_) * sizeof(VkAccelerationStructureInstanceKHR),
                      kBuildInputUsage, MemoryKind::Upload);
  std::memcpy(instances_.mapped(), instances.data(), count_ * sizeof(VkAccelerationStructureInstanceKHR));
  VkAccelerationStructureGeometryKHR geometry{};
  geometry.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  geometry.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR;
  geometry.geometry.instances.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR;
  const auto sizes =
      sizes_of(*device_, build_info(VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, flags_, 1, &geometry), {count_});
  storage_ = make_storage(*device_, sizes.accelerationStructureSize);
  scratch_ = make_scratch(*device_, std::max(sizes.buildScratchSize, sizes.updateScratchSize));
  structure_ = make_structure(*device_, storage_, 0, sizes.accelerationStructureSize,
                              VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR);
  device_->submit(
      [&](VkCommandBuffer commands) { record_build(commands, VK_BUILD_ACCELERATION_STRUCTURE_MODE_BUILD_KHR); });
}

void TopLevel::record_build(VkCommandBuffer commands, VkBuildAccelerationStructureModeKHR mode) {
  VkAccelerationStructureGeometryKHR geometry{};
  geometry.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR;
  geometry.geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR;
  geometry.geometry.instances.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR;
  geometry.geometry.instances.data.deviceAddress = instances_.address();
  auto info = build_info(VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, flags_, 1, &geometry);
  info.mode = mode;
  info.srcAccelerationStructure = mode == VK_BUILD_ACCELERATION_STRUCTURE_MODE_UPDATE_KHR ? structure_ : VK_NULL_HANDLE;
  info.dstAccelerationStructure = structure_;
  info.scratchData.deviceAddress = scratch_address(*device_, scratch_);
  const VkAccelerationStructureBuildRangeInfoKHR range{count_, 0, 0, 0};
  const VkAccelerationStructureBuildRangeInfoKHR* ranges = &range;
  device_->functions().cmd_build(commands, 1, &info, &ranges);
  build_barrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR);
}

void TopLevel::update(VkCommandBuffer commands, const std::vector<VkAccelerationStructureInstanceKHR>& instances) {
  std::memcpy(instances_.mapped(), instances.data(), count_ * sizeof(VkAccelerationStructureInstanceKHR));
  record_build(commands, VK_BUILD_ACCELERATION_STRUCTURE_MODE_UPDATE_KHR);
}

}  // namespace rayreplay::apps
