#include "capture/layer/device/feature_chain.hpp"

#include <vulkan/vk_layer.h>

#include <cstring>

namespace rayreplay::layer {
namespace {

/// Newer than the headers that we build with, by their published layout: this many VkBool32 after the chain pointer.
struct NewerFeatures {
  int type;
  std::size_t switches;
};
constexpr NewerFeatures kNewer[] = {
    {55, 21},         // VkPhysicalDeviceVulkan14Features
    {1000470000, 1},  // VkPhysicalDeviceMaintenance5Features
    {1000481000, 1},  // VkPhysicalDeviceRayTracingPositionFetchFeaturesKHR
    {1000581000, 1},  // VkPhysicalDeviceRayTracingInvocationReorderFeaturesEXT
};

}  // namespace

std::size_t device_struct_bytes(VkStructureType type) {
  switch (static_cast<int>(type)) {
#define X(name, structure) \
  case name:               \
    return sizeof(structure);
#include "capture/layer/device/device_structs.inc"
#undef X
    case VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO:
      return sizeof(VkLayerDeviceCreateInfo);
    default:
      break;
  }
  for (const auto& newer : kNewer) {
    if (newer.type == static_cast<int>(type)) {
      const auto bytes = sizeof(VkBaseInStructure) + newer.switches * sizeof(VkBool32);
      return (bytes + alignof(void*) - 1) / alignof(void*) * alignof(void*);
    }
  }
  return 0;
}

FeatureChain::FeatureChain(const void* chain) {
  for (const auto* at = static_cast<const VkBaseInStructure*>(chain); at != nullptr; at = at->pNext) {
    const auto bytes = device_struct_bytes(at->sType);
    if (bytes == 0) {
      tail_ = at;
      break;
    }
    auto& memory = storage_.emplace_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
    std::memcpy(memory.get(), at, bytes);
    auto* copy = reinterpret_cast<VkBaseOutStructure*>(memory.get());
    copy->pNext = nullptr;
    if (last_ == nullptr) {
      head_ = copy;
    } else {
      last_->pNext = copy;
    }
    last_ = copy;
  }
  if (last_ != nullptr) {
    // Only the pointer is stored: what it points at is never written through it.
    last_->pNext = reinterpret_cast<VkBaseOutStructure*>(const_cast<VkBaseInStructure*>(tail_));
  }
}

const void* FeatureChain::head() const {
  return head_ != nullptr ? static_cast<const void*>(head_) : tail_;
}

void* FeatureChain::find_copy(VkStructureType type) {
  for (auto& memory : storage_) {
    auto* copy = reinterpret_cast<VkBaseOutStructure*>(memory.get());
    if (copy->sType == type) {
      return copy;
    }
  }
  return nullptr;
}

const void* FeatureChain::find_tail(VkStructureType type) const {
  for (const auto* at = tail_; at != nullptr; at = at->pNext) {
    if (at->sType == type) {
      return at;
    }
  }
  return nullptr;
}

bool FeatureChain::has(VkStructureType type) {
  return find_copy(type) != nullptr || find_tail(type) != nullptr;
}

void* FeatureChain::add_front(VkStructureType type, std::size_t bytes) {
  auto& memory = storage_.emplace_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
  std::memset(memory.get(), 0, bytes);  // padding of max_align_t is not cleared otherwise
  auto* added = reinterpret_cast<VkBaseOutStructure*>(memory.get());
  added->sType = type;
  added->pNext =
      head_ != nullptr ? head_ : reinterpret_cast<VkBaseOutStructure*>(const_cast<VkBaseInStructure*>(tail_));
  head_ = added;
  if (last_ == nullptr) {
    last_ = added;
  }
  return added;
}

}  // namespace rayreplay::layer
