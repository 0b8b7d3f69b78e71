// The application's shader modules replaced by those of a folder (options().shaders, module_list.hpp).
//
// Contract: the list is read once, with the first module that the application makes, a module's file when it is first
// asked for. A list or file that is missing, too long, or does not have the hash of the list gives one note, and the
// application keeps its own module. Modules are chosen by the hash of their words alone, so that other modules never
// change. Each module that is replaced is noted once. Thread-safe. Without the option nothing is read or hashed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/options/module_list.hpp"

namespace rayreplay::layer {

class Replacements {
 public:
  explicit Replacements(std::string folder) : folder_(std::move(folder)) {}

  /// The words in place of these, which live as long as this object; empty: they stay.
  [[nodiscard]] std::span<const std::uint32_t> find(std::span<const std::uint32_t> words);

 private:
  struct Listed {
    ListedModule module;
    bool is_read = false;
    std::vector<std::uint32_t> words;  ///< empty: cannot be used
  };
  void read_list();
  void read(Listed& listed);

  const std::string folder_;
  std::mutex mutex_;
  bool is_listed_ = false;
  std::map<std::string, Listed> modules_;
};

/// The words that this process has in place of the module's; empty: none.
[[nodiscard]] std::span<const std::uint32_t> replacement_of(const VkShaderModuleCreateInfo& module);

/// Create infos of pipelines whose inline modules are replaced; the originals where nothing is.
class ReplacedPipelines {
 public:
  ReplacedPipelines(std::uint32_t count, const VkRayTracingPipelineCreateInfoKHR* infos);

  [[nodiscard]] const VkRayTracingPipelineCreateInfoKHR* infos() const {
    return infos_.empty() ? given_ : infos_.data();
  }

 private:
  bool replace(VkPipelineShaderStageCreateInfo& stage);
  void* copy(const void* from, std::size_t bytes);

  const VkRayTracingPipelineCreateInfoKHR* given_;
  std::vector<VkRayTracingPipelineCreateInfoKHR> infos_;
  std::deque<std::vector<VkPipelineShaderStageCreateInfo>> stages_;
  std::vector<std::unique_ptr<std::max_align_t[]>> copies_;
};

}  // namespace rayreplay::layer
