#include "capture/layer/pipelines/replacements.hpp"

#include <cstddef>
#include <cstring>

#include "capture/layer/pipelines/pipeline_recipe.hpp"
#include "capture/layer/process.hpp"
#include "capture/spool/guest_files.hpp"

namespace rayreplay::layer {

std::span<const std::uint32_t> Replacements::find(std::span<const std::uint32_t> words) {
  const std::string hash = module_hash(words);
  const std::scoped_lock lock(mutex_);
  if (!is_listed_) {
    is_listed_ = true;
    read_list();
  }
  const auto found = modules_.find(hash);
  if (found == modules_.end()) {
    return {};
  }
  Listed& listed = found->second;
  if (!listed.is_read) {
    listed.is_read = true;
    read(listed);
  }
  return listed.words;
}

void Replacements::read_list() {
  std::string why;
  const auto text = spool::read_regular(folder_ + "/" + kModuleList, kMostListBytes, why);
  const auto list = text ? parse_module_list(*text, why) : std::nullopt;
  if (!list) {
    note("shaders: " + folder_ + "/" + kModuleList + " is not used: " + why);
    return;
  }
  for (const ListedModule& module : *list) {
    modules_[module.module].module = module;
  }
}

void Replacements::read(Listed& listed) {
  const std::string path = folder_ + "/" + listed.module.file;
  std::string why;
  const auto bytes = spool::read_regular(path, kMostModuleBytes, why);
  if (!bytes || bytes->size() % sizeof(std::uint32_t) != 0) {
    note("shaders: " + path + " is not used: " + (bytes ? std::string("its size is no multiple of 4 bytes") : why));
    return;
  }
  std::vector<std::uint32_t> words(bytes->size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes->data(), bytes->size());
  if (module_hash(words) != listed.module.hash) {
    note("shaders: " + path + " is not used: it does not have the hash of the list");
    return;
  }
  listed.words = std::move(words);
  const std::string text = std::string(kReplacedNote) + listed.module.module;
  // No note(): nothing is missing, and there may be more modules than notes are kept.
  spool_block(spool::Note{spool::kNone, text});
  log(LogLevel::Info, text);
}

std::span<const std::uint32_t> replacement_of(const VkShaderModuleCreateInfo& module) {
  if (options().shaders.empty()) {
    return {};
  }
  // Never destroyed: threads of the application may still run when the process ends.
  static auto& those = *new Replacements(options().shaders);
  return those.find({module.pCode, module.codeSize / sizeof(std::uint32_t)});
}

ReplacedPipelines::ReplacedPipelines(std::uint32_t count, const VkRayTracingPipelineCreateInfoKHR* infos)
    : given_(infos) {
  if (options().shaders.empty()) {
    return;
  }
  std::vector<VkRayTracingPipelineCreateInfoKHR> changed(infos, infos + count);
  bool any = false;
  for (auto& info : changed) {
    auto& stages = stages_.emplace_back(info.pStages, info.pStages + info.stageCount);
    for (auto& stage : stages) {
      any = replace(stage) || any;
    }
    info.pStages = stages.data();
  }
  if (any) {
    infos_ = std::move(changed);
  }
}

void* ReplacedPipelines::copy(const void* from, std::size_t bytes) {
  auto& memory = copies_.emplace_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
  std::memcpy(memory.get(), from, bytes);
  return memory.get();
}

bool ReplacedPipelines::replace(VkPipelineShaderStageCreateInfo& stage) {
  const auto* module =
      find_in_chain<VkShaderModuleCreateInfo>(stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  if (stage.module != VK_NULL_HANDLE || module == nullptr) {
    return false;
  }
  const auto words = replacement_of(*module);
  if (words.empty()) {
    return false;
  }
  // The chain up to the module is copied, the rest stays the application's.
  const void* head = nullptr;
  const void** link = &head;
  for (const auto* at = static_cast<const VkBaseInStructure*>(stage.pNext);
       at != reinterpret_cast<const VkBaseInStructure*>(module); at = at->pNext) {
    const auto bytes = stage_struct_bytes(at->sType);
    if (bytes == 0) {
      note("shaders: a module given inline behind an unknown structure is not replaced");
      return false;
    }
    auto* own = static_cast<VkBaseInStructure*>(copy(at, bytes));
    *link = own;
    link = reinterpret_cast<const void**>(&own->pNext);
  }
  auto* own = static_cast<VkShaderModuleCreateInfo*>(copy(module, sizeof *module));
  own->pCode = words.data();
  own->codeSize = words.size_bytes();
  *link = own;
  stage.pNext = head;
  return true;
}

}  // namespace rayreplay::layer
