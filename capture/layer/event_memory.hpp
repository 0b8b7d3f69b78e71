// The device memory that instrumented shaders write to: the control block and the event buffer.
//
// Contract: the first prepare() allocates it; other callers wait, and all get the same answer. It calls no queue
// function, so it may be called while a command buffer is recorded: the first submission with a captured launch empties
// the buffer (Submissions). Only prepare() writes Device::control, events and events_words; they may be read after
// made() or prepare() returned true. Without memory a note says so, and launches run with the application's own
// shaders. Nothing throws. Thread-safe. It must not outlive its device.
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

  /// False: no memory, now and later.
  [[nodiscard]] bool prepare() noexcept;

  [[nodiscard]] bool made() const noexcept {
    return state_.load() == State::Made;
  }
  [[nodiscard]] bool failed() const noexcept {
    return state_.load() == State::Failed;
  }

  /// Words wanted for the event buffer; 0 where no events are recorded.
  [[nodiscard]] std::uint64_t wanted_words() const;

 private:
  enum class State : std::uint8_t { Unmade, Made, Failed };
  void allocate();

  Device& device_;
  std::mutex mutex_;
  std::atomic<State> state_{State::Unmade};
};

}  // namespace rayreplay::layer
