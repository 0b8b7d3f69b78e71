// Device memory for counters: each instrumented module of a pipeline has a range of its own.
//
// Contract: `give` never throws device failures at the caller: null without memory. Its content is not set: a launch's
// counts are differences (launch_counts.hpp), and keys of tables have a mark of their own. A range goes back when its
// owner is destroyed, which must be before the memory. Calls no queue function. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "capture/instrument/instrument.hpp"
#include "capture/layer/device/device.hpp"

namespace rayreplay::layer {

class CounterMemory;

/// The counters of one module in one pipeline.
class ModuleCounters {
 public:
  ModuleCounters(CounterMemory& memory, std::shared_ptr<const instrument::Result> twin)
      : memory_(memory), twin_(std::move(twin)) {}
  ModuleCounters(const ModuleCounters&) = delete;
  ModuleCounters& operator=(const ModuleCounters&) = delete;
  ~ModuleCounters();

  [[nodiscard]] const instrument::CounterLayout& layout() const {
    return twin_->counters;
  }
  /// Of the first shader, which names the module.
  [[nodiscard]] std::uint16_t module() const {
    return twin_->entry_points.front().shader;
  }
  /// The mark of the keys in its tables of values; no other counters of this process have it.
  [[nodiscard]] std::uint32_t mark() const {
    return mark_;
  }
  [[nodiscard]] VkDeviceSize bytes() const {
    return layout().bytes();
  }

  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkDeviceAddress address = 0;
  const std::byte* mapped = nullptr;  ///< Kind::Host: the counters as the host sees them

 private:
  friend class CounterMemory;
  CounterMemory& memory_;
  std::shared_ptr<const instrument::Result> twin_;
  std::uint32_t mark_ = 0;
  std::size_t block_ = 0;
};

/// The twin's words, with the counters' address and mark.
[[nodiscard]] std::vector<std::uint32_t> words_with(const instrument::Result& twin, const ModuleCounters& counters);

class CounterMemory {
 public:
  enum class Kind : std::uint8_t {
    Device,  ///< memory of the device
    Host,    ///< mapped and coherent memory, zero when it is given; the host reads it without commands
  };
  explicit CounterMemory(Device& device, Kind kind = Kind::Device) : device_(device), kind_(kind) {}
  CounterMemory(const CounterMemory&) = delete;
  CounterMemory& operator=(const CounterMemory&) = delete;
  ~CounterMemory();

  [[nodiscard]] std::shared_ptr<const ModuleCounters> give(const std::shared_ptr<const instrument::Result>& twin);

 private:
  friend class ModuleCounters;
  struct Block {
    std::size_t number = 0;
    DeviceBuffer buffer;
    std::byte* mapped = nullptr;
    VkDeviceSize used = 0;  ///< from the start; all of it is free again when the last range is
    std::size_t ranges = 0;
  };
  [[nodiscard]] bool allocate(Block& block, VkDeviceSize bytes);
  void take_back(std::size_t block) noexcept;

  Device& device_;
  Kind kind_;
  std::mutex mutex_;
  std::list<Block> blocks_;
  std::size_t next_block_ = 1;
  std::uint32_t next_mark_ = 0x9E37'79B9;  ///< a number that new memory is unlikely to hold
};

}  // namespace rayreplay::layer
