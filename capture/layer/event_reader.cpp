#include "capture/layer/event_reader.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "capture/instrument/probes/record.h"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

constexpr std::uint64_t kPieceWords = std::uint64_t{1} << 22U;  // 16 MiB
constexpr std::uint64_t kMinPieceWords = std::uint64_t{1} << 16U;
constexpr std::uint64_t kPatienceNs = 20'000'000'000;
constexpr std::array<std::uint8_t, RR_KINDS> kFields = {1, 12, 5, 3, 1, 5, 1, 1, 1, 5, 1, 3, 2, 0, 0, 2, 3, 2};
constexpr std::uint64_t kMaxChunkWords = RR_HEADER_WORDS + 3 + RR_MAX_FIELDS * 64;
constexpr std::uint32_t kNoChunk = 0xFFFF'FFFFU;  // kind 31: not the beginning of any chunk

/// Words of the chunk at words[0]; 0 for none. At least RR_HEADER_WORDS words are readable.
std::uint64_t chunk_words(const std::uint32_t* words) {
  const auto kind = words[0] & 31U;
  const auto lanes = (words[2] >> 20U) & 127U;
  if (kind >= RR_KINDS || lanes == 0 || lanes > 64) {
    return 0;
  }
  const std::uint64_t wide = (words[0] & RR_WIDE) != 0 ? 1 : 0;
  const std::uint64_t partial = (words[0] & RR_PARTIAL) != 0 ? 1 + wide : 0;
  const std::uint64_t fields =
      kind == RR_PATH_BYTES || kind == RR_PATH ? 1U + (words[0] >> 24U & 127U) : kFields.at(kind);
  return fields > RR_MAX_FIELDS ? 0 : RR_HEADER_WORDS + wide + partial + fields * lanes;
}

}  // namespace

EventReader::~EventReader() {
  // After a failed wait the device may still use the objects that are destroyed here.
  const bool busy = std::any_of(families_.begin(), families_.end(), [](const auto& family) {
    const auto& lanes = family.second.lanes;
    return std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane.in_flight; });
  });
  if (busy) {
    device_.vk.DeviceWaitIdle(device_.handle);
  }
  for (auto& [index, family] : families_) {
    for (auto& lane : family.lanes) {
      if (lane.fence != VK_NULL_HANDLE) {
        device_.vk.DestroyFence(device_.handle, lane.fence, nullptr);
      }
    }
    if (family.pool != VK_NULL_HANDLE) {
      device_.vk.DestroyCommandPool(device_.handle, family.pool, nullptr);
    }
  }
}

std::uint64_t EventReader::piece_words() const {
  return device_.records ? std::min(kPieceWords, device_.events_words) : kMinPieceWords;
}

EventReader::Family* EventReader::family(std::uint32_t index) {
  if (const auto found = families_.find(index); found != families_.end()) {
    return found->second.whole ? &found->second : nullptr;
  }
  auto& family = families_[index];
  VkCommandPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool_info.queueFamilyIndex = index;
  if (device_.vk.CreateCommandPool(device_.handle, &pool_info, nullptr, &family.pool) != VK_SUCCESS) {
    family.pool = VK_NULL_HANDLE;
    return nullptr;
  }
  bool whole = true;
  for (auto& lane : family.lanes) {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = family.pool;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkFenceCreateInfo fence_info{};
    fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    whole = whole && device_.vk.AllocateCommandBuffers(device_.handle, &info, &lane.commands) == VK_SUCCESS &&
            // The loader does this for the application's command buffers.
            device_.set_loader_data(device_.handle, lane.commands) == VK_SUCCESS &&
            device_.vk.CreateFence(device_.handle, &fence_info, nullptr, &lane.fence) == VK_SUCCESS;
    if (!whole) {
      lane.fence = VK_NULL_HANDLE;
    } else {
      lane.staging = device_.allocate_readback(piece_words() * sizeof(std::uint32_t));
      whole = static_cast<bool>(lane.staging);
    }
  }
  family.whole = whole;
  return whole ? &family : nullptr;
}

bool EventReader::give_up(VkResult result) {
  if (!device_.lost.exchange(true)) {
    note("the device stopped answering while events were read (VkResult " + std::to_string(result) +
         "): recording on it ends here");
  }
  return false;
}

bool EventReader::begin(Lane& lane) {
  if (lane.in_flight && !wait(lane)) {
    return false;
  }
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  const auto result = device_.vk.BeginCommandBuffer(lane.commands, &info);
  return result == VK_SUCCESS || give_up(result);
}

bool EventReader::submit(Queue& queue, Lane& lane) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
  device_.vk.CmdPipelineBarrier(lane.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                                nullptr, 0, nullptr);
  auto result = device_.vk.EndCommandBuffer(lane.commands);
  if (result == VK_SUCCESS) {
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &lane.commands;
    result = device_.vk.QueueSubmit(queue.handle, 1, &info, lane.fence);
    lane.in_flight = result == VK_SUCCESS;
  }
  return result == VK_SUCCESS || give_up(result);
}

