#include "capture/layer/table_patch.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "TablePatch.spv.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

constexpr std::size_t kRegions = 4;
constexpr std::uint32_t kGroupSize = 64;
constexpr std::uint32_t kSlots = 65'535;       // what every device allows of workgroups in y
constexpr VkDeviceSize kTableAlignment = 256;  // at least shaderGroupBaseAlignment
constexpr VkDeviceSize kTableBlockBytes = VkDeviceSize{1} << 20U;

/// As table_patch.comp reads it.
struct Arguments {
  std::uint64_t map = 0;
  std::uint64_t source[kRegions] = {};
  std::uint64_t target[kRegions] = {};
  std::uint32_t records[kRegions] = {};
  std::uint32_t stride[kRegions] = {};
  std::uint32_t words[kRegions] = {};
};
constexpr VkDeviceSize kSlotBytes = 128;
static_assert(sizeof(Arguments) <= kSlotBytes);

constexpr VkMemoryPropertyFlags kMapped = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

DeviceBuffer allocate_mapped(Device& device, VkDeviceSize bytes, void** data) {
  auto buffer = device.allocate_device(bytes, VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, kMapped);
  if (buffer.address != 0 &&
      device.vk.MapMemory(device.handle, buffer.memory, 0, VK_WHOLE_SIZE, 0, data) != VK_SUCCESS) {
    device.free(buffer);
  }
  return buffer;
}

/// As find() of table_patch.comp.
std::uint32_t hash_of(const std::uint32_t* words, std::size_t count) {
  std::uint32_t hash = 2'166'136'261U;
  for (std::size_t i = 0; i < count; ++i) {
    hash = (hash ^ words[i]) * 16'777'619U;
    hash ^= hash >> 15U;
  }
  return hash;
}

constexpr VkDeviceSize table_aligned(VkDeviceSize bytes) {
  return (bytes + kTableAlignment - 1) / kTableAlignment * kTableAlignment;
}

}  // namespace

HandleMap::HandleMap(Device& device, const std::vector<std::uint8_t>& from, const std::vector<std::uint8_t>& to)
    : device_(&device) {
  const std::size_t bytes = device.ray_tracing.shaderGroupHandleSize;
  if (from.empty() || from.size() != to.size() || bytes % sizeof(std::uint32_t) != 0) {
    return;
  }
  if (from == to) {
    same_ = true;
    return;
  }
  const auto words = bytes / sizeof(std::uint32_t);
  const auto groups = from.size() / bytes;
  std::uint32_t entries = 4;
  while (entries < 2 * groups) {
    entries *= 2;
  }
  // Word 0: entries - 1; entries from word 4 on: 1 if occupied, the handle, its replacement.
  const auto entry_words = 1 + 2 * words;
  std::vector<std::uint32_t> table(4 + entries * entry_words);
  table[0] = entries - 1;
  for (std::size_t i = 0; i < groups; ++i) {
    std::vector<std::uint32_t> key(words);
    std::memcpy(key.data(), from.data() + i * bytes, bytes);
    for (auto probe = hash_of(key.data(), words);; ++probe) {
      auto* entry = table.data() + 4 + (probe & (entries - 1)) * entry_words;
      if (entry[0] == 0) {
        entry[0] = 1;
        std::memcpy(entry + 1, key.data(), bytes);
        std::memcpy(entry + 1 + words, to.data() + i * bytes, bytes);
        break;
      }
      if (std::equal(key.begin(), key.end(), entry + 1)) {
        ambiguous_ |= std::memcmp(entry + 1 + words, to.data() + i * bytes, bytes) != 0;
        break;
      }
    }
  }
  void* data = nullptr;
  buffer_ = allocate_mapped(device, table.size() * sizeof(std::uint32_t), &data);
  if (buffer_.address != 0) {
    std::memcpy(data, table.data(), table.size() * sizeof(std::uint32_t));
    device.vk.UnmapMemory(device.handle, buffer_.memory);
  }
}

HandleMap::HandleMap(HandleMap&& other) noexcept {
  *this = std::move(other);
}

