#include "capture/apps/framework/frames.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "capture/apps/framework/params.hpp"
#include "capture/apps/framework/result.hpp"

namespace rayreplay::apps {
namespace {

/// Two timestamps for each launch of a frame.
class Timestamps {
 public:
  Timestamps(const Device& device, std::uint32_t launches) : device_(&device), count_(launches * 2) {
    VkQueryPoolCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = count_;
    require_success(vkCreateQueryPool(device.handle(), &info, nullptr, &pool_), "vkCreateQueryPool");
  }
  ~Timestamps() {
    vkDestroyQueryPool(device_->handle(), pool_, nullptr);
  }
  Timestamps(const Timestamps&) = delete;
  Timestamps& operator=(const Timestamps&) = delete;

  void reset(VkCommandBuffer commands) const {
    vkCmdResetQueryPool(commands, pool_, 0, count_);
  }
  void start(VkCommandBuffer commands, std::uint32_t launch) const {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool_, launch * 2);
  }
  void stop(VkCommandBuffer commands, std::uint32_t launch) const {
    vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, pool_, launch * 2 + 1);
  }
  /// After the frame.
  void read(std::uint32_t frame, std::vector<LaunchTime>& times) const {
    std::vector<std::uint64_t> ticks(count_);
    require_success(
        vkGetQueryPoolResults(device_->handle(), pool_, 0, count_, count_ * sizeof(std::uint64_t), ticks.data(),
                              sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
        "vkGetQueryPoolResults");
    for (std::uint32_t launch = 0; launch < count_ / 2; ++launch) {
      const auto passed = static_cast<double>(ticks[launch * 2 + 1] - ticks[launch * 2]);
      times.push_back({frame, launch, passed * static_cast<double>(device_->limits().timestamp_ns) * 1e-6});
    }
  }

 private:
  const Device* device_;
  std::uint32_t count_;
  VkQueryPool pool_ = VK_NULL_HANDLE;
};

void launch_barrier(VkCommandBuffer commands) {
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR,
                       VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

std::vector<LaunchTime> render_frames(const Device& device, const Options& options, const FrameWork& work) {
  std::vector<LaunchTime> times;
  const Timestamps timestamps(device, options.launches);
  for (std::uint32_t number = 0; number < options.warm_up + options.frames; ++number) {
    const bool warm = number >= options.warm_up;
    const std::uint32_t frame = warm ? number - options.warm_up : 0;
    const bool timed = options.time && warm;
    device.submit([&](VkCommandBuffer commands) {
      if (timed) {
        timestamps.reset(commands);
      }
      if (work.before) {
        work.before(commands, frame);
      }
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, work.pipeline->handle());
      VkDescriptorSet set = work.descriptors->handle();
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, work.pipeline->layout(), 0, 1, &set, 0,
                              nullptr);
      for (std::uint32_t launch = 0; launch < options.launches; ++launch) {
        const LaunchConstants constants{launch, frame, {}};
        static_assert(sizeof(constants) == kPushConstantBytes);
        vkCmdPushConstants(commands, work.pipeline->layout(), kRayTracingStages, 0, sizeof(constants), &constants);
        launch_barrier(commands);
        if (timed) {
          timestamps.start(commands, launch);
        }
        work.table->trace(commands, options.width, options.height);
        if (timed) {
          timestamps.stop(commands, launch);
        }
      }
    });
    if (timed) {
      timestamps.read(frame, times);
    }
  }
  return times;
}

void print_times(const std::vector<LaunchTime>& times) {
  for (const LaunchTime& time : times) {
    fmt::print("frame {} launch {}: {:.3f} ms\n", time.frame, time.launch, time.milliseconds);
  }
  std::fflush(stdout);
}

}  // namespace rayreplay::apps
