// One structure's build: what to copy while it is recorded, and the content that the copies make.
//
// Contract: `BuildPlan` keeps copies of what the application passed (geometries, ranges); `add_copies` names all that
// the build reads to a CopyBatch; `content_of` makes the Content from the windows afterwards (or, for host builds, from
// the application's own memory). An indirect build's ranges are read by the device, so what it reads is not known when
// it is recorded: everything from each base address on is copied, up to kIndirectMost bytes. Instances behind an array
// of pointers that the device reads may lie in any buffer, and buffers that the build does not use may be destroyed
// before it runs: they are copied for host builds only.
// What was not copied is said in the content. Complexity: linear in what is read.
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

/// The parts of `info` and `ranges` that matter; target is left null.
[[nodiscard]] BuildPlan plan_of(const VkAccelerationStructureBuildGeometryInfoKHR& info,
                                const VkAccelerationStructureBuildRangeInfoKHR* ranges);
[[nodiscard]] BuildPlan indirect_plan_of(const VkAccelerationStructureBuildGeometryInfoKHR& info,
                                         VkDeviceAddress address, std::uint32_t stride,
                                         const std::uint32_t* most_primitives);

void add_copies(BuildPlan& plan, const AddressMap& map, CopyBatch& batch);

/// What the copies of a completed batch hold for this plan.
[[nodiscard]] Content content_of(const BuildPlan& plan, const CopyBatch& batch, const StructureTable& table);

/// For host builds: the application's memory is read now.
[[nodiscard]] Content content_of_host(const BuildPlan& plan, const StructureTable& table);

}  // namespace rayreplay::layer::geometry
