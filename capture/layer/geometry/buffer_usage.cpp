#include "capture/layer/geometry/buffer_usage.hpp"

#include <cstring>

namespace rayreplay::layer::geometry {
namespace {

// VK_KHR_maintenance5, which the headers we build with may not have yet.
constexpr auto kUsageFlags2 = static_cast<VkStructureType>(1000470006);
struct BufferUsageFlags2CreateInfo {
  VkStructureType type;
  const void* next;
  std::uint64_t usage;
};

constexpr VkBufferUsageFlags kRead = VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR |
                                     VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR |
                                     VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

VkBufferUsageFlags amended(VkBufferUsageFlags usage) {
  return (usage & kRead) != 0 ? usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT : usage;
}

/// Size of a structure that may extend VkBufferCreateInfo; 0: not known here.
std::size_t structure_size(VkStructureType type) {
  switch (static_cast<int>(type)) {
    case VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO:
      return sizeof(VkExternalMemoryBufferCreateInfo);
    case VK_STRUCTURE_TYPE_BUFFER_OPAQUE_CAPTURE_ADDRESS_CREATE_INFO:
      return sizeof(VkBufferOpaqueCaptureAddressCreateInfo);
    case VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_CREATE_INFO_EXT:
      return sizeof(VkBufferDeviceAddressCreateInfoEXT);
    case VK_STRUCTURE_TYPE_DEDICATED_ALLOCATION_BUFFER_CREATE_INFO_NV:
      return sizeof(VkDedicatedAllocationBufferCreateInfoNV);
    case VK_STRUCTURE_TYPE_OPAQUE_CAPTURE_DESCRIPTOR_DATA_CREATE_INFO_EXT:
      return sizeof(VkOpaqueCaptureDescriptorDataCreateInfoEXT);
    case static_cast<int>(kUsageFlags2):
      return sizeof(BufferUsageFlags2CreateInfo);
    default:
      return 0;
  }
}

}  // namespace

AmendedBuffer::AmendedBuffer(const VkBufferCreateInfo& info) : info_(info) {
  const auto* flags2 = static_cast<const VkBaseInStructure*>(info.pNext);
  bool known = true;
  while (flags2 != nullptr && flags2->sType != kUsageFlags2) {
    known = known && structure_size(flags2->sType) != 0;
    flags2 = flags2->pNext;
  }
  if (flags2 == nullptr) {
    usage_ = info_.usage = amended(info.usage);
    return;
  }
  BufferUsageFlags2CreateInfo changed;
  std::memcpy(&changed, flags2, sizeof changed);
  usage_ = static_cast<VkBufferUsageFlags>(changed.usage & 0xFFFF'FFFFU);
  if (!known || amended(usage_) == usage_) {
    return;
  }
  const void** link = &info_.pNext;
  for (const auto* at = static_cast<const VkBaseInStructure*>(info.pNext);; at = at->pNext) {
    const std::size_t size = structure_size(at->sType);
    auto copy = std::make_unique<std::uint64_t[]>((size + 7) / 8);
    std::memcpy(copy.get(), at, size);
    *link = copy.get();
    auto* base = reinterpret_cast<VkBaseInStructure*>(copy.get());
    link = reinterpret_cast<const void**>(&base->pNext);
    copies_.push_back(std::move(copy));
    if (at == flags2) {
      usage_ = amended(usage_);
      changed.usage = (changed.usage & ~std::uint64_t{0xFFFF'FFFFU}) | usage_;
      std::memcpy(copies_.back().get(), &changed, sizeof changed);
      return;
    }
  }
}

}  // namespace rayreplay::layer::geometry
