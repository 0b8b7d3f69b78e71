// What every program binds at the same places: structure, picture, parameters, swizzle.
//
// Contract: bindings 0 to 3 of shaders/*.glsl. A program puts its own behind them.
#pragma once

#include <vector>

#include "capture/apps/framework/buffer.hpp"
#include "capture/apps/framework/descriptors.hpp"
#include "capture/apps/framework/options.hpp"
#include "capture/apps/framework/params.hpp"

namespace rayreplay::apps {

class SharedResources {
 public:
  /// `swizzle` as read_swizzle gives it, or empty.
  SharedResources(const Device& device, const Options& options, const Params& params,
                  const std::vector<std::uint32_t>& swizzle);

  [[nodiscard]] std::vector<Binding> bindings(VkAccelerationStructureKHR scene) const;
  /// Specialisation constants of ray-generation shaders: kUseSwizzle, kReorderCall.
  [[nodiscard]] std::vector<std::uint32_t> constants() const;
  [[nodiscard]] const StorageImage& picture() const {
    return picture_;
  }

 private:
  StorageImage picture_;
  Buffer params_;
  Buffer swizzle_;
  bool use_swizzle_;
  bool reorder_call_;
};

}  // namespace rayreplay::apps
