// A triangle, its pipeline and its picture: one thread per pixel, 7 where it misses, 1000 where it hits.
#pragma once

#include <string>
#include <vector>

#include "vulkan_context.hpp"

namespace scenario {

/// How the pipeline is made. Gone: linked from libraries, which are destroyed at once, as is the layout it is made
/// with. WithoutRays: the ray-generation shader traces nothing and uses no descriptor. Images: it also accesses images
/// of another set.
enum class PipelineStyle { Modules, Inline, Library, Gone, Deferred, DynamicStack, WithoutRays, Marked, Images };

class Triangle {
 public:
  /// inactive: the top level has a second instance, whose reference is 0. images: layout of the set with images.
  explicit Triangle(Context& context, PipelineStyle style = PipelineStyle::Modules, bool inactive = false,
                    VkDescriptorSetLayout images = VK_NULL_HANDLE);
  Triangle(const Triangle&) = delete;
  Triangle& operator=(const Triangle&) = delete;
  ~Triangle() = default;
  void destroy();

  /// Binds and traces: pixels [first, first + width·height) of the picture each grow by their colour and `add`.
  void trace(VkCommandBuffer commands, std::uint32_t width, std::uint32_t height, std::uint32_t first,
             std::uint32_t add = 0);
  /// The same, with a table that the device writes before the launch: until then it holds nothing.
  void trace_with_table_of_device(VkCommandBuffer commands);
  void trace_indirect(VkCommandBuffer commands, std::uint32_t width, std::uint32_t height, bool with_tables);
  /// The picture so far, in one number and the count of hits.
  [[nodiscard]] std::string picture() const;

  /// The driver's stack sizes of the ray-generation, miss and closest-hit shader.
  [[nodiscard]] std::string stack_sizes() const;

  [[nodiscard]] VkPipeline make_pipeline(PipelineStyle style);

  VkPipeline pipeline = VK_NULL_HANDLE;

 private:
  void make_layout();
  [[nodiscard]] VkPipelineLayout make_pipeline_layout();
  void build(bool inactive);
  void make_table();
  void bind(VkCommandBuffer commands, std::uint32_t first, std::uint32_t add);

  Context& context_;
  PipelineStyle style_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkDescriptorSetLayout images_layout_ = VK_NULL_HANDLE;  ///< the caller's; or null
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
  VkDescriptorSet set_ = VK_NULL_HANDLE;
  std::vector<VkPipeline> libraries_;
  VkAccelerationStructureKHR bottom_ = VK_NULL_HANDLE, top_ = VK_NULL_HANDLE;
  Buffer vertices_, instances_, scratch_, bottom_memory_, top_memory_, table_, picture_, indirect_;
  VkStridedDeviceAddressRegionKHR regions_[4] = {};
};

}  // namespace scenario
