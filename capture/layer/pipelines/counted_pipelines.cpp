#include "capture/layer/pipelines/counted_pipelines.hpp"

#include <algorithm>
#include <list>
#include <utility>

#include "capture/layer/device/device.hpp"
#include "capture/layer/launch_counts.hpp"
#include "capture/layer/pipelines/pipeline_recipe.hpp"
#include "capture/layer/pipelines/shaders.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

std::uint64_t creation_flags(const auto& info) {
  const auto* newer = find_in_chain<CreateFlags2>(info.pNext, static_cast<VkStructureType>(kCreateFlags2Type));
  return newer != nullptr ? newer->flags : info.flags;
}

bool is_stage(instrument::Stage stage, VkShaderStageFlagBits flag) {
  return (stage == instrument::Stage::Vertex && flag == VK_SHADER_STAGE_VERTEX_BIT) ||
         (stage == instrument::Stage::Fragment && flag == VK_SHADER_STAGE_FRAGMENT_BIT) ||
         (stage == instrument::Stage::Compute && flag == VK_SHADER_STAGE_COMPUTE_BIT);
}

}  // namespace

/// A create info with counting twins. It holds the twins' modules until the pipeline is made.
class CountedPipelines::Rewrite {
 public:
  explicit Rewrite(CountedPipelines& owner) : owner_(owner) {}
  Rewrite(const Rewrite&) = delete;
  Rewrite& operator=(const Rewrite&) = delete;
  ~Rewrite() {
    for (auto* module : modules_) {
      owner_.device_.vk.DestroyShaderModule(owner_.device_.handle, module, nullptr);
    }
  }

  [[nodiscard]] VkComputePipelineCreateInfo changed(VkComputePipelineCreateInfo info) {
    change(info.stage);
    return info;
  }
  [[nodiscard]] VkGraphicsPipelineCreateInfo changed(VkGraphicsPipelineCreateInfo info) {
    if ((creation_flags(info) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0) {
      note("shaders of graphics pipeline libraries are not counted");
      return info;
    }
    stages_.assign(info.pStages, info.pStages + info.stageCount);
    for (auto& stage : stages_) {
      change(stage);
    }
    info.pStages = stages_.data();
    return info;
  }
  /// The changes.
  Counted counted;

 private:
  void change(VkPipelineShaderStageCreateInfo& stage) {
    auto& device = owner_.device_;
    if (!owner_.can_count(stage.stage)) {
      return;
    }
    const StageSource source = source_of(device, stage);
    if (!source.words || source.words->empty()) {
      note("a compute or graphics shader that the layer does not know is not counted");
      return;
    }
    const auto twin = device.shaders->counting_twin(*source.words, source.name);
    if (twin->status != instrument::Status::Instrumented || twin->counters.cells == 0) {
      return;
    }
    auto changed = stage;
    const auto* inlined =
        find_in_chain<VkShaderModuleCreateInfo>(stage.pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    if (inlined != nullptr && stage.module == VK_NULL_HANDLE && !unlink(changed, inlined, copies_)) {
      note("a shader given inline behind an unknown structure is not counted");
      return;
    }
    auto counters = device.work_counters->give(twin);
    if (!counters) {
      note("the device has no memory for the counters of a shader");
      return;
    }
    const auto words = words_with(*twin, *counters);
    VkShaderModuleCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = words.size() * sizeof(std::uint32_t);
    info.pCode = words.data();
    modules_.reserve(modules_.size() + 1);
    if (device.vk.CreateShaderModule(device.handle, &info, nullptr, &changed.module) != VK_SUCCESS) {
      note("the device refuses an instrumented shader; the application's own is used");
      return;
    }
    modules_.push_back(changed.module);
    stage = changed;
    counted.counters.push_back(std::move(counters));
    for (const auto& entry : twin->entry_points) {
      if (is_stage(entry.stage, stage.stage) && stage.pName != nullptr && entry.name == stage.pName) {
        counted.shaders.push_back(entry.shader);
      }
    }
  }

  CountedPipelines& owner_;
  std::vector<VkPipelineShaderStageCreateInfo> stages_;
  std::vector<VkShaderModule> modules_;
  StructCopies copies_;
};

CountedPipelines::CountedPipelines(Device& device, bool vertex_stores, bool fragment_stores)
    : device_(device), vertex_stores_(vertex_stores), fragment_stores_(fragment_stores) {}

CountedPipelines::~CountedPipelines() = default;

bool CountedPipelines::can_count(VkShaderStageFlagBits stage) const {
  const auto& wanted = options();
  const char* name = "";
  bool stores = true;
  switch (stage) {
    case VK_SHADER_STAGE_COMPUTE_BIT:
      if (!wanted.profile_compute) {
        return false;
      }
      name = "compute";
      break;
    case VK_SHADER_STAGE_VERTEX_BIT:
      name = "vertex";
      stores = vertex_stores_;
      break;
    case VK_SHADER_STAGE_FRAGMENT_BIT:
      name = "fragment";
      stores = fragment_stores_;
      break;
    default:
      return false;
  }
  if (stage != VK_SHADER_STAGE_COMPUTE_BIT && !wanted.profile_graphics) {
    return false;
  }
  if (!stores) {
    note(std::string("the device lets no ") + name + " shader write memory: they are not counted");
    return false;
  }
  if ((device_.subgroup_stages & static_cast<VkShaderStageFlags>(stage)) == 0 && !device_.is_lavapipe) {
    note(std::string("the device has no subgroup operations in ") + name + " shaders: they are not counted");
    return false;
  }
  return true;
}

template <typename Info>
VkResult CountedPipelines::create_with(std::uint32_t count, const Info* infos, const VkAllocationCallbacks* allocator,
                                       VkPipeline* pipelines, const auto& next) {
  std::list<Rewrite> rewrites;
  std::vector<Info> changed;
  const bool prepared = attempt("counting in a pipeline", [&] {
    for (std::uint32_t i = 0; i < count; ++i) {
      changed.push_back(rewrites.emplace_back(*this).changed(infos[i]));
    }
  });
  const bool counts = prepared && std::any_of(rewrites.begin(), rewrites.end(),
                                              [](const auto& rewrite) { return !rewrite.counted.counters.empty(); });
  if (!counts) {
    return next(infos);
  }
  auto result = next(changed.data());
  if (result < 0) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (pipelines[i] != VK_NULL_HANDLE) {
        device_.vk.DestroyPipeline(device_.handle, pipelines[i], allocator);
        pipelines[i] = VK_NULL_HANDLE;
      }
    }
    const auto refused = result;
    result = next(infos);
    if (result >= 0) {
      attempt("noting a refused pipeline", [&] {
        note("the device refuses a pipeline with counting shaders (VkResult " + std::to_string(refused) +
             "): the application's own is used and its shaders are not counted");
      });
    }
    return result;
  }
  attempt("recording a counted pipeline", [&] {
    std::uint32_t i = 0;
    for (auto& rewrite : rewrites) {
      if (pipelines[i] != VK_NULL_HANDLE && !rewrite.counted.counters.empty()) {
        add(pipelines[i], std::move(rewrite.counted));
      }
      ++i;
    }
  });
  return result;
}

