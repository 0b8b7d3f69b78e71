#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "kernels/device/stream_state.hpp"

namespace rayreplay::kernels {
namespace detail {
namespace {

/// Smaller uploads are not worth a transfer of their own.
constexpr std::uint64_t kSmallUpload = std::uint64_t{256} << 10U;
constexpr std::uint64_t kAlignment = 16;
/// Marks a chunk as full.
constexpr std::uint64_t kFull = StagingChunk::kBytes;

void copy_parallel(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kGrain = std::size_t{1} << 20U;
  if (bytes <= kGrain) {
    std::memcpy(to, from, bytes);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, bytes, kGrain),
                    [&](const auto& range) { std::memcpy(to + range.begin(), from + range.begin(), range.size()); });
}

/// Groups of a program's first launch, which measures the cost of a group.
std::uint64_t probe_groups(const DeviceInfo& info) {
  return info.type == DeviceType::Cpu ? 64 : 4096;
}

void require_inside(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes, const char* what) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
    throw Error(ErrorKind::Internal,
                {fmt::format("{} exceeds its buffer", what), "kernels::Stream",
                 fmt::format("bytes {} to {}", offset, offset + bytes), fmt::format("at most {}", buffer.bytes()), ""});
  }
}

}  // namespace

StreamState::StreamState(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {
  state_->require_alive();
  if (!state_->streams.empty()) {
    // Pooled memory may be in use by commands of another stream.
    state_->empty_pool();
  }
  state_->guard("opening a stream", [&] {
    const vk::raii::Device& device = state_->device;
    vk::CommandPoolCreateInfo pool_info;
    pool_info.flags = vk::CommandPoolCreateFlagBits::eResetCommandBuffer;
    pool_info.queueFamilyIndex = *state_->facts.compute_family;
    pool_ = vk::raii::CommandPool(device, pool_info);
    vk::StructureChain<vk::SemaphoreCreateInfo, vk::SemaphoreTypeCreateInfo> semaphore_info;
    semaphore_info.get<vk::SemaphoreTypeCreateInfo>().semaphoreType = vk::SemaphoreType::eTimeline;
    timeline_ = vk::raii::Semaphore(device, semaphore_info.get<vk::SemaphoreCreateInfo>());
    vk::CommandBufferAllocateInfo buffers_info;
    buffers_info.commandPool = *pool_;
    buffers_info.level = vk::CommandBufferLevel::ePrimary;
    buffers_info.commandBufferCount = kFrames;
    vk::raii::CommandBuffers buffers(device, buffers_info);
    vk::QueryPoolCreateInfo query_info;
    query_info.queryType = vk::QueryType::eTimestamp;
    query_info.queryCount = 2 * Frame::kMaxStamps;
    for (std::size_t i = 0; i < kFrames; ++i) {
      frames_[i].commands = std::move(buffers[i]);
      frames_[i].queries = vk::raii::QueryPool(device, query_info);
    }
    if (state_->facts.transfer_family) {
      pool_info.queueFamilyIndex = *state_->facts.transfer_family;
      transfer_pool_ = vk::raii::CommandPool(device, pool_info);
      transfer_timeline_ = vk::raii::Semaphore(device, semaphore_info.get<vk::SemaphoreCreateInfo>());
      buffers_info.commandPool = *transfer_pool_;
      buffers_info.commandBufferCount = kTransfers;
      vk::raii::CommandBuffers transfer_buffers(device, buffers_info);
      for (std::size_t i = 0; i < kTransfers; ++i) {
        transfers_[i].commands = std::move(transfer_buffers[i]);
      }
    }
  });
  state_->streams.insert(this);
}

StreamState::~StreamState() {
  try {
    // Recorded commands run even if their caller failed: other code may rely on them, as on an uploaded column that
    // stays. Their memory must not be reused before.
    if (!state_->lost) {
      submit();
    }
    state_->device.waitIdle();
  } catch (const std::exception&) {
    state_->lost = true;
  }
  state_->streams.erase(this);
  for (Frame& frame : frames_) {
    std::move(frame.chunks.begin(), frame.chunks.end(), std::back_inserter(state_->free_chunks));
  }
  for (Transfer& transfer : transfers_) {
    if (transfer.value != 0) {
      state_->free_chunks.push_back(std::move(transfer.chunk));
    }
  }
  note_completed();
}

void StreamState::note_completed() {
  if (state_->streams.size() <= 1) {  // another stream's commands may still run
    state_->completed = state_->recorded;
  }
}

void StreamState::wait_for(const vk::raii::Semaphore& semaphore, std::uint64_t value) {
  state_->require_alive();
  state_->guard("running a kernel", [&] {
    vk::SemaphoreWaitInfo info;
    const vk::Semaphore handle = *semaphore;
    info.setSemaphores(handle);
    info.setValues(value);
    if (state_->device.waitSemaphores(info, ~std::uint64_t{0}) != vk::Result::eSuccess) {
      state_->lost = true;
      throw DeviceError(Fault::Lost, {"the device did not finish", state_->facts.info.name, "", "", ""});
    }
  });
}

void StreamState::begin(Frame& frame) {
  if (frame.value != 0) {
    retire(frame);
  }
  vk::CommandBufferBeginInfo info;
  info.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit;
  frame.commands.reset();
  frame.commands.begin(info);
  if (state_->facts.has_timestamps) {
    frame.commands.resetQueryPool(*frame.queries, 0, 2 * Frame::kMaxStamps);
  }
  frame.recording = true;
}

Frame& StreamState::next_command() {
  state_->require_alive();
  Frame& frame = frames_[current_];
  if (!frame.recording) {
    state_->guard_commands([&] { begin(frame); });
  }
  using Stage = vk::PipelineStageFlagBits;
  using Access = vk::AccessFlagBits;
  vk::MemoryBarrier barrier;
  barrier.srcAccessMask = Access::eShaderWrite | Access::eTransferWrite;
  barrier.dstAccessMask = Access::eShaderRead | Access::eShaderWrite | Access::eTransferRead | Access::eTransferWrite;
  frame.commands.pipelineBarrier(Stage::eComputeShader | Stage::eTransfer, Stage::eComputeShader | Stage::eTransfer, {},
                                 barrier, {}, {});
  ++state_->recorded;
  return frame;
}

void StreamState::submit() {
  Frame& frame = frames_[current_];
  if (!frame.recording) {
    return;
  }
  frame.recording = false;
  state_->guard_commands([&] {
    if (!frame.arrivals.empty()) {
      vk::MemoryBarrier barrier;
      barrier.srcAccessMask = vk::AccessFlagBits::eTransferWrite;
      barrier.dstAccessMask = vk::AccessFlagBits::eHostRead;
      frame.commands.pipelineBarrier(vk::PipelineStageFlagBits::eTransfer, vk::PipelineStageFlagBits::eHost, {},
                                     barrier, {}, {});
    }
    frame.commands.end();
  });
  const std::uint64_t done = value_ + 1;
  vk::StructureChain<vk::SubmitInfo, vk::TimelineSemaphoreSubmitInfo> chain;
  auto& info = chain.get<vk::SubmitInfo>();
  auto& values = chain.get<vk::TimelineSemaphoreSubmitInfo>();
  const vk::CommandBuffer commands = *frame.commands;
  const vk::Semaphore signal = *timeline_;
  info.setCommandBuffers(commands);
  info.setSignalSemaphores(signal);
  values.setSignalSemaphoreValues(done);
  const bool waits = transfer_value_ > transfer_waited_;
  const vk::Semaphore transfer = waits ? *transfer_timeline_ : vk::Semaphore();
  const vk::PipelineStageFlags stages = vk::PipelineStageFlagBits::eAllCommands;
  if (waits) {
    info.setWaitSemaphores(transfer);
    info.setWaitDstStageMask(stages);
    values.setWaitSemaphoreValues(transfer_value_);
  }
  state_->submit(state_->compute_queue, info);
  transfer_waited_ = transfer_value_;
  value_ = done;
  frame.value = done;
  current_ = (current_ + 1) % kFrames;
  frames_[current_].seconds = 0;
}

void StreamState::take_times(Frame& frame) {
  if (frame.stamps.empty() || !state_->facts.has_timestamps) {
    return;
  }
  const auto [result, ticks] = frame.queries.getResults<std::uint64_t>(
      0, static_cast<std::uint32_t>(2 * frame.stamps.size()), 2 * frame.stamps.size() * sizeof(std::uint64_t),
      sizeof(std::uint64_t), vk::QueryResultFlagBits::e64 | vk::QueryResultFlagBits::eWait);
  if (result != vk::Result::eSuccess) {
    return;
  }
  constexpr double kNano = 1e-9;
  for (std::size_t i = 0; i < frame.stamps.size(); ++i) {
    const Stamp& stamp = frame.stamps[i];
    const std::uint64_t span = std::max(ticks[2 * i + 1], ticks[2 * i]) - ticks[2 * i];
    const double seconds = static_cast<double>(span) * state_->facts.timestamp_ns * kNano;
    ProgramTime& time = state_->times[stamp.program->name];
    ++time.launches;
    time.seconds += seconds;
    // The most expensive recent launch: short slices cost little, long ones end in a watchdog.
    constexpr double kForget = 0.9;
    stamp.program->seconds_per_group =
        std::max(kForget * stamp.program->seconds_per_group, seconds / static_cast<double>(stamp.groups));
  }
}

void StreamState::retire(Frame& frame) {
  if (frame.value == 0) {
    return;
  }
  wait_for(timeline_, frame.value);
  frame.value = 0;
  state_->guard("reading its clock", [&] { take_times(frame); });
  frame.stamps.clear();
  for (const Arrival& arrival : frame.arrivals) {
    copy_parallel(arrival.to, arrival.from, arrival.bytes);
  }
  frame.arrivals.clear();
  std::move(frame.chunks.begin(), frame.chunks.end(), std::back_inserter(state_->free_chunks));
  frame.chunks.clear();
  frame.chunk_used = 0;
}

void StreamState::retire_oldest() {
  for (std::size_t i = 1; i <= kFrames; ++i) {
    Frame& frame = frames_[(current_ + i) % kFrames];
    if (frame.value != 0) {
      retire(frame);
      return;
    }
  }
}

void StreamState::wait() {
  submit();
  for (std::size_t i = 0; i < kFrames; ++i) {
    retire(frames_[(current_ + i) % kFrames]);
  }
  for (Transfer& transfer : transfers_) {
    if (transfer.value != 0) {
      wait_for(transfer_timeline_, transfer.value);
      state_->free_chunks.push_back(std::move(transfer.chunk));
      transfer.value = 0;
    }
  }
  note_completed();
}

void finish(StreamState& stream) {
  stream.wait();
}

void StreamState::upload(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset, bool beside) {
  require_inside(to, offset, bytes.size(), "an upload");
  if (bytes.empty()) {
    return;
  }
  const BufferState& buffer = *to.state_;
  // Reused memory may still be in use by its previous owner's commands.
  const bool idle = buffer.allocation.busy_until <= state_->completed;
  const bool untouched = beside || buffer.recorded_before == state_->recorded;
  if (state_->facts.transfer_family && bytes.size() > kSmallUpload && idle && untouched) {
    upload_by_copy_queue(to, bytes, offset);
  } else {
    upload_in_order(to, bytes, offset);
  }
}

Frame& StreamState::frame_with_room(std::uint64_t bytes) {
  const Frame& current = frames_[current_];
  const bool fits = current.recording && !current.chunks.empty() && bytes <= StagingChunk::kBytes - current.chunk_used;
  if (fits) {
    return next_command();
  }
  // Chunk first: if memory is short, getting it submits the recorded commands and starts another frame.
  StagingChunk chunk = state_->take_chunk();
  Frame& frame = next_command();
  frame.chunks.push_back(std::move(chunk));
  frame.chunk_used = 0;
  return frame;
}

void StreamState::upload_in_order(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const bool small = bytes.size() <= kSmallUpload;
    Frame& frame = frame_with_room(small ? bytes.size() : StagingChunk::kBytes);
    const StagingChunk& chunk = frame.chunks.back();
    const std::size_t size = std::min<std::size_t>(bytes.size(), StagingChunk::kBytes - frame.chunk_used);
    copy_parallel(chunk.mapped + frame.chunk_used, bytes.data(), size);
    const vk::BufferCopy region{frame.chunk_used, offset, size};
    frame.commands.copyBuffer(*chunk.buffer, *to.state_->allocation.buffer, region);
    frame.chunk_used = small ? (frame.chunk_used + size + kAlignment - 1) / kAlignment * kAlignment : kFull;
    bytes = bytes.subspan(size);
    offset += size;
    if (!bytes.empty()) {
      submit();
    }
  }
}

