#include "capture/layer/geometry/build.hpp"

#include <cstring>

namespace rayreplay::layer::geometry {
namespace {

using Range = VkAccelerationStructureBuildRangeInfoKHR;
using RawInstance = VkAccelerationStructureInstanceKHR;

bool is_pointers(const VkAccelerationStructureGeometryKHR& geometry) {
  return geometry.geometryType == VK_GEOMETRY_TYPE_INSTANCES_KHR &&
         geometry.geometry.instances.arrayOfPointers != VK_FALSE;
}

BuildPlan plan_without_ranges(const VkAccelerationStructureBuildGeometryInfoKHR& info) {
  BuildPlan plan;
  plan.top_level = info.type == VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR;
  plan.flags = info.flags;
  for (std::uint32_t i = 0; i < info.geometryCount; ++i) {
    plan.geometries.push_back(info.pGeometries != nullptr ? info.pGeometries[i] : *info.ppGeometries[i]);
  }
  return plan;
}

/// Motion instances have another layout.
constexpr VkBuildAccelerationStructureFlagsKHR kMotion = VK_BUILD_ACCELERATION_STRUCTURE_MOTION_BIT_NV;

void add_instances(const VkAccelerationStructureGeometryKHR& geometry, const Range& range, const Window& window,
                   const StructureTable& table, Content& content) {
  const Stretch stretch = inputs_of(geometry, range)[static_cast<std::size_t>(Input::Instances)];
  if (stretch.bytes == 0) {
    return;
  }
  const std::uint8_t* from = read(window, stretch);
  if (from == nullptr) {
    content.missing = "its instances are unknown: " +
                      (window.missing.empty() ? std::string("they lie outside what was copied") : window.missing);
    return;
  }
  content.instances.resize(range.primitiveCount);
  for (std::uint32_t i = 0; i < range.primitiveCount; ++i) {
    TopInstance& instance = content.instances[i];
    if (is_pointers(geometry)) {
      // A host build: add_copies adds nothing, the pointers are the application's own.
      const RawInstance* raw = nullptr;
      std::memcpy(&raw, from + std::size_t{i} * sizeof raw, sizeof raw);
      std::memcpy(&instance.raw, raw, sizeof(RawInstance));
    } else {
      std::memcpy(&instance.raw, from + std::size_t{i} * sizeof(RawInstance), sizeof(RawInstance));
    }
    const StructurePointer bottom = table.find(instance.raw.accelerationStructureReference);
    instance.bottom = bottom != nullptr ? bottom->content : nullptr;
  }
}

Content content_from(const BuildPlan& plan, const std::vector<Range>& ranges, const std::vector<Windows>& windows,
                     const StructureTable& table) {
  Content content;
  content.top_level = plan.top_level;
  content.flags = plan.flags;
  if (plan.top_level && (plan.flags & kMotion) != 0) {
    content.missing = "instances with motion (VK_NV_ray_tracing_motion_blur) are not known";
    return content;
  }
  for (std::size_t i = 0; i < plan.geometries.size(); ++i) {
    const VkAccelerationStructureGeometryKHR& geometry = plan.geometries[i];
    if (!plan.top_level) {
      content.geometries.push_back(assemble(geometry, ranges[i], windows[i]));
    } else if (geometry.geometryType == VK_GEOMETRY_TYPE_INSTANCES_KHR) {
      add_instances(geometry, ranges[i], windows[i][static_cast<std::size_t>(Input::Instances)], table, content);
    } else {
      content.missing = "a top level of geometry type " + std::to_string(geometry.geometryType);
    }
  }
  return content;
}

}  // namespace

BuildPlan plan_of(const VkAccelerationStructureBuildGeometryInfoKHR& info, const Range* ranges) {
  BuildPlan plan = plan_without_ranges(info);
  plan.ranges.assign(ranges, ranges + plan.geometries.size());
  return plan;
}

BuildPlan indirect_plan_of(const VkAccelerationStructureBuildGeometryInfoKHR& info, VkDeviceAddress address,
                           std::uint32_t stride, const std::uint32_t* most_primitives) {
  BuildPlan plan = plan_without_ranges(info);
  plan.indirect = true;
  plan.indirect_address = address;
  plan.indirect_stride = stride;
  for (std::size_t i = 0; i < plan.geometries.size(); ++i) {
    plan.ranges.push_back({most_primitives[i], 0, 0, 0});
  }
  return plan;
}

void add_copies(BuildPlan& plan, const AddressMap& map, CopyBatch& batch) {
  if (plan.indirect) {
    const std::uint64_t count = plan.geometries.size();
    plan.ranges_part =
        batch.add(map, {plan.indirect_address, count == 0 ? 0 : (count - 1) * plan.indirect_stride + sizeof(Range)});
  }
  for (std::size_t i = 0; i < plan.geometries.size(); ++i) {
    const Inputs inputs = inputs_of(plan.geometries[i], plan.ranges[i]);
    auto& parts = plan.parts.emplace_back();
    for (std::size_t input = 0; input < kInputs; ++input) {
      if (inputs[input].bytes != 0 && is_pointers(plan.geometries[i])) {
        parts[input] = batch.add_missing("an array of pointers (arrayOfPointers) leads to them on the device");
      } else {
        parts[input] = plan.indirect && inputs[input].bytes != 0
                           ? batch.add_rest(map, inputs[input].address, kIndirectMost)
                           : batch.add(map, inputs[input]);
      }
    }
  }
}

Content content_of(const BuildPlan& plan, const CopyBatch& batch, const StructureTable& table) {
  std::vector<Range> ranges = plan.ranges;
  if (plan.indirect) {
    const Window window = batch.window(plan.ranges_part);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const Stretch stretch{plan.indirect_address + i * plan.indirect_stride, sizeof(Range)};
      const std::uint8_t* from = read(window, stretch);
      const std::uint32_t most = ranges[i].primitiveCount;
      if (from != nullptr) {
        std::memcpy(&ranges[i], from, sizeof(Range));
      }
      if (from == nullptr || ranges[i].primitiveCount > most) {
        Content unknown;
        unknown.top_level = plan.top_level;
        unknown.flags = plan.flags;
        unknown.missing = from != nullptr ? "its indirect build asks for " + std::to_string(ranges[i].primitiveCount) +
                                                " primitives where at most " + std::to_string(most) + " were announced"
                                          : "the ranges of its indirect build are unknown: " + window.missing;
        return unknown;
      }
    }
  }
  std::vector<Windows> windows(plan.geometries.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    for (std::size_t input = 0; input < kInputs; ++input) {
      windows[i][input] = batch.window(plan.parts[i][input]);
    }
  }
  return content_from(plan, ranges, windows, table);
}

Content content_of_host(const BuildPlan& plan, const StructureTable& table) {
  std::vector<Windows> windows(plan.geometries.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Inputs inputs = inputs_of(plan.geometries[i], plan.ranges[i]);
    for (std::size_t input = 0; input < kInputs; ++input) {
      windows[i][input].address = inputs[input].address;
      windows[i][input].bytes = inputs[input].bytes;
      windows[i][input].data = reinterpret_cast<const std::uint8_t*>(inputs[input].address);
    }
  }
  return content_from(plan, plan.ranges, windows, table);
}

}  // namespace rayreplay::layer::geometry
