// The build of one structure: memory to copy while it is recorded, and the content of the copies.
//
// Contract: `BuildPlan` copies the application's arguments (geometries, ranges); `add_copies` adds all memory that the
// build reads to a CopyBatch; `content_of` makes the Content from the windows afterwards (for host builds from the
// application's own memory). The device reads an indirect build's ranges, so its reads are unknown during recording:
// everything from each base address on is copied, up to kIndirectMost bytes. Instances behind an array of pointers on
// the device may lie in any buffer, and unrelated buffers may be destroyed before the build runs: they are copied for
// host builds only. The content names what was not copied. Complexity: linear in the bytes read.
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/layer/geometry/copies.hpp"
#include "capture/layer/geometry/structure_table.hpp"

namespace rayreplay::layer::geometry {

inline constexpr std::uint64_t kIndirectMost = std::uint64_t{256} << 20U;

struct BuildPlan {
  StructurePointer target;
  bool top_level = false;
  VkBuildAccelerationStructureFlagsKHR flags = 0;
  std::vector<VkAccelerationStructureGeometryKHR> geometries;
  std::vector<VkAccelerationStructureBuildRangeInfoKHR> ranges;  ///< indirect: primitiveCount is the most there may be
  bool indirect = false;
  std::uint64_t indirect_address = 0;
  std::uint32_t indirect_stride = 0;

  // Filled by add_copies: numbers of stretches.
  std::vector<std::array<std::size_t, kInputs>> parts;
  std::size_t ranges_part = 0;
};

/// The relevant parts of `info` and `ranges`; target is null.
[[nodiscard]] BuildPlan plan_of(const VkAccelerationStructureBuildGeometryInfoKHR& info,
                                const VkAccelerationStructureBuildRangeInfoKHR* ranges);
[[nodiscard]] BuildPlan indirect_plan_of(const VkAccelerationStructureBuildGeometryInfoKHR& info,
                                         VkDeviceAddress address, std::uint32_t stride,
                                         const std::uint32_t* most_primitives);

void add_copies(BuildPlan& plan, const AddressMap& map, CopyBatch& batch);

/// The plan's content from a completed batch.
[[nodiscard]] Content content_of(const BuildPlan& plan, const CopyBatch& batch, const StructureTable& table);

/// For host builds: reads the application's memory now.
[[nodiscard]] Content content_of_host(const BuildPlan& plan, const StructureTable& table);

}  // namespace rayreplay::layer::geometry