void StreamState::upload_by_copy_queue(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    Transfer& transfer = transfers_[transfer_];
    transfer_ = (transfer_ + 1) % kTransfers;
    if (transfer.value != 0) {
      wait_for(transfer_timeline_, transfer.value);
    } else {
      transfer.chunk = state_->take_chunk();
    }
    const std::size_t size = std::min<std::size_t>(bytes.size(), StagingChunk::kBytes);
    copy_parallel(transfer.chunk.mapped, bytes.data(), size);
    state_->guard_commands([&] {
      vk::CommandBufferBeginInfo begin_info;
      begin_info.flags = vk::CommandBufferUsageFlagBits::eOneTimeSubmit;
      transfer.commands.reset();
      transfer.commands.begin(begin_info);
      transfer.commands.copyBuffer(*transfer.chunk.buffer, *to.state_->allocation.buffer,
                                   vk::BufferCopy{0, offset, size});
      transfer.commands.end();
    });
    transfer.value = transfer_value_ + 1;
    vk::StructureChain<vk::SubmitInfo, vk::TimelineSemaphoreSubmitInfo> chain;
    const vk::CommandBuffer commands = *transfer.commands;
    const vk::Semaphore signal = *transfer_timeline_;
    chain.get<vk::SubmitInfo>().setCommandBuffers(commands);
    chain.get<vk::SubmitInfo>().setSignalSemaphores(signal);
    chain.get<vk::TimelineSemaphoreSubmitInfo>().setSignalSemaphoreValues(transfer.value);
    state_->submit(state_->transfer_queue, chain.get<vk::SubmitInfo>());
    transfer_value_ = transfer.value;
    bytes = bytes.subspan(size);
    offset += size;
  }
}