HandleMap& HandleMap::operator=(HandleMap&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(buffer_, other.buffer_);
  std::swap(same_, other.same_);
  std::swap(ambiguous_, other.ambiguous_);
  return *this;
}

HandleMap::~HandleMap() {
  if (device_ != nullptr) {
    device_->free(buffer_);
  }
}

PatchedTables::~PatchedTables() {
  patcher_.release(*this);
}

TablePatcher::~TablePatcher() {
  const auto& vk = device_.vk;
  if (pipeline_ != VK_NULL_HANDLE) {
    vk.DestroyPipeline(device_.handle, pipeline_, nullptr);
  }
  if (layout_ != VK_NULL_HANDLE) {
    vk.DestroyPipelineLayout(device_.handle, layout_, nullptr);
  }
  for (auto& [number, block] : blocks_) {
    device_.free(block.buffer);
  }
  device_.free(arguments_);
}

bool TablePatcher::make_pipeline() {
  const auto& vk = device_.vk;
  VkPipelineLayoutCreateInfo layout_info{};
  layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  if (vk.CreatePipelineLayout(device_.handle, &layout_info, nullptr, &layout_) != VK_SUCCESS) {
    layout_ = VK_NULL_HANDLE;
    return false;
  }
  VkShaderModuleCreateInfo module_info{};
  module_info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  module_info.codeSize = sizeof kTablePatch;
  module_info.pCode = kTablePatch;
  VkShaderModule module = VK_NULL_HANDLE;
  if (vk.CreateShaderModule(device_.handle, &module_info, nullptr, &module) != VK_SUCCESS) {
    return false;
  }
  struct {
    std::uint64_t arguments;
    std::uint32_t handle_words;
  } const values{arguments_.address,
                 static_cast<std::uint32_t>(device_.ray_tracing.shaderGroupHandleSize / sizeof(std::uint32_t))};
  const VkSpecializationMapEntry entries[] = {{0, 0, sizeof values.arguments},
                                              {1, sizeof values.arguments, sizeof values.handle_words}};
  const VkSpecializationInfo constants{static_cast<std::uint32_t>(std::size(entries)), entries, sizeof values, &values};
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &constants;
  info.layout = layout_;
  const auto result = vk.CreateComputePipelines(device_.handle, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_);
  vk.DestroyShaderModule(device_.handle, module, nullptr);
  if (result != VK_SUCCESS) {
    pipeline_ = VK_NULL_HANDLE;
  }
  return pipeline_ != VK_NULL_HANDLE;
}

bool TablePatcher::prepare() {
  if (pipeline_ != VK_NULL_HANDLE || failed_) {
    return !failed_;
  }
  void* data = nullptr;
  arguments_ = allocate_mapped(device_, kSlots * kSlotBytes, &data);
  slots_ = static_cast<std::uint8_t*>(data);
  failed_ = arguments_.address == 0 || !make_pipeline();
  return !failed_;
}

bool TablePatcher::take(std::size_t number, PatchedTables& tables, VkDeviceSize bytes) {
  auto& free = blocks_.at(number).free;
  const auto range = std::find_if(free.begin(), free.end(), [&](const auto& known) { return known.second >= bytes; });
  if (range == free.end()) {
    return false;
  }
  const auto [offset, size] = *range;
  if (size > bytes) {
    free.emplace(offset + bytes, size - bytes);
  }
  free.erase(offset);
  tables.block_ = number;
  tables.offset_ = offset;
  tables.bytes_ = bytes;
  return true;
}

bool TablePatcher::reserve(PatchedTables& tables, VkDeviceSize bytes) {
  if (free_slots_.empty() && next_slot_ == kSlots) {
    return false;
  }
  free_slots_.reserve(next_slot_ + 1);  // freeing a slot must not allocate
  const bool found =
      std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& known) { return take(known.first, tables, bytes); });
  if (!found) {
    // The blocks' addresses have a larger alignment than tables need, as all buffers of their size.
    const auto size = std::max(bytes, kTableBlockBytes);
    auto buffer = device_.allocate_device(size + kTableAlignment, VK_BUFFER_USAGE_SHADER_BINDING_TABLE_BIT_KHR);
    if (buffer.address == 0) {
      return false;
    }
    auto& block = blocks_[next_block_];
    block.buffer = buffer;
    const auto first = table_aligned(buffer.address) - buffer.address;
    block.free.emplace(first, size);
    take(next_block_++, tables, bytes);
  }
  if (!free_slots_.empty()) {
    tables.slot_ = free_slots_.back();
    free_slots_.pop_back();
  } else {
    tables.slot_ = next_slot_++;
  }
  return true;
}

