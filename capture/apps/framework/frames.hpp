// The frames of a program: launches in submissions, and what their time was.
//
// Contract: every frame is one submission of `launches` launches, each behind a barrier, so that they may read what the
// one before wrote; `before` may record commands at the frame's start (an update of the structure). Warm-up frames run
// first and are not timed; frame numbers start at 0 after them. Waits for every frame.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "capture/apps/framework/options.hpp"
#include "capture/apps/framework/pipeline.hpp"

namespace rayreplay::apps {

struct LaunchTime {
  std::uint32_t frame = 0;
  std::uint32_t launch = 0;
  double milliseconds = 0;
};

struct FrameWork {
  const RayTracingPipeline* pipeline = nullptr;
  const DescriptorSet* descriptors = nullptr;
  const ShaderBindingTable* table = nullptr;
  std::function<void(VkCommandBuffer, std::uint32_t frame)> before;  ///< may be empty
};

/// Times are empty without options.time.
[[nodiscard]] std::vector<LaunchTime> render_frames(const Device& device, const Options& options,
                                                    const FrameWork& work);

void print_times(const std::vector<LaunchTime>& times);

}  // namespace rayreplay::apps
