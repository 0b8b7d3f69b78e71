#include "capture/layer/commands.hpp"

#include "capture/layer/device/device.hpp"

namespace rayreplay::layer {

void CommandRecording::add(std::shared_ptr<Operation> operation) {
  operations.push_back(std::move(operation));
}

void full_barrier(CommandRecording& recording) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  recording.device.vk.CmdPipelineBarrier(recording.handle, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                                         &barrier, 0, nullptr, 0, nullptr);
}

CommandRecording* recording_of(Device& device, VkCommandBuffer commands) {
  const std::shared_lock lock(device.recordings_mutex);
  const auto found = device.recordings.find(commands);
  return found == device.recordings.end() ? nullptr : found->second.recording.get();
}

}  // namespace rayreplay::layer
