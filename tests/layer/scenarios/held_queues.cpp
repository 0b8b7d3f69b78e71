#include "submissions.hpp"
#include "world.hpp"

namespace scenario {
namespace {

VkSemaphore make_timeline(const World& world) {
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphore_info{};
  semaphore_info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  semaphore_info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  check(vkCreateSemaphore(world.context.device, &semaphore_info, nullptr, &semaphore), "vkCreateSemaphore");
  return semaphore;
}

/// Submits the world's commands (or none), which wait for a value of the semaphore.
void submit_behind(const World& world, VkSemaphore semaphore, std::uint64_t value, bool with_commands = true) {
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.waitSemaphoreValueCount = 1;
  timeline.pWaitSemaphoreValues = &value;
  const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.waitSemaphoreCount = 1;
  info.pWaitSemaphores = &semaphore;
  info.pWaitDstStageMask = &stage;
  info.commandBufferCount = with_commands ? 1 : 0;
  info.pCommandBuffers = &world.commands;
  check(vkQueueSubmit(world.context.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void signal(const World& world, VkSemaphore semaphore, std::uint64_t value) {
  VkSemaphoreSignalInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
  info.semaphore = semaphore;
  info.value = value;
  check(vkSignalSemaphore(world.context.device, &info), "vkSignalSemaphore");
}

}  // namespace

void twice_pending() {
  World world;
  const VkSemaphore semaphore = make_timeline(world);
  begin(world.commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  for (int turn = 0; turn < 2; ++turn) {
    submit_behind(world, semaphore, 1);
  }
  signal(world, semaphore, 1);
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  vkDestroySemaphore(world.context.device, semaphore, nullptr);
  print(world.triangle.picture());
}

void wait_before_signal() {
  World world;
  const VkSemaphore semaphore = make_timeline(world);
  for (std::uint64_t turn = 1; turn <= 3; ++turn) {
    begin(world.commands);
    world.triangle.trace(world.commands, kWidth, kHeight, 0);
    end(world.commands);
    submit_behind(world, semaphore, turn);
    signal(world, semaphore, turn);
    check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  }
  vkDestroySemaphore(world.context.device, semaphore, nullptr);
  print(world.triangle.picture());
}

void queue_held() {
  World world;
  const VkSemaphore semaphore = make_timeline(world);
  submit_behind(world, semaphore, 1, false);
  begin(world.commands);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &world.commands;
  check(vkQueueSubmit(world.context.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  signal(world, semaphore, 1);
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  vkDestroySemaphore(world.context.device, semaphore, nullptr);
  print(world.triangle.picture());
}

}  // namespace scenario
