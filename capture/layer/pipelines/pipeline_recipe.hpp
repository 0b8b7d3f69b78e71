// The create info of a ray-tracing pipeline, kept after the call that created it.
//
// Contract: sources_of() gives the words of every stage. keep() copies a create info deeply, so that the pipeline can
// be made again after the application's memory, shader modules and pipeline cache are gone; null if some part cannot be
// copied. Omitted: caches, feedback, derivation, replayed handles, failing early. The layout stays the application's
// handle: see Pipelines::destroy_layout. Linear in the create info; words of modules are shared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/pipelines/shaders.hpp"

namespace rayreplay::layer {

struct Device;

/// Bytes of a structure that may extend VkPipelineShaderStageCreateInfo; 0 if unknown.
[[nodiscard]] std::size_t stage_struct_bytes(VkStructureType type);

/// The structure of a chain; null if it has none.
template <typename Struct>
const Struct* find_in_chain(const void* chain, VkStructureType type) {
  for (const auto* at = static_cast<const VkBaseInStructure*>(chain); at != nullptr; at = at->pNext) {
    if (at->sType == type) {
      return reinterpret_cast<const Struct*>(at);
    }
  }
  return nullptr;
}

/// VkPipelineCreateFlags2CreateInfoKHR, which is newer than the headers that we build with.
inline constexpr int kCreateFlags2Type = 1000470005;
struct CreateFlags2 {
  VkStructureType type;
  const void* next;
  std::uint64_t flags;
};

/// Of either kind of flags.
[[nodiscard]] std::uint64_t flags_of(const VkRayTracingPipelineCreateInfoKHR& info);

struct StageSource {
  std::shared_ptr<const Words> words;  ///< null: unknown
  std::string name;                    ///< the application's, or empty
};

[[nodiscard]] StageSource source_of(Device& device, const VkPipelineShaderStageCreateInfo& stage);
[[nodiscard]] std::vector<StageSource> sources_of(Device& device, const VkRayTracingPipelineCreateInfoKHR& info);

/// Memory of copied structures.
using StructCopies = std::vector<std::unique_ptr<std::max_align_t[]>>;

/// Takes the inline module out of a stage's pNext chain; the structures before it are copied. False, and nothing
/// changed, if the size of one of them is unknown.
[[nodiscard]] bool unlink(VkPipelineShaderStageCreateInfo& stage, const VkShaderModuleCreateInfo* module,
                          StructCopies& copies);

class PipelineRecipe {
 public:
  PipelineRecipe() = default;
  PipelineRecipe(const PipelineRecipe&) = delete;
  PipelineRecipe& operator=(const PipelineRecipe&) = delete;

  /// Stages have neither module nor inline words: `sources` has them.
  VkRayTracingPipelineCreateInfoKHR info{};
  std::vector<StageSource> sources;
  LibraryRecords libraries;

 private:
  friend std::shared_ptr<const PipelineRecipe> keep(const VkRayTracingPipelineCreateInfoKHR& given,
                                                    std::vector<StageSource> sources, LibraryRecords libraries);
  bool take(const VkRayTracingPipelineCreateInfoKHR& given);
  bool take_stage(const VkPipelineShaderStageCreateInfo& given);
  void* copy(const void* from, std::size_t bytes);
  template <typename Item>
  const Item* copy_array(const Item* from, std::size_t count) {
    return count == 0 || from == nullptr ? nullptr : static_cast<const Item*>(copy(from, count * sizeof(Item)));
  }

  std::vector<VkPipelineShaderStageCreateInfo> stages_;
  std::vector<VkRayTracingShaderGroupCreateInfoKHR> groups_;
  std::deque<std::string> names_;
  std::vector<std::unique_ptr<std::max_align_t[]>> copies_;
};

[[nodiscard]] std::shared_ptr<const PipelineRecipe> keep(const VkRayTracingPipelineCreateInfoKHR& given,
                                                         std::vector<StageSource> sources, LibraryRecords libraries);

}  // namespace rayreplay::layer
