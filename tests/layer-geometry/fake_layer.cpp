#include "tests/layer-geometry/fake_layer.hpp"

#include <atomic>
#include <stdexcept>

#include "capture/layer/counter_memory.hpp"
#include "capture/layer/event_memory.hpp"
#include "capture/layer/pipelines/counted_pipelines.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/pipelines/shaders.hpp"
#include "capture/layer/process.hpp"
#include "capture/layer/submissions.hpp"
#include "capture/layer/table_patch.hpp"
#include "capture/layer/timestamps.hpp"

namespace rayreplay::layer {

using geometry::fake_layer;
using geometry::FakeBuffer;

// What the layer gives to geometry, in its place.

Device::Device() noexcept = default;
Device::~Device() = default;
CountedPipelines::~CountedPipelines() = default;
CounterMemory::~CounterMemory() = default;
EventMemory::~EventMemory() = default;
EventReader::~EventReader() = default;
Pipelines::~Pipelines() = default;
TablePatcher::~TablePatcher() = default;
Submissions::~Submissions() = default;
Timestamps::~Timestamps() = default;
ReadbackPool::~ReadbackPool() = default;

HostBuffer::HostBuffer(HostBuffer&& other) noexcept {
  *this = std::move(other);
}
HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(buffer, other.buffer);
  std::swap(offset, other.offset);
  std::swap(bytes, other.bytes);
  std::swap(data, other.data);
  return *this;
}
HostBuffer::~HostBuffer() {
  delete reinterpret_cast<FakeBuffer*>(buffer);
}
void HostBuffer::invalidate() const {}
void HostBuffer::flush() const {}

HostBuffer Device::allocate_readback(VkDeviceSize size) {
  HostBuffer made;
  if (fake_layer().memory_left) {
    auto* made_memory = new FakeBuffer{std::vector<std::uint8_t>(size + 256, 0xEE), 0};
    made.buffer = reinterpret_cast<VkBuffer>(made_memory);
    made.offset = 256;
    made.bytes = size;
    made.data = made_memory->memory.data() + 256;
  }
  return made;
}
DeviceBuffer Device::allocate_device(VkDeviceSize, VkBufferUsageFlags, VkMemoryPropertyFlags) {
  return {};
}
void Device::free(DeviceBuffer&) {}
void drop_pipeline_layout(Device& device, VkPipelineLayout layout, const VkAllocationCallbacks* allocator) {
  device.vk.DestroyPipelineLayout(device.handle, layout, allocator);
}
std::string Device::name_of(std::uint64_t) {
  return {};
}

void CommandRecording::add(std::shared_ptr<Operation> operation) {
  operations.push_back(std::move(operation));
}
CommandRecording* recording_of(Device&, VkCommandBuffer) {
  return fake_layer().recording.get();
}
Device* device_of(const void*) {
  return &fake_layer().device;
}
const Options& options() {
  static const Options kOptions;
  return kOptions;
}
void note(std::string_view text, std::uint32_t) noexcept {
  fake_layer().notes.emplace_back(text);
}
Process::Process() noexcept = default;
Process& process() noexcept {
  static Process made;
  return made;
}
void spool_failed() noexcept {}

