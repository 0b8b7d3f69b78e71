#include "capture/apps/framework/shared_resources.hpp"

namespace rayreplay::apps {

SharedResources::SharedResources(const Device& device, const Options& options, const Params& params,
                                 const std::vector<std::uint32_t>& swizzle)
    : picture_(device, options.width, options.height),
      params_(upload(device, std::as_bytes(std::span(&params, 1)), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT)),
      swizzle_(upload(device, swizzle, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT)),
      use_swizzle_(!swizzle.empty()),
      reorder_call_(!options.no_reorder_call) {}

std::vector<Binding> SharedResources::bindings(VkAccelerationStructureKHR scene) const {
  return {StructureBinding{scene}, ImageBinding{picture_.view()}, UniformBinding{&params_}, StorageBinding{&swizzle_}};
}

std::vector<std::uint32_t> SharedResources::constants() const {
  return {use_swizzle_ ? 1U : 0U, reorder_call_ ? 1U : 0U};
}

}  // namespace rayreplay::apps
