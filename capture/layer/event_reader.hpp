// Reading the event buffer back, and emptying it.
//
// Contract: uses small command buffers of its own on a queue of the device. The caller serialises calls, holds the
// queue's mutex, and the device has finished writing events. Every wait ends: after kPatience the device is given up
// (Device::lost, noted). A piece is copied to cached host memory while the previous one is processed. Linear in the
// words.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>

#include <vulkan/vulkan.h>

#include "capture/layer/readback.hpp"

namespace rayreplay::layer {

struct Device;
struct DeviceBuffer;
struct Queue;

class EventReader {
 public:
  /// Receives a piece; false ends the reading.
  using Sink = std::function<bool(const std::uint32_t* words, std::uint64_t count)>;

  explicit EventReader(Device& device) : device_(device) {}
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;
  ~EventReader();

  /// Words [first, first + count) in order; false if the device failed or `sink` ended it.
  bool read(Queue& queue, std::uint64_t first, std::uint64_t count, const Sink& sink);

  /// The whole chunks from `first` to `end`, in words: after an overflow the buffer ends with an unwritten one.
  std::uint64_t whole_chunks(Queue& queue, std::uint64_t first, std::uint64_t end);

  /// Sets the counters to 0, and words where an unwritten chunk may lie to a value that begins no chunk.
  bool reset(Queue& queue);

  /// The same without a wait: the device does it before later submissions to `queue`.
  bool start_reset(Queue& queue);
  /// After start_reset(): whether the device finished it within the time.
  bool is_reset(std::uint64_t timeout_ns);

  /// Fills a buffer of the device.
  bool upload(Queue& queue, const DeviceBuffer& to, std::span<const std::uint32_t> words);

 private:
  struct Lane {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    HostBuffer staging;
    bool in_flight = false;  ///< submitted, and not seen to finish
  };
  struct Family {
    bool whole = false;  ///< all its objects could be created
    VkCommandPool pool = VK_NULL_HANDLE;
    std::array<Lane, 2> lanes;
  };

  [[nodiscard]] std::uint64_t piece_words() const;
  Family* family(std::uint32_t index);
  bool start_copy(Queue& queue, Lane& lane, std::uint64_t first, std::uint64_t count);
  bool begin(Lane& lane);  ///< waits for what the lane still does
  bool submit(Queue& queue, Lane& lane);
  bool wait(Lane& lane);
  bool give_up(VkResult result);

  Device& device_;
  std::map<std::uint32_t, Family> families_;
  Lane* resetting_ = nullptr;  // of the last start_reset()
};

}  // namespace rayreplay::layer
