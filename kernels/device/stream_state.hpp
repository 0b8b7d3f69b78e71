// A stream's commands: recorded, submitted, finished. Internal to this folder.
//
// Commands are recorded into frames. A frame is submitted as a whole and retired when the device has finished it: time
// stamps are read, downloads copied out, and its staging chunks freed.
#pragma once

#include <array>
#include <vector>

#include "kernels/device/device_state.hpp"

namespace rayreplay::kernels::detail {

struct Stamp {
  ProgramState* program;
  std::uint64_t groups;
};

struct Arrival {
  const std::byte* from;
  std::byte* to;
  std::size_t bytes;
};

struct Frame {
  static constexpr std::uint32_t kMaxStamps = 128;

  vk::raii::CommandBuffer commands = nullptr;
  vk::raii::QueryPool queries = nullptr;
  std::vector<Stamp> stamps;
  std::vector<Arrival> arrivals;
  std::vector<StagingChunk> chunks;
  std::uint64_t chunk_used = 0;  ///< bytes used in the last chunk
  std::uint64_t value = 0;       ///< of the timeline when it is done; 0: not submitted
  double seconds = 0;            ///< expected
  bool recording = false;
};

/// An upload on the copy queue.
struct Transfer {
  vk::raii::CommandBuffer commands = nullptr;
  StagingChunk chunk;
  std::uint64_t value = 0;
};

struct StreamState {
  explicit StreamState(std::shared_ptr<DeviceState> state);
  ~StreamState();
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;

  void upload(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset, bool beside);
  void download(const Buffer& from, std::span<std::byte> to, std::uint64_t offset);
  void fill(const Buffer& to, std::uint32_t word, std::uint64_t offset, std::uint64_t bytes);
  void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
            std::uint64_t bytes);
  void run(ProgramState& program, std::uint64_t groups, std::span<const std::byte> push);
  void wait();

 private:
  static constexpr std::size_t kFrames = 4;
  static constexpr std::size_t kTransfers = 4;

  /// The current frame, with a barrier after earlier commands.
  Frame& next_command();
  /// As `next_command`, with `bytes` bytes free in the last staging chunk.
  Frame& frame_with_room(std::uint64_t bytes);
  void begin(Frame& frame);
  void submit();
  void retire(Frame& frame);
  void retire_oldest();
  void take_times(Frame& frame);
  void upload_in_order(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset);
  void upload_by_copy_queue(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset);
  void dispatch(ProgramState& program, std::uint64_t first, std::uint64_t groups, std::span<const std::byte> push);
  void wait_for(const vk::raii::Semaphore& semaphore, std::uint64_t value);
  /// Called when all commands of this stream have finished.
  void note_completed();

  std::shared_ptr<DeviceState> state_;
  vk::raii::CommandPool pool_ = nullptr;
  vk::raii::CommandPool transfer_pool_ = nullptr;
  vk::raii::Semaphore timeline_ = nullptr;
  vk::raii::Semaphore transfer_timeline_ = nullptr;
  std::uint64_t value_ = 0, transfer_value_ = 0;
  std::uint64_t transfer_waited_ = 0;  ///< the last transfer that a submission waits for
  std::array<Frame, kFrames> frames_;
  std::size_t current_ = 0;
  std::array<Transfer, kTransfers> transfers_;
  std::size_t transfer_ = 0;
};

}  // namespace rayreplay::kernels::detail
