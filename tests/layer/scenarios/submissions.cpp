#include "submissions.hpp"

#include <array>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "world.hpp"

namespace scenario {

void many_launches() {
  World world;
  begin(world.commands);
  for (std::uint32_t i = 1; i <= 12; ++i) {
    world.triangle.trace(world.commands, i, kHeight, 0, i);
  }
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

void frames() {
  World world;
  for (std::uint32_t frame = 0; frame < 6; ++frame) {
    begin(world.commands);
    world.triangle.trace(world.commands, kWidth, kHeight, frame * kThreads, 1);
    world.triangle.trace(world.commands, kWidth, kHeight, frame * kThreads, 2);
    end(world.commands);
    world.context.submit_and_wait(world.commands);
  }
  print(world.triangle.picture());
}

void recorded_ahead() {
  World world;
  std::vector<VkCommandBuffer> all;
  for (std::uint32_t i = 0; i < 80; ++i) {
    auto* commands = all.emplace_back(world.context.allocate(world.context.pool));
    begin(commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    world.triangle.trace(commands, kWidth, kHeight, 0, i);
    end(commands);
  }
  for (auto* commands : all) {
    world.context.submit_and_wait(commands);
  }
  print(world.triangle.picture());
}

void resubmitted() {
  World world;
  begin(world.commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  for (int i = 0; i < 3; ++i) {
    world.context.submit_and_wait(world.commands);
  }
  std::array<VkSubmitInfo, 2> infos{};
  for (auto& info : infos) {
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &world.commands;
  }
  check(vkQueueSubmit(world.context.queue, infos.size(), infos.data(), VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  print(world.triangle.picture());
}

void twice_in_a_batch() {
  World world;
  begin(world.commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  const std::array<VkCommandBuffer, 2> both = {world.commands, world.commands};
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.commandBufferCount = both.size();
  info.pCommandBuffers = both.data();
  check(vkQueueSubmit(world.context.queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  check(vkQueueWaitIdle(world.context.queue), "vkQueueWaitIdle");
  print(world.triangle.picture());
}

void submit2() {
  World world;
  begin(world.commands);
  world.triangle.trace(world.commands, kWidth, kHeight, 0);
  end(world.commands);
  VkCommandBufferSubmitInfo commands{};
  commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  commands.commandBuffer = world.commands;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.commandBufferInfoCount = 1;
  info.pCommandBufferInfos = &commands;
  const auto submit =
      reinterpret_cast<PFN_vkQueueSubmit2KHR>(vkGetDeviceProcAddr(world.context.device, "vkQueueSubmit2"));
  VkFenceCreateInfo fence_info{};
  fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
  VkFence fence = VK_NULL_HANDLE;
  check(vkCreateFence(world.context.device, &fence_info, nullptr, &fence), "vkCreateFence");
  check(submit(world.context.queue, 1, &info, fence), "vkQueueSubmit2");
  check(submit(world.context.queue, 0, nullptr, VK_NULL_HANDLE), "vkQueueSubmit2 of nothing");
  check(vkWaitForFences(world.context.device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  vkDestroyFence(world.context.device, fence, nullptr);
  print(world.triangle.picture());
}

void secondary() {
  World world;
  auto* first = world.context.allocate(world.context.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  auto* second = world.context.allocate(world.context.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
  begin_secondary(first);
  world.triangle.trace(first, kWidth, kHeight, 0);
  end(first);
  begin_secondary(second);
  world.triangle.trace(second, 4, 4, kThreads, 3);
  end(second);
  begin(world.commands);
  const std::array<VkCommandBuffer, 2> both = {first, second};
  vkCmdExecuteCommands(world.commands, both.size(), both.data());
  end(world.commands);
  world.context.submit_and_wait(world.commands);
  print(world.triangle.picture());
}

void threads() {
  World world;
  std::mutex queue;
  std::vector<std::thread> workers;
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      auto* pool = world.context.make_pool();
      for (std::uint32_t i = 0; i < 5; ++i) {
        auto* commands = world.context.allocate(pool);
        begin(commands);
        world.triangle.trace(commands, kWidth, kHeight, (worker * 5 + i) * kThreads);
        end(commands);
        VkSubmitInfo info{};
        info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
        info.commandBufferCount = 1;
        info.pCommandBuffers = &commands;
        VkFenceCreateInfo fence_info{};
        fence_info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        VkFence fence = VK_NULL_HANDLE;
        check(vkCreateFence(world.context.device, &fence_info, nullptr, &fence), "vkCreateFence");
        {
          const std::scoped_lock lock(queue);
          check(vkQueueSubmit(world.context.queue, 1, &info, fence), "vkQueueSubmit");
        }
        check(vkWaitForFences(world.context.device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
        vkDestroyFence(world.context.device, fence, nullptr);
        vkFreeCommandBuffers(world.context.device, pool, 1, &commands);
      }
      vkDestroyCommandPool(world.context.device, pool, nullptr);
    });
  }
  for (auto& worker : workers) {
    worker.join();
  }
  print(world.triangle.picture());
}

void devices() {
  auto* instance = make_instance();
  std::array<std::string, 2> pictures;
  std::vector<std::thread> workers;
  for (auto& picture : pictures) {
    workers.emplace_back([&picture, instance] {
      Context context(instance);
      Triangle triangle(context);
      auto* commands = context.allocate(context.pool);
      begin(commands);
      triangle.trace(commands, kWidth, kHeight, 0);
      end(commands);
      context.submit_and_wait(commands);
      picture = triangle.picture();
      triangle.destroy();
      context.destroy();
    });
  }
  for (auto& worker : workers) {
    worker.join();
  }
  vkDestroyInstance(instance, nullptr);
  print(pictures[0]);
  print(pictures[1]);
}

}  // namespace scenario