namespace geometry {
namespace {

FakeLayer* current = nullptr;
constexpr std::uint64_t kFirstStructure = 0x10000;

VkResult create_buffer(VkDevice, const VkBufferCreateInfo* info, const VkAllocationCallbacks*, VkBuffer* buffer) {
  auto* made = new FakeBuffer{std::vector<std::uint8_t>(info->size), info->usage};
  *buffer = reinterpret_cast<VkBuffer>(made);
  const std::scoped_lock lock(current->buffers_mutex);
  current->buffers.insert(made);
  return VK_SUCCESS;
}
void destroy_buffer(VkDevice, VkBuffer buffer, const VkAllocationCallbacks*) {
  auto* gone = reinterpret_cast<FakeBuffer*>(buffer);
  {
    const std::scoped_lock lock(current->buffers_mutex);
    current->buffers.erase(gone);
  }
  delete gone;
}
VkDeviceAddress buffer_address(VkDevice, const VkBufferDeviceAddressInfo* info) {
  return FakeLayer::address(*reinterpret_cast<FakeBuffer*>(info->buffer));
}
void copy_buffer(VkCommandBuffer, VkBuffer from, VkBuffer to, std::uint32_t count, const VkBufferCopy* regions) {
  const auto& source = *reinterpret_cast<FakeBuffer*>(from);
  auto& target = *reinterpret_cast<FakeBuffer*>(to);
  if ((source.usage & VK_BUFFER_USAGE_TRANSFER_SRC_BIT) == 0) {
    throw std::logic_error("a copy from a buffer that was not created for it");
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint64_t b = 0; b < regions[i].size; ++b) {
      target.memory.at(regions[i].dstOffset + b) = source.memory.at(regions[i].srcOffset + b);
    }
  }
}
VkResult create_structure(VkDevice, const VkAccelerationStructureCreateInfoKHR*, const VkAllocationCallbacks*,
                          VkAccelerationStructureKHR* structure) {
  static std::atomic<std::uint64_t> next = kFirstStructure;
  *structure = reinterpret_cast<VkAccelerationStructureKHR>(next++);
  return VK_SUCCESS;
}
VkDeviceAddress structure_address(VkDevice, const VkAccelerationStructureDeviceAddressInfoKHR* info) {
  return reinterpret_cast<std::uint64_t>(info->accelerationStructure) << 16U;
}

}  // namespace

FakeLayer& fake_layer() {
  if (current == nullptr) {
    throw std::logic_error("no fake layer");
  }
  return *current;
}

FakeLayer::FakeLayer() {
  current = this;
  auto& vk = device.vk;
  vk.GetDeviceProcAddr = [](VkDevice, const char*) -> PFN_vkVoidFunction { return nullptr; };
  vk.CreateBuffer = create_buffer;
  vk.DestroyBuffer = destroy_buffer;
  vk.BindBufferMemory = [](VkDevice, VkBuffer, VkDeviceMemory, VkDeviceSize) { return VK_SUCCESS; };
  vk.GetBufferDeviceAddress = buffer_address;
  vk.CmdPipelineBarrier = [](VkCommandBuffer, VkPipelineStageFlags, VkPipelineStageFlags, VkDependencyFlags,
                             std::uint32_t, const VkMemoryBarrier*, std::uint32_t, const VkBufferMemoryBarrier*,
                             std::uint32_t, const VkImageMemoryBarrier*) {};
  vk.CmdCopyBuffer = copy_buffer;
  vk.CreateAccelerationStructureKHR = create_structure;
  vk.DestroyAccelerationStructureKHR = [](VkDevice, VkAccelerationStructureKHR, const VkAllocationCallbacks*) {};
  vk.GetAccelerationStructureDeviceAddressKHR = structure_address;
  vk.CmdBuildAccelerationStructuresKHR =
      [](VkCommandBuffer, std::uint32_t, const VkAccelerationStructureBuildGeometryInfoKHR*,
         const VkAccelerationStructureBuildRangeInfoKHR* const*) { ++current->passed_on; };
  vk.CmdBuildAccelerationStructuresIndirectKHR =
      [](VkCommandBuffer, std::uint32_t, const VkAccelerationStructureBuildGeometryInfoKHR*, const VkDeviceAddress*,
         const std::uint32_t*, const std::uint32_t* const*) { ++current->passed_on; };
  vk.BuildAccelerationStructuresKHR = [](VkDevice, VkDeferredOperationKHR, std::uint32_t,
                                         const VkAccelerationStructureBuildGeometryInfoKHR*,
                                         const VkAccelerationStructureBuildRangeInfoKHR* const*) {
    ++current->passed_on;
    return current->host_result;
  };
  vk.CopyAccelerationStructureKHR = [](VkDevice, VkDeferredOperationKHR, const VkCopyAccelerationStructureInfoKHR*) {
    ++current->passed_on;
    return current->host_result;
  };
  vk.CopyAccelerationStructureToMemoryKHR = [](VkDevice, VkDeferredOperationKHR,
                                               const VkCopyAccelerationStructureToMemoryInfoKHR* info) {
    // UUIDs, size, deserialised size, no handles, and the handle as the data.
    const std::uint64_t numbers[] = {64, 1000, 0, reinterpret_cast<std::uint64_t>(info->src)};
    std::memset(info->dst.hostAddress, 0, 32);
    std::memcpy(static_cast<std::uint8_t*>(info->dst.hostAddress) + 32, numbers, sizeof numbers);
    ++current->passed_on;
    return current->host_result;
  };
  vk.CopyMemoryToAccelerationStructureKHR = [](VkDevice, VkDeferredOperationKHR,
                                               const VkCopyMemoryToAccelerationStructureInfoKHR*) {
    ++current->passed_on;
    return current->host_result;
  };
  vk.CmdBindDescriptorSets = [](VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout, std::uint32_t, std::uint32_t,
                                const VkDescriptorSet*, std::uint32_t, const std::uint32_t*) {};
  vk.CmdPushDescriptorSetKHR = [](VkCommandBuffer, VkPipelineBindPoint, VkPipelineLayout, std::uint32_t, std::uint32_t,
                                  const VkWriteDescriptorSet*) {};
  vk.UpdateDescriptorSets = [](VkDevice, std::uint32_t, const VkWriteDescriptorSet*, std::uint32_t,
                               const VkCopyDescriptorSet*) {};
  vk.CreateDescriptorSetLayout = [](VkDevice, const VkDescriptorSetLayoutCreateInfo*, const VkAllocationCallbacks*,
                                    VkDescriptorSetLayout* layout) {
    *layout = reinterpret_cast<VkDescriptorSetLayout>(std::uint64_t{77});
    return VK_SUCCESS;
  };
  vk.AllocateDescriptorSets = [](VkDevice, const VkDescriptorSetAllocateInfo* info, VkDescriptorSet* sets) {
    static std::uint64_t next = 500;
    for (std::uint32_t i = 0; i < info->descriptorSetCount; ++i) {
      sets[i] = reinterpret_cast<VkDescriptorSet>(next++);
    }
    return VK_SUCCESS;
  };
  device.instrumented = true;
  device.geometry = Tracker::create(device);
  state = state_of(device);
  recording = std::make_shared<CommandRecording>(device, VK_NULL_HANDLE);
}

