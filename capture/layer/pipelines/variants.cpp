#include "capture/layer/pipelines/variants.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "capture/layer/counter_memory.hpp"
#include "capture/layer/event_memory.hpp"
#include "capture/layer/pipelines/pipeline_facts.hpp"
#include "capture/layer/pipelines/pipeline_rewrite.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {

void KeptLayouts::watch(const std::shared_ptr<const PipelineRecord>& record) {
  const std::scoped_lock lock(mutex_);
  auto& use = uses_[record->layout];
  std::erase_if(use.records, [](const auto& known) { return known.expired(); });
  use.records.push_back(record);
  ++use.count;
  record->variant->watched_ = record->layout;
}

void KeptLayouts::release(VkPipelineLayout layout) {
  const std::scoped_lock lock(mutex_);
  const auto found = uses_.find(layout);
  if (found == uses_.end() || --found->second.count > 0) {
    return;
  }
  if (found->second.destroyed) {
    device_.vk.DestroyPipelineLayout(device_.handle, layout, nullptr);
  }
  uses_.erase(found);
}

void KeptLayouts::destroy(VkPipelineLayout layout, const VkAllocationCallbacks* allocator) {
  std::vector<std::weak_ptr<const PipelineRecord>> records;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = uses_.find(layout);
    if (found != uses_.end() && allocator == nullptr) {
      found->second.destroyed = true;
      return;
    }
    if (found != uses_.end()) {
      records.swap(found->second.records);
    }
  }
  // The application's allocator may be gone later: variants that need the layout are made now.
  for (const auto& weak : records) {
    attempt("making a variant before its layout is destroyed", [&] {
      if (const auto record = weak.lock(); record && device_.event_memory->prepare()) {
        (void)record->variant->get(*record);
      }
    });
  }
  device_.vk.DestroyPipelineLayout(device_.handle, layout, allocator);
}

Variant::Variant(Device& device, std::shared_ptr<const PipelineRecipe> recipe, std::shared_ptr<KeptLayouts> layouts)
    : device_(device), recipe_(std::move(recipe)), layouts_(std::move(layouts)) {}

Variant::~Variant() {
  let_go();
  if (made_.own) {
    device_.vk.DestroyPipeline(device_.handle, made_.record->handle, nullptr);
  }
}

void Variant::let_go() {
  recipe_.reset();
  if (watched_ != VK_NULL_HANDLE) {
    layouts_->release(std::exchange(watched_, VK_NULL_HANDLE));
  }
}

const Variant::Made& Variant::get(const PipelineRecord& plain) {
  const std::scoped_lock lock(mutex_);
  if (!made_.record) {
    make(plain);
    let_go();
  }
  return made_;
}

void Variant::make(const PipelineRecord& plain) {
  LibraryRecords libraries;
  bool linkable = true;
  for (const auto& library : recipe_->libraries) {
    const auto& made = library->variant->get(*library);
    linkable &= made.own;
    libraries.push_back(made.record);
  }
  PipelineRewrite rewrite(device_, recipe_->info, recipe_->sources, libraries);
  const auto& record = rewrite.record();
  VkPipeline pipeline = VK_NULL_HANDLE;
  if (linkable && rewrite.complete()) {
    const auto result = device_.vk.CreateRayTracingPipelinesKHR(device_.handle, VK_NULL_HANDLE, VK_NULL_HANDLE, 1,
                                                                &rewrite.info(), nullptr, &pipeline);
    if (result != VK_SUCCESS) {
      pipeline = VK_NULL_HANDLE;
      note("the device refuses an instrumented pipeline (VkResult " + std::to_string(result) +
           "): the application's own is used and its shaders are not observed");
    }
  } else {
    note(
        "an instrumented pipeline cannot be made of what the device refused: the application's own is used and its "
        "shaders are not observed");
  }
  made_.own = pipeline != VK_NULL_HANDLE;
  record->handle = made_.own ? pipeline : plain.handle;
  made_.record = record;
  const bool library = (flags_of(recipe_->info) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0;
  const auto groups = record->groups.size();
  std::vector<std::uint8_t> given;
  if (!library) {
    given = plain.early_handles.empty() ? group_handles(device_, plain.handle, groups) : plain.early_handles;
  }
  if (made_.own && !library) {
    attempt("mapping the handles of an instrumented pipeline",
            [&] { made_.handles = HandleMap(device_, given, group_handles(device_, pipeline, groups)); });
    if (!made_.handles) {
      note(
          "no memory for the handles of an instrumented pipeline: the application's own is used and its shaders are "
          "not observed");
      device_.vk.DestroyPipeline(device_.handle, pipeline, nullptr);
      made_.own = false;
      record->handle = plain.handle;
    } else if (made_.handles.ambiguous()) {
      note("groups of a pipeline have the same handle: their shaders cannot be told apart in launches of it");
    }
  }
  record->instrumented = record->instrumented && made_.own;
  if (!made_.own) {
    record->counters.clear();
  }
  if (!library) {
    describe_pipeline(device_, *record, given, recipe_->info.maxPipelineRayRecursionDepth);
  }
  if (options().pipeline_facts) {
    attempt("reading the facts of a pipeline", [&] { record_facts(plain, *record); });
  }
}

void Variant::record_facts(const PipelineRecord& plain, const PipelineRecord& made) {
  const bool library = (flags_of(recipe_->info) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) != 0;
  const auto depth = recipe_->info.maxPipelineRayRecursionDepth;
  // Statistics need a pipeline made for them. Of a linked pipeline, the libraries may be gone by now.
  if (!library && !device_.statistics && recipe_->info.pLibraryInfo == nullptr) {
    spool_facts(device_, plain.handle, made, depth);
    return;
  }
  std::vector<std::shared_ptr<const PlainTwin>> libraries;
  for (const auto& linked : recipe_->libraries) {
    libraries.push_back(linked->variant->plain_);
  }
  auto twin = PlainTwin::make(device_, *recipe_, libraries);
  if (!twin) {
    note(kNoTwin);
  } else if (library) {
    plain_ = std::move(twin);
  } else {
    spool_facts(device_, twin->handle(), made, depth);
  }
}

}  // namespace rayreplay::layer
