#include "capture/apps/framework/instances.hpp"

#include <cstring>

namespace rayreplay::apps {

VkAccelerationStructureInstanceKHR make_instance(const trace::Instance& instance, VkDeviceAddress structure,
                                                 std::uint32_t custom_index, std::uint32_t hit_group_offset) {
  constexpr std::uint32_t k24Bits = 0xFF'FFFFU;
  VkAccelerationStructureInstanceKHR result{};
  static_assert(sizeof(result.transform) == sizeof(instance.transform));
  std::memcpy(&result.transform, instance.transform.data(), sizeof(result.transform));
  result.instanceCustomIndex = custom_index & k24Bits;
  result.mask = instance.mask;
  result.instanceShaderBindingTableRecordOffset = hit_group_offset & k24Bits;
  result.flags = instance.flags;
  result.accelerationStructureReference = structure;
  return result;
}

}  // namespace rayreplay::apps
