// A device without a driver: geometry's intercepts run against memory of the test, copies happen when they are
// recorded.
//
// One device, one command buffer, at a time. Addresses are those of the test's own memory, so host and device builds
// read the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "capture/layer/geometry/state.hpp"
#include "capture/layer/intercept.hpp"

namespace rayreplay::layer::geometry {

struct FakeBuffer {
  std::vector<std::uint8_t> memory;
  VkBufferUsageFlags usage = 0;
};

class FakeLayer {
 public:
  FakeLayer();
  FakeLayer(const FakeLayer&) = delete;
  FakeLayer& operator=(const FakeLayer&) = delete;
  ~FakeLayer();

  /// The intercepted function of that name, as the application would call it.
  template <class Function>
  Function* call(const char* name) const {
    for (const auto& table : intercepts()) {
      for (const Intercept& intercept : table) {
        if (std::strcmp(intercept.name, name) == 0) {
          return reinterpret_cast<Function*>(intercept.function);
        }
      }
    }
    return nullptr;
  }

  /// A buffer created and bound through the intercepts.
  FakeBuffer& buffer(std::size_t bytes, VkBufferUsageFlags usage = kInput);
  template <class T>
  FakeBuffer& filled(const std::vector<T>& values, VkBufferUsageFlags usage = kInput) {
    FakeBuffer& made = buffer(values.size() * sizeof(T), usage);
    std::memcpy(made.memory.data(), values.data(), made.memory.size());
    return made;
  }
  static VkBuffer handle(FakeBuffer& buffer) {
    return reinterpret_cast<VkBuffer>(&buffer);
  }
  static VkDeviceAddress address(const FakeBuffer& buffer) {
    return reinterpret_cast<VkDeviceAddress>(buffer.memory.data());
  }

  VkAccelerationStructureKHR structure(VkAccelerationStructureTypeKHR type);
  [[nodiscard]] std::shared_ptr<Content> content(VkAccelerationStructureKHR structure);
  /// Submits and completes what was recorded, and starts a new recording.
  void run();

  static constexpr VkBufferUsageFlags kInput =
      VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

  Device device;
  std::shared_ptr<CommandRecording> recording;
  State* state = nullptr;
  VkCommandBuffer commands = VK_NULL_HANDLE;

  std::mutex buffers_mutex;
  std::set<FakeBuffer*> buffers;  ///< alive

  std::vector<std::string> notes;
  bool memory_left = true;            ///< false: no readback memory is given
  VkResult host_result = VK_SUCCESS;  ///< of builds and copies by the host
  std::atomic<int> passed_on{0};      ///< builds and copies that reached the driver
};

/// The one that lives now.
[[nodiscard]] FakeLayer& fake_layer();

}  // namespace rayreplay::layer::geometry