bool EventReader::wait(Lane& lane) {
  auto result = device_.vk.WaitForFences(device_.handle, 1, &lane.fence, VK_TRUE, kPatienceNs);
  if (result == VK_SUCCESS) {
    lane.in_flight = false;
    result = device_.vk.ResetFences(device_.handle, 1, &lane.fence);
  }
  return result == VK_SUCCESS || give_up(result);
}

bool EventReader::start_copy(Queue& queue, Lane& lane, std::uint64_t first, std::uint64_t count) {
  if (!begin(lane)) {
    return false;
  }
  const VkBufferCopy copy{first * sizeof(std::uint32_t), lane.staging.offset, count * sizeof(std::uint32_t)};
  device_.vk.CmdCopyBuffer(lane.commands, device_.events.buffer, lane.staging.buffer, 1, &copy);
  return submit(queue, lane);
}

bool EventReader::read(Queue& queue, std::uint64_t first, std::uint64_t count, const Sink& sink) {
  auto* found = family(queue.family);
  if (found == nullptr) {
    note("no memory to read events back with: they are not in the capture");
    return false;
  }
  const auto piece = found->lanes[0].staging.bytes / sizeof(std::uint32_t);
  const auto words_of = [&](std::uint64_t number) { return std::min(piece, count - number * piece); };
  const auto pieces = (count + piece - 1) / piece;
  bool wanted = true;
  if (pieces > 0 && !start_copy(queue, found->lanes[0], first, words_of(0))) {
    return false;
  }
  for (std::uint64_t i = 0; i < pieces; ++i) {
    auto& lane = found->lanes.at(i % 2);
    if (!wait(lane)) {
      return false;
    }
    const bool more = wanted && i + 1 < pieces;
    if (more && !start_copy(queue, found->lanes.at((i + 1) % 2), first + (i + 1) * piece, words_of(i + 1))) {
      return false;
    }
    if (wanted) {
      lane.staging.invalidate();
      wanted = sink(reinterpret_cast<const std::uint32_t*>(lane.staging.data), words_of(i));
    }
    if (!more) {
      break;
    }
  }
  return wanted;
}

std::uint64_t EventReader::whole_chunks(Queue& queue, std::uint64_t first, std::uint64_t end) {
  auto at = first;  // of the next chunk
  bool more = true;
  while (more && end - at >= RR_HEADER_WORDS) {
    // A piece begins at a chunk, so that only its last header may be cut.
    const auto start = at;
    const auto count = std::min(end - start, piece_words());
    const bool good = read(queue, start, count, [&](const std::uint32_t* words, std::uint64_t read_words) {
      while (at - start + RR_HEADER_WORDS <= read_words) {
        const auto size = chunk_words(words + (at - start));
        if (size == 0 || at + size > end) {
          more = false;
          break;
        }
        at += size;
      }
      return true;
    });
    more = more && good && at > start;
  }
  return at - first;
}

bool EventReader::upload(Queue& queue, const DeviceBuffer& to, std::span<const std::uint32_t> words) {
  auto* found = family(queue.family);
  if (found == nullptr) {
    return false;
  }
  auto& lane = found->lanes[0];
  for (std::uint64_t done = 0; done < words.size();) {
    const auto count = std::min<std::uint64_t>(piece_words(), words.size() - done);
    std::memcpy(lane.staging.data, words.data() + done, count * sizeof(std::uint32_t));
    lane.staging.flush();
    if (!begin(lane)) {
      return false;
    }
    const VkBufferCopy copy{lane.staging.offset, done * sizeof(std::uint32_t), count * sizeof(std::uint32_t)};
    device_.vk.CmdCopyBuffer(lane.commands, lane.staging.buffer, to.buffer, 1, &copy);
    if (!submit(queue, lane) || !wait(lane)) {
      return false;
    }
    done += count;
  }
  return true;
}

bool EventReader::reset(Queue& queue) {
  return start_reset(queue) && wait(*resetting_);
}

bool EventReader::is_reset(std::uint64_t timeout_ns) {
  return !resetting_->in_flight ||
         (device_.vk.WaitForFences(device_.handle, 1, &resetting_->fence, VK_TRUE, timeout_ns) == VK_SUCCESS &&
          wait(*resetting_));
}

bool EventReader::start_reset(Queue& queue) {
  auto* found = family(queue.family);
  if (found == nullptr) {
    return false;
  }
  auto& lane = found->lanes[0];
  if (!begin(lane)) {
    return false;
  }
  resetting_ = &lane;
  const auto tail = std::min(kMaxChunkWords, device_.events_words);
  device_.vk.CmdFillBuffer(lane.commands, device_.control.buffer, 0, RR_CONTROL_GATE, 0);
  device_.vk.CmdFillBuffer(lane.commands, device_.events.buffer, (device_.events_words - tail) * sizeof(std::uint32_t),
                           tail * sizeof(std::uint32_t), kNoChunk);
  return submit(queue, lane);
}

}  // namespace rayreplay::layer
