// Submissions that hold launches or builds: chosen, waited for, read back, spooled.
//
// Contract: submit() passes the application's submission on and returns its result. If it holds operations, the device
// is waited for (a minute; two seconds where signals may be late) and the operations are completed in order. Unfinished
// ones stay pending for poll(): at later submissions, waits and presents, and at the end. Thread-safe; one thread at a
// time completes operations of a device. Nothing throws: submissions that cannot be followed for lack of memory are
// passed on and noted.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/commands.hpp"
#include "capture/layer/event_reader.hpp"
#include "capture/layer/launches.hpp"

namespace rayreplay::layer {

struct DeviceBuffer;
struct Queue;

/// The relevant parts of a VkSubmitInfo.
struct Batch {
  std::vector<std::shared_ptr<CommandRecording>> recordings;  ///< those with operations
  bool frame_end = false;
};

class Submissions {
 public:
  /// Submits the application's batches [first, first + count), signalling `fence` at the end. Refers to a callable of
  /// the caller.
  class Pass {
   public:
    template <typename Call>
    Pass(const Call& call)  // NOLINT: as a function would be
        : call_(&call), run_([](const void* to, std::uint32_t first, std::uint32_t count, VkFence fence) {
            return (*static_cast<const Call*>(to))(first, count, fence);
          }) {}
    VkResult operator()(std::uint32_t first, std::uint32_t count, VkFence fence) const {
      return run_(call_, first, count, fence);
    }

   private:
    const void* call_;
    VkResult (*run_)(const void*, std::uint32_t, std::uint32_t, VkFence);
  };

  explicit Submissions(Device& device) : device_(device), reader_(device) {}
  Submissions(const Submissions&) = delete;
  Submissions& operator=(const Submissions&) = delete;
  ~Submissions();

  /// Empties the event buffer for the first time, if it exists; false: the device cannot record.
  bool start();

  /// Fills a buffer of the device, before the application has the device.
  bool upload(const DeviceBuffer& to, std::span<const std::uint32_t> words);

  VkResult submit(Queue& queue, const std::vector<Batch>& batches, VkFence fence, const Pass& pass);

  /// A submission waits for a timeline semaphore that may be signalled later: waits are short from now on.
  void expect_late_signals() {
    late_signals_ = true;
  }

  /// Completes the operations that the device has finished.
  void poll();

  /// As poll(), with a last wait; before the device is destroyed.
  void finish();

 private:
  struct Item {
    std::shared_ptr<Operation> operation;
    std::uint32_t number = 0;  // launches
    bool captured = false;
  };
  struct Submission {
    Queue* queue = nullptr;
    VkFence fence = VK_NULL_HANDLE;
    std::uint32_t frame = 0;
    std::vector<std::shared_ptr<CommandRecording>> recordings;
    std::vector<Item> items;
    bool captures = false;  // holds a captured launch
    bool overlaps = false;  // ran beside another one that records
  };

  VkResult submit_part(Queue& queue, const std::vector<Batch>& batches, std::uint32_t first, std::uint32_t count,
                       VkFence fence, const Pass& pass);
  /// One submission to follow, or none; a list, since moving it to the pending ones must not allocate.
  std::list<Submission> prepare(Queue& queue, const std::vector<Batch>& batches, std::uint32_t first,
                                std::uint32_t count);
  /// Empties the event buffer before the queue's next submission, unless that has been done; false: it failed.
  bool empty_before(Queue& queue);
  void open_gates(const Submission& submission) const;
  /// True if the submission is finished; may wait.
  bool finished(const Submission& submission, std::uint64_t timeout_ns);
  void poll_locked(std::uint64_t timeout_ns);
  [[nodiscard]] std::uint64_t patience_ns() const;
  void complete(Submission& submission);
  void complete_item(const Submission& submission, const Item& item, Drain& drain);
  void complete_launch(const Submission& submission, const Item& item, LaunchOperation& launch, Drain& drain);
  void give_up(VkResult result) noexcept;
  void recycle(Submission& submission) noexcept;

  Device& device_;
  EventReader reader_;
  std::mutex mutex_;
  const Queue* emptied_on_ = nullptr;  // the queue that the event buffer is emptied on for the first time
  std::list<Submission> pending_;
  std::atomic<std::size_t> pending_count_{0};
  std::vector<VkFence> fences_;
  std::atomic<bool> late_signals_{false};
  std::uint64_t patience_ns_ = 0;  // where signals may be late
  bool used_ = false;              // since the event buffer was emptied
};

}  // namespace rayreplay::layer
