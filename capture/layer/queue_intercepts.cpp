#include "capture/layer/queue_intercepts.hpp"

#include <algorithm>

#include "capture/layer/process.hpp"
#include "capture/layer/submissions.hpp"

namespace rayreplay::layer {
namespace {

// Newer than the headers that we build with: VK_EXT_frame_boundary.
constexpr int kFrameBoundaryType = 1000375001;
constexpr std::uint32_t kFrameEnd = 1;
struct FrameBoundary {
  VkStructureType type;
  const void* next;
  std::uint32_t flags;
};

bool ends_frame(const Device& device, const void* chain) {
  if (!device.frame_boundary) {
    return false;
  }
  for (const auto* at = static_cast<const VkBaseInStructure*>(chain); at != nullptr; at = at->pNext) {
    if (static_cast<int>(at->sType) == kFrameBoundaryType) {
      return (reinterpret_cast<const FrameBoundary*>(at)->flags & kFrameEnd) != 0;
    }
  }
  return false;
}

/// Whether a batch waits for a timeline semaphore. A binary one is signalled by what was submitted before.
bool waits_for_timeline(const VkSubmitInfo& info) {
  for (const auto* at = static_cast<const VkBaseInStructure*>(info.pNext); at != nullptr; at = at->pNext) {
    if (at->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) {
      return info.waitSemaphoreCount > 0 &&
             reinterpret_cast<const VkTimelineSemaphoreSubmitInfo*>(at)->waitSemaphoreValueCount > 0;
    }
  }
  return false;
}

bool waits_for_timeline(const VkSubmitInfo2& info) {
  const auto* waits = info.pWaitSemaphoreInfos;
  return std::any_of(waits, waits + info.waitSemaphoreInfoCount, [](const auto& wait) { return wait.value != 0; });
}

/// The relevant parts of the application's submission; empty if there are none.
template <typename Info, typename CommandAt>
std::vector<Batch> batches_of(Device& device, std::uint32_t count, const Info* infos, const CommandAt& command_at) {
  std::vector<Batch> batches(count);
  bool matters = false;
  const std::shared_lock lock(device.recordings_mutex);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto& batch = batches[i];
    batch.frame_end = ends_frame(device, infos[i].pNext);
    if (waits_for_timeline(infos[i])) {
      device.submissions->expect_late_signals();
    }
    const auto add = [&](VkCommandBuffer commands) {
      const auto found = device.recordings.find(commands);
      if (found == device.recordings.end() || !found->second.recording) {
        return;
      }
      if (!found->second.recording->operations.empty()) {
        batch.recordings.push_back(found->second.recording);
      }
    };
    command_at(infos[i], add);
    matters |= !batch.recordings.empty() || batch.frame_end;
  }
  if (!matters) {
    batches.clear();
  }
  return batches;
}

template <typename Info, typename CommandAt, typename Call>
VkResult submit(Device& device, VkQueue handle, std::uint32_t count, const Info* infos, VkFence fence,
                const CommandAt& command_at, const Call& call) {
  auto* queue = device.queue_of(handle);
  if (queue == nullptr) {
    return call(count, infos, fence);
  }
  std::vector<Batch> batches;
  if (!device.lost.load()) {
    attempt("looking at a submission", [&] { batches = batches_of(device, count, infos, command_at); });
  }
  if (batches.empty()) {
    device.submissions->poll();
    const std::scoped_lock lock(queue->mutex);
    return call(count, infos, fence);
  }
  const auto next = [&](std::uint32_t first, std::uint32_t number, VkFence signalled) {
    return call(number, infos + first, signalled);
  };
  return device.submissions->submit(*queue, batches, fence, next);
}

VkResult queue_submit(Device& device, VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos, VkFence fence) {
  return submit(
      device, queue, count, infos, fence,
      [](const VkSubmitInfo& info, const auto& add) {
        for (std::uint32_t i = 0; i < info.commandBufferCount; ++i) {
          add(info.pCommandBuffers[i]);
        }
      },
      [&](std::uint32_t number, const VkSubmitInfo* some, VkFence signalled) {
        return device.vk.QueueSubmit(queue, number, some, signalled);
      });
}

VkResult queue_submit2(Device& device, VkQueue queue, std::uint32_t count, const VkSubmitInfo2* infos, VkFence fence) {
  return submit(
      device, queue, count, infos, fence,
      [](const VkSubmitInfo2& info, const auto& add) {
        for (std::uint32_t i = 0; i < info.commandBufferInfoCount; ++i) {
          add(info.pCommandBufferInfos[i].commandBuffer);
        }
      },
      [&](std::uint32_t number, const VkSubmitInfo2* some, VkFence signalled) {
        return device.vk.QueueSubmit2(queue, number, some, signalled);
      });
}

/// A call on a queue, serialised with the layer's own.
template <typename Call>
VkResult on_queue(Device& device, VkQueue handle, const Call& call) {
  auto* queue = device.queue_of(handle);
  if (queue == nullptr) {
    return call();
  }
  const std::scoped_lock lock(queue->mutex);
  return call();
}

/// Called when the application learns that something has finished.
void look_again(Device& device) {
  if (device.submissions) {
    device.submissions->poll();
  }
}

VkResult queue_bind_sparse(Device& device, VkQueue queue, std::uint32_t count, const VkBindSparseInfo* infos,
                           VkFence fence) {
  return on_queue(device, queue, [&] { return device.vk.QueueBindSparse(queue, count, infos, fence); });
}

VkResult queue_present(Device& device, VkQueue queue, const VkPresentInfoKHR* info) {
  const auto result = on_queue(device, queue, [&] { return device.vk.QueuePresentKHR(queue, info); });
  ++device.frame;
  look_again(device);
  return result;
}

VkResult queue_wait_idle(Device& device, VkQueue queue) {
  const auto result = on_queue(device, queue, [&] { return device.vk.QueueWaitIdle(queue); });
  look_again(device);
  return result;
}

VkResult device_wait_idle(Device& device, VkDevice handle) {
  VkResult result = VK_SUCCESS;
  {
    std::vector<std::unique_lock<std::mutex>> locks;
    attempt("taking the queues", [&] {
      locks.reserve(device.queues.size());
      for (const auto& queue : device.queues) {
        locks.emplace_back(queue->mutex);
      }
    });
    result = device.vk.DeviceWaitIdle(handle);
  }
  look_again(device);
  return result;
}

VkResult wait_for_fences(Device& device, VkDevice handle, std::uint32_t count, const VkFence* fences, VkBool32 all,
                         std::uint64_t timeout) {
  const auto result = device.vk.WaitForFences(handle, count, fences, all, timeout);
  look_again(device);
  return result;
}

VkResult get_fence_status(Device& device, VkDevice handle, VkFence fence) {
  const auto result = device.vk.GetFenceStatus(handle, fence);
  if (result == VK_SUCCESS) {
    look_again(device);
  }
  return result;
}

VkResult wait_semaphores(Device& device, VkDevice handle, const VkSemaphoreWaitInfo* info, std::uint64_t timeout) {
  const auto result = device.vk.WaitSemaphores(handle, info, timeout);
  look_again(device);
  return result;
}

}  // namespace