void StreamState::download(const Buffer& from, std::span<std::byte> to, std::uint64_t offset) {
  require_inside(from, offset, to.size(), "a download");
  constexpr std::size_t kMaxChunks = 2;  // per frame, so that copying out overlaps the next frames' copies
  while (!to.empty()) {
    const bool small = to.size() <= kSmallUpload;
    Frame& frame = frame_with_room(small ? to.size() : StagingChunk::kBytes);
    const StagingChunk& chunk = frame.chunks.back();
    const std::size_t size = std::min<std::size_t>(to.size(), StagingChunk::kBytes - frame.chunk_used);
    frame.commands.copyBuffer(*from.state_->allocation.buffer, *chunk.buffer,
                              vk::BufferCopy{offset, frame.chunk_used, size});
    frame.arrivals.push_back({chunk.mapped + frame.chunk_used, to.data(), size});
    frame.chunk_used = small ? (frame.chunk_used + size + kAlignment - 1) / kAlignment * kAlignment : kFull;
    to = to.subspan(size);
    offset += size;
    if (frame.chunks.size() >= kMaxChunks) {
      submit();
    }
  }
}

void StreamState::fill(const Buffer& to, std::uint32_t word, std::uint64_t offset, std::uint64_t bytes) {
  constexpr std::uint64_t kWord = 4;
  bytes = bytes / kWord * kWord;
  require_inside(to, offset, bytes, "a fill");
  if (bytes > 0) {
    next_command().commands.fillBuffer(*to.state_->allocation.buffer, offset, bytes, word);
  }
}

