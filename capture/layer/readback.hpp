// Host-visible memory that the device copies into: readback slots of operations, staging of events.
//
// Contract: allocate() gives `bytes` of a buffer (usage: transfer source and destination), mapped, 256-byte aligned,
// HOST_CACHED where the device has such memory, shared by all queue families. Empty (no buffer) without device memory:
// the caller notes what is missing. Throws without host memory, and then keeps nothing. A HostBuffer releases its bytes
// when destroyed; it must not outlive its device. Thread-safe. Small requests share blocks of memory; a large one has
// its own. Complexity: linear in the free ranges of the blocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <vulkan/vulkan.h>

namespace rayreplay::layer {

struct Device;
class ReadbackPool;

class HostBuffer {
 public:
  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept;
  HostBuffer& operator=(HostBuffer&& other) noexcept;
  ~HostBuffer();

  explicit operator bool() const {
    return buffer != VK_NULL_HANDLE;
  }
  /// Called after the device wrote and before the host reads.
  void invalidate() const;
  /// Called after the host wrote and before the device reads.
  void flush() const;

  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;  ///< of the first byte in `buffer`
  VkDeviceSize bytes = 0;
  std::uint8_t* data = nullptr;

 private:
  friend class ReadbackPool;
  ReadbackPool* pool_ = nullptr;
  std::size_t block_ = 0;
};

class ReadbackPool {
 public:
  explicit ReadbackPool(Device& device) : device_(device) {}
  ReadbackPool(const ReadbackPool&) = delete;
  ReadbackPool& operator=(const ReadbackPool&) = delete;
  ~ReadbackPool();

  [[nodiscard]] HostBuffer allocate(VkDeviceSize bytes);

 private:
  friend class HostBuffer;
  struct Block {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize bytes = 0;
    std::uint8_t* data = nullptr;
    bool coherent = false;
    struct Range {
      VkDeviceSize bytes = 0;
      bool used = false;
    };
    std::map<VkDeviceSize, Range> ranges;  // by offset, all of the block: giving one back takes no memory
  };
  /// The first free range of so many bytes, taken; nothing if the block has none.
  static std::map<VkDeviceSize, Block::Range>::iterator take(Block& block, VkDeviceSize bytes);
  bool make_block(VkDeviceSize bytes, Block& block);
  void destroy_block(Block& block) noexcept;
  void release(HostBuffer& buffer) noexcept;
  void sync(const HostBuffer& buffer, bool to_device);

  Device& device_;
  std::mutex mutex_;
  std::map<std::size_t, Block> blocks_;
  std::size_t next_block_ = 0;
};

}  // namespace rayreplay::layer