FakeLayer::~FakeLayer() {
  recording.reset();
  device.geometry.reset();
  for (const FakeBuffer* left : buffers) {
    delete left;
  }
  current = nullptr;
}

FakeBuffer& FakeLayer::buffer(std::size_t bytes, VkBufferUsageFlags usage) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = usage;
  VkBuffer made = VK_NULL_HANDLE;
  call<std::remove_pointer_t<PFN_vkCreateBuffer>>("vkCreateBuffer")(device.handle, &info, nullptr, &made);
  call<std::remove_pointer_t<PFN_vkBindBufferMemory>>("vkBindBufferMemory")(device.handle, made, VK_NULL_HANDLE, 0);
  return *reinterpret_cast<FakeBuffer*>(made);
}

VkAccelerationStructureKHR FakeLayer::structure(VkAccelerationStructureTypeKHR type) {
  VkAccelerationStructureCreateInfoKHR info{};
  info.type = type;
  info.buffer = handle(buffer(256));
  VkAccelerationStructureKHR made = VK_NULL_HANDLE;
  call<std::remove_pointer_t<PFN_vkCreateAccelerationStructureKHR>>("vkCreateAccelerationStructureKHR")(
      device.handle, &info, nullptr, &made);
  return made;
}

std::shared_ptr<Content> FakeLayer::content(VkAccelerationStructureKHR structure) {
  const std::scoped_lock lock(state->mutex);
  const StructurePointer object = state->structures.get(structure);
  return object == nullptr ? nullptr : object->content;
}

void FakeLayer::run() {
  Drain drain{device};
  for (const auto& operation : recording->operations) {
    operation->submit(device);
  }
  for (const auto& operation : recording->operations) {
    operation->complete(drain);
  }
  recording = std::make_shared<CommandRecording>(device, VK_NULL_HANDLE);
}

}  // namespace geometry
}  // namespace rayreplay::layer
