// The device memory that instrumented shaders write to: the control block and the event buffer.
//
// Contract: prepare() makes it when it is first asked for, in the thread that asks, and gives the same answer ever
// after; the others wait. It calls no queue function, so that it may be called while a command buffer is recorded: the
// first submission with a captured launch empties the buffer (Submissions). Device::control, events and events_words
// are written by prepare() alone, and may be read where made() or prepare() was true. If there is no memory, a note
// says so, and launches run with the application's own shaders. Nothing throws. Thread-safe. It must not outlive its
// device.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace rayreplay::layer {

struct Device;

class EventMemory {
 public:
  explicit EventMemory(Device& device) : device_(device) {}
  EventMemory(const EventMemory&) = delete;
  EventMemory& operator=(const EventMemory&) = delete;
  ~EventMemory();

  /// False: there is none, and there will be none.
  [[nodiscard]] bool prepare() noexcept;

  [[nodiscard]] bool made() const noexcept {
    return state_.load() == State::Made;
  }
  [[nodiscard]] bool failed() const noexcept {
    return state_.load() == State::Failed;
  }

  /// Words of the event buffer, if the device has as much memory as is wanted; 0 where no events are recorded.
  [[nodiscard]] std::uint64_t wanted_words() const;

 private:
  enum class State : std::uint8_t { Unmade, Made, Failed };
  void allocate();

  Device& device_;
  std::mutex mutex_;
  std::atomic<State> state_{State::Unmade};
};

}  // namespace rayreplay::layer