std::span<const Intercept> queue_intercepts() {
  static const Intercept table[] = {
      intercept<queue_submit, &DeviceDispatch::QueueSubmit>("vkQueueSubmit"),
      intercept<queue_submit2, &DeviceDispatch::QueueSubmit2>("vkQueueSubmit2"),
      intercept<queue_submit2, &DeviceDispatch::QueueSubmit2>("vkQueueSubmit2KHR"),
      intercept<queue_bind_sparse, &DeviceDispatch::QueueBindSparse>("vkQueueBindSparse"),
      intercept<queue_present, &DeviceDispatch::QueuePresentKHR>("vkQueuePresentKHR"),
      intercept<queue_wait_idle, &DeviceDispatch::QueueWaitIdle>("vkQueueWaitIdle"),
      intercept<device_wait_idle, &DeviceDispatch::DeviceWaitIdle>("vkDeviceWaitIdle"),
      intercept<wait_for_fences, &DeviceDispatch::WaitForFences>("vkWaitForFences"),
      intercept<get_fence_status, &DeviceDispatch::GetFenceStatus>("vkGetFenceStatus"),
      intercept<wait_semaphores, &DeviceDispatch::WaitSemaphores>("vkWaitSemaphores"),
      intercept<wait_semaphores, &DeviceDispatch::WaitSemaphores>("vkWaitSemaphoresKHR"),
  };
  return table;
}

}  // namespace rayreplay::layer
