// A copy of the chain of structures in VkDeviceCreateInfo in which features can be enabled.
//
// Contract: the application's memory is never written. Structures of known size are copied in order; at the first
// unknown one copying ends and the chain continues in the application's memory (read-only "tail"). Features of the tail
// cannot be enabled; enable() returns false unless the application enabled them. Vulkan's rules are kept: a feature is
// set in the structure that the application gave (core 1.2 aggregate or the extension's own); only without either is
// one added in front.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <vulkan/vulkan.h>

namespace rayreplay::layer {

class FeatureChain {
 public:
  explicit FeatureChain(const void* chain);
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  [[nodiscard]] const void* head() const;

  /// The structure's writable copy; null if there is none.
  template <typename Struct>
  [[nodiscard]] Struct* find(VkStructureType type) {
    return static_cast<Struct*>(find_copy(type));
  }
  /// In the tail; null if not there.
  [[nodiscard]] const void* find_tail(VkStructureType type) const;

  /// Puts a zeroed structure in front and returns it.
  template <typename Struct>
  Struct* add(VkStructureType type) {
    return static_cast<Struct*>(add_front(type, sizeof(Struct)));
  }

  /// Enables `member` of `Struct`; adds the structure if the chain has none. If the chain has a core version's
  /// aggregate structure with the same feature, use enable_in for that one.
  template <typename Struct>
  bool enable(VkStructureType type, VkBool32 Struct::*member) {
    if (auto* copy = find<Struct>(type)) {
      copy->*member = VK_TRUE;
      return true;
    }
    if (const auto* tail = static_cast<const Struct*>(find_tail(type))) {
      return tail->*member == VK_TRUE;
    }
    add<Struct>(type)->*member = VK_TRUE;
    return true;
  }

  /// Whether the chain holds a structure of this type, writable or not.
  [[nodiscard]] bool has(VkStructureType type);

 private:
  void* find_copy(VkStructureType type);
  void* add_front(VkStructureType type, std::size_t bytes);

  std::vector<std::unique_ptr<std::max_align_t[]>> storage_;
  VkBaseOutStructure* head_ = nullptr;
  VkBaseOutStructure* last_ = nullptr;  // of the copies
  const VkBaseInStructure* tail_ = nullptr;
};

/// Bytes of a structure that may extend VkDeviceCreateInfo; 0 if unknown.
[[nodiscard]] std::size_t device_struct_bytes(VkStructureType type);

}  // namespace rayreplay::layer