void TablePatcher::release(const PatchedTables& tables) {
  if (tables.bytes_ == 0) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  free_slots_.push_back(tables.slot_);
  // Without memory the range stays unused until the device is destroyed.
  attempt("giving back the memory of a copied table", [&] {
    auto& free = blocks_.at(tables.block_).free;
    const auto place = free.emplace(tables.offset_, tables.bytes_).first;
    if (const auto next = std::next(place); next != free.end() && place->first + place->second == next->first) {
      place->second += next->second;
      free.erase(next);
    }
    if (place != free.begin() && std::prev(place)->first + std::prev(place)->second == place->first) {
      std::prev(place)->second += place->second;
      free.erase(place);
    }
  });
}

std::unique_ptr<PatchedTables> TablePatcher::plan(const HandleMap& map, const geometry::TableRegions& regions) {
  auto tables = std::make_unique<PatchedTables>(*this);
  tables->regions = regions;
  if (map.same()) {
    return tables;
  }
  Arguments arguments;
  arguments.map = map.address();
  std::uint64_t records = 0;
  VkDeviceSize bytes = 0;
  VkDeviceSize offsets[kRegions] = {};
  for (std::size_t i = 0; i < kRegions; ++i) {
    const auto& region = regions.region[i];
    if (region.deviceAddress == 0 || region.size == 0) {
      continue;
    }
    if (region.size % sizeof(std::uint32_t) != 0 || region.stride % sizeof(std::uint32_t) != 0 ||
        region.size > 0xFFFF'FFFFU) {
      note("a launch's shader binding table of " + std::to_string(region.size) +
           " bytes cannot be copied: the launch is not captured");
      return nullptr;
    }
    arguments.source[i] = region.deviceAddress;
    arguments.stride[i] = static_cast<std::uint32_t>(region.stride / sizeof(std::uint32_t));
    arguments.words[i] = static_cast<std::uint32_t>(region.size / sizeof(std::uint32_t));
    arguments.records[i] =
        region.stride == 0 ? 1 : static_cast<std::uint32_t>((region.size + region.stride - 1) / region.stride);
    records += arguments.records[i];
    offsets[i] = bytes;
    bytes += table_aligned(region.size);
  }
  const auto most = std::uint64_t{device_.properties.limits.maxComputeWorkGroupCount[0]} * kGroupSize;
  if (records == 0) {
    return tables;
  }
  const std::scoped_lock lock(mutex_);
  if (records > most || !prepare() || !reserve(*tables, bytes)) {
    note("no memory for a copy of a launch's shader binding tables: the launch is not captured");
    return nullptr;
  }
  const auto base = blocks_.at(tables->block_).buffer.address + tables->offset_;
  for (std::size_t i = 0; i < kRegions; ++i) {
    if (arguments.records[i] != 0) {
      arguments.target[i] = base + offsets[i];
      tables->regions.region[i].deviceAddress = arguments.target[i];
    }
  }
  tables->records_ = static_cast<std::uint32_t>(records);
  std::memcpy(slots_ + tables->slot_ * kSlotBytes, &arguments, sizeof arguments);
  return tables;
}

void TablePatcher::record(const CommandRecording& recording, const PatchedTables& tables) const {
  if (tables.records_ == 0) {
    return;
  }
  const auto& vk = device_.vk;
  vk.CmdBindPipeline(recording.handle, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
  vk.CmdDispatchBase(recording.handle, 0, tables.slot_, 0, (tables.records_ + kGroupSize - 1) / kGroupSize, 1, 1);
  if (recording.compute != VK_NULL_HANDLE) {
    vk.CmdBindPipeline(recording.handle, VK_PIPELINE_BIND_POINT_COMPUTE, recording.compute);
  }
}

}  // namespace rayreplay::layer
