// The buffer at a device address.
//
// Contract: buffers are added with handle, size and device address (if known) and removed when destroyed. `find` names
// a live buffer that holds `address`, and the bytes from there to its end; of several (aliased memory) the one with
// most bytes left. Addresses and sizes are untrusted: no arithmetic on them overflows. Not thread-safe: its owner
// locks. Complexity: add, remove O(log n); find O(log n + a), a the number of buffers that begin less than the largest
// size below the address (few, unless buffers are aliased).
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace rayreplay::layer::geometry {

class AddressMap {
 public:
  struct Buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    std::uint64_t size = 0;
    VkBufferUsageFlags usage = 0;
    std::uint64_t address = 0;  ///< 0: unknown
    bool readable = false;      ///< created with TRANSFER_SRC (by us or by the application)
  };
  struct Place {
    VkBuffer buffer = VK_NULL_HANDLE;
    std::uint64_t offset = 0;     ///< of the address in the buffer
    std::uint64_t available = 0;  ///< bytes from there to its end
    bool readable = false;
  };

  /// Replaces a buffer of the same handle (whose destruction was not seen).
  void add(const Buffer& buffer);
  /// The address of a known buffer; others are ignored.
  void set_address(VkBuffer buffer, std::uint64_t address);
  void remove(VkBuffer buffer);

  [[nodiscard]] const Buffer* get(VkBuffer buffer) const;
  [[nodiscard]] std::optional<Place> find(std::uint64_t address) const;

 private:
  void forget_address(const Buffer& buffer);

  std::unordered_map<VkBuffer, Buffer> buffers_;
  std::multimap<std::uint64_t, VkBuffer> by_address_;
  std::map<std::uint64_t, std::size_t> sizes_;  ///< of those in by_address_, with their numbers
};

}  // namespace rayreplay::layer::geometry