void StreamState::copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
                       std::uint64_t bytes) {
  require_inside(from, from_offset, bytes, "a copy");
  require_inside(to, to_offset, bytes, "a copy");
  if (bytes > 0) {
    next_command().commands.copyBuffer(*from.state_->allocation.buffer, *to.state_->allocation.buffer,
                                       vk::BufferCopy{from_offset, to_offset, bytes});
  }
}

void StreamState::dispatch(ProgramState& program, std::uint64_t first, std::uint64_t groups,
                           std::span<const std::byte> push) {
  Frame& frame = next_command();
  std::array<std::byte, Stream::kMaxPushBytes> bytes{};
  std::copy(push.begin(), push.end(), bytes.begin());
  const auto first_group = static_cast<std::uint32_t>(first);
  std::memcpy(bytes.data(), &first_group, sizeof(first_group));
  frame.commands.bindPipeline(vk::PipelineBindPoint::eCompute, *program.pipeline);
  frame.commands.pushConstants<std::byte>(
      *state_->layout, vk::ShaderStageFlagBits::eCompute, 0,
      vk::ArrayProxy<const std::byte>(static_cast<std::uint32_t>(push.size()), bytes.data()));
  const auto query = static_cast<std::uint32_t>(2 * frame.stamps.size());
  if (state_->facts.has_timestamps) {
    frame.commands.writeTimestamp(vk::PipelineStageFlagBits::eBottomOfPipe, *frame.queries, query);
  }
  frame.commands.dispatch(static_cast<std::uint32_t>(groups), 1, 1);
  if (state_->facts.has_timestamps) {
    frame.commands.writeTimestamp(vk::PipelineStageFlagBits::eBottomOfPipe, *frame.queries, query + 1);
  }
  frame.stamps.push_back({&program, groups});
  frame.seconds += static_cast<double>(groups) * program.seconds_per_group;
  if (frame.stamps.size() == Frame::kMaxStamps || frame.seconds > state_->options.batch_seconds) {
    submit();
  }
}

