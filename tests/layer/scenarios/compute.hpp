// A compute pipeline that stays bound while rays are traced: values[i] = values[i]·factor + 1.
#pragma once

#include "vulkan_context.hpp"

namespace scenario {

class Compute {
 public:
  explicit Compute(Context& context);
  Compute(const Compute&) = delete;
  Compute& operator=(const Compute&) = delete;
  ~Compute();

  /// Binds the pipeline, once.
  void bind(VkCommandBuffer commands) const;
  /// One more step, with a barrier behind it. Push constants are those of all pipelines, so they are given again.
  void step(VkCommandBuffer commands, std::uint32_t factor) const;
  [[nodiscard]] std::uint32_t value() const {
    return *static_cast<const std::uint32_t*>(values_.data);
  }

 private:
  Context& context_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  Buffer values_;
};

}  // namespace scenario