VkResult CountedPipelines::create(VkPipelineCache cache, std::uint32_t count, const VkComputePipelineCreateInfo* infos,
                                  const VkAllocationCallbacks* allocator, VkPipeline* pipelines) {
  return create_with(count, infos, allocator, pipelines, [&](const VkComputePipelineCreateInfo* used) {
    return device_.vk.CreateComputePipelines(device_.handle, cache, count, used, allocator, pipelines);
  });
}

VkResult CountedPipelines::create(VkPipelineCache cache, std::uint32_t count, const VkGraphicsPipelineCreateInfo* infos,
                                  const VkAllocationCallbacks* allocator, VkPipeline* pipelines) {
  return create_with(count, infos, allocator, pipelines, [&](const VkGraphicsPipelineCreateInfo* used) {
    return device_.vk.CreateGraphicsPipelines(device_.handle, cache, count, used, allocator, pipelines);
  });
}

void CountedPipelines::add(VkPipeline pipeline, Counted counted) {
  counted.number = process().next_pipeline++;
  spool::Pipeline block;
  block.device = device_.number;
  block.pipeline = counted.number;
  for (const auto shader : counted.shaders) {
    spool::Group group;
    group.general = shader;
    block.groups.push_back(std::move(group));
  }
  spool_block(block);
  const std::scoped_lock lock(mutex_);
  pipelines_[pipeline] = std::move(counted);
}

void CountedPipelines::destroyed(VkPipeline pipeline) {
  Counted old;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = pipelines_.find(pipeline);
    if (found == pipelines_.end()) {
      return;
    }
    old = std::move(found->second);
    pipelines_.erase(found);
  }
  spool(old);
}

void CountedPipelines::finish() {
  std::unordered_map<VkPipeline, Counted> rest;
  {
    const std::scoped_lock lock(mutex_);
    rest.swap(pipelines_);
  }
  for (const auto& [pipeline, counted] : rest) {
    attempt("reading the counts of a pipeline", [&, &of = counted] { spool(of); });
  }
}

void CountedPipelines::spool(const Counted& counted) const {
  if (device_.lost.load()) {
    return;
  }
  for (const auto& counters : counted.counters) {
    spool_totals(device_.number, counted.number, *counters);
  }
}

}  // namespace rayreplay::layer