void StreamState::run(ProgramState& program, std::uint64_t groups, std::span<const std::byte> push) {
  constexpr std::uint64_t kMaxGroups = std::uint64_t{1} << 32U;
  if (groups > kMaxGroups) {
    throw Error(ErrorKind::Internal, {"a launch has too many workgroups", program.name, std::to_string(groups),
                                      std::to_string(kMaxGroups), ""});
  }
  for (std::uint64_t first = 0; first < groups;) {
    std::uint64_t slice = std::min<std::uint64_t>(groups - first, state_->facts.most_groups);
    // Without a clock every slice is a probe.
    const bool known = program.seconds_per_group > 0;
    if (!known) {
      slice = std::min(slice, probe_groups(state_->facts.info));
    } else {
      const double fitting = state_->options.batch_seconds / program.seconds_per_group;
      slice = std::min(slice, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::min(fitting, 4e9))));
    }
    dispatch(program, first, slice, push);
    first += slice;
    if (!known && first < groups) {
      wait();
    }
  }
}

}  // namespace detail

Stream::Stream(Device& device) : state_(std::make_unique<detail::StreamState>(device.state_)) {}
Stream::~Stream() = default;

void Stream::upload(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset) {
  state_->upload(to, bytes, offset, false);
}
void Stream::upload_beside(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset) {
  state_->upload(to, bytes, offset, true);
}
void Stream::download(const Buffer& from, std::span<std::byte> to, std::uint64_t offset) {
  state_->download(from, to, offset);
}
void Stream::fill(const Buffer& to, std::uint32_t word, std::uint64_t offset, std::uint64_t bytes) {
  state_->fill(to, word, offset, bytes);
}
void Stream::copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
                  std::uint64_t bytes) {
  state_->copy(from, from_offset, to, to_offset, bytes);
}
void Stream::run_bytes(const Program& program, std::uint64_t groups, std::span<const std::byte> push) {
  state_->run(*program.state_, groups, push);
}
void Stream::wait() {
  state_->wait();
}

}  // namespace rayreplay::kernels
