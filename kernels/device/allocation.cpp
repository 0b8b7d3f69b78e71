// Device memory: buffers of one allocation, or of several where one is too small; freed memory is reused.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/device/device_state.hpp"

namespace rayreplay::kernels::detail {
namespace {

constexpr std::uint64_t kMinBytes = 4096;
constexpr std::uint64_t kPage = 65536;

constexpr auto kUsage = vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eShaderDeviceAddress |
                        vk::BufferUsageFlagBits::eTransferSrc | vk::BufferUsageFlagBits::eTransferDst;

/// Rounds up to an eighth of a power of two, so that buffers of similar size can replace each other; wastes a ninth.
std::uint64_t size_class(std::uint64_t bytes) {
  if (bytes <= kMinBytes) {
    return kMinBytes;
  }
  const std::uint64_t step = std::max(std::bit_floor(bytes) / 8, std::uint64_t{256});
  return (bytes + step - 1) / step * step;
}

std::string mib(std::uint64_t bytes) {
  constexpr double kKib = 1024;
  const double kib = static_cast<double>(bytes) / kKib;
  return kib < kKib ? fmt::format("{:.1f} KiB", kib) : fmt::format("{:.1f} MiB", kib / kKib);
}

}  // namespace

BufferState::~BufferState() {
  if (device == nullptr) {
    return;
  }
  device->live_bytes -= allocation.bytes;
  device->give_back(std::move(allocation));
}

vk::raii::DeviceMemory DeviceState::device_memory(std::uint64_t bytes) const {
  vk::StructureChain<vk::MemoryAllocateInfo, vk::MemoryAllocateFlagsInfo> chain;
  chain.get<vk::MemoryAllocateInfo>().allocationSize = bytes;
  chain.get<vk::MemoryAllocateInfo>().memoryTypeIndex = device_memory_type;
  chain.get<vk::MemoryAllocateFlagsInfo>().flags = vk::MemoryAllocateFlagBits::eDeviceAddress;
  return {device, chain.get<vk::MemoryAllocateInfo>()};
}

vk::raii::Buffer DeviceState::make_buffer(std::uint64_t bytes, vk::BufferUsageFlags usage,
                                          vk::BufferCreateFlags flags) const {
  vk::BufferCreateInfo info;
  info.flags = flags;
  info.size = bytes;
  info.usage = usage;
  std::vector<std::uint32_t> families{*facts.compute_family};
  if (facts.transfer_family) {
    families.push_back(*facts.transfer_family);
    info.sharingMode = vk::SharingMode::eConcurrent;
    info.setQueueFamilyIndices(families);
  }
  return {device, info};
}

Allocation DeviceState::create(std::uint64_t bytes) {
  if (bytes > facts.info.most_allocation) {
    return create_sparse(bytes);
  }
  Allocation allocation;
  allocation.buffer = make_buffer(bytes, kUsage, {});
  const vk::MemoryRequirements needs = allocation.buffer.getMemoryRequirements();
  allocation.memory.push_back(device_memory(needs.size));
  allocation.buffer.bindMemory(*allocation.memory.back(), 0);
  allocation.bytes = bytes;
  return allocation;
}

Allocation DeviceState::create_sparse(std::uint64_t bytes) {
  Allocation allocation;
  allocation.buffer =
      make_buffer((bytes + kPage - 1) / kPage * kPage, kUsage, vk::BufferCreateFlagBits::eSparseBinding);
  const vk::MemoryRequirements needs = allocation.buffer.getMemoryRequirements();
  const std::uint64_t piece = facts.info.most_allocation / needs.alignment * needs.alignment;
  std::vector<vk::SparseMemoryBind> binds;
  for (std::uint64_t at = 0; at < needs.size; at += piece) {
    const std::uint64_t size = std::min(piece, needs.size - at);
    allocation.memory.push_back(device_memory(size));
    vk::SparseMemoryBind bind;
    bind.resourceOffset = at;
    bind.size = size;
    bind.memory = *allocation.memory.back();
    binds.push_back(bind);
  }
  vk::SparseBufferMemoryBindInfo buffer_binds;
  buffer_binds.buffer = *allocation.buffer;
  buffer_binds.setBinds(binds);
  vk::BindSparseInfo bind_info;
  bind_info.setBufferBinds(buffer_binds);
  const vk::raii::Fence fence(device, vk::FenceCreateInfo{});
  compute_queue.bindSparse(bind_info, *fence);
  if (device.waitForFences(*fence, VK_TRUE, ~std::uint64_t{0}) != vk::Result::eSuccess) {
    lost = true;
    throw DeviceError(Fault::Lost, {"the device did not bind memory", facts.info.name, "", "", ""});
  }
  allocation.bytes = bytes;
  return allocation;
}

Allocation DeviceState::allocate(std::uint64_t wanted, const char* what) {
  require_alive();
  const std::uint64_t bytes = size_class(wanted);
  const auto found = pool.lower_bound(bytes);
  constexpr std::uint64_t kMaxWaste = 2;
  if (found != pool.end() && found->first <= kMaxWaste * bytes) {
    Allocation allocation = std::move(found->second);
    pool.erase(found);
    pooled_bytes -= allocation.bytes;
    live_bytes += allocation.bytes;
    peak_bytes = std::max(peak_bytes, live_bytes);
    return allocation;
  }
  const auto fail = [&](const std::string& found_text, const std::string& expected) {
    return DeviceError(Fault::Memory,
                       {fmt::format("the device's memory cannot hold {}", what), facts.info.name, found_text, expected,
                        "use --device cpu; --device-memory sets what may be used"});
  };
  const std::uint64_t limit = options.memory_limit;
  if (limit != 0 && live_bytes + pooled_bytes + bytes > limit) {
    empty_pool();
    if (live_bytes + bytes > limit) {
      throw fail(fmt::format("{} more than {} in use", mib(wanted), mib(live_bytes)),
                 fmt::format("{} at most (--device-memory)", mib(limit)));
    }
  }
  if (bytes > facts.info.most_allocation && (!facts.info.sparse || bytes > facts.info.most_buffer)) {
    throw fail(mib(wanted), fmt::format("{} in one buffer at most", mib(facts.info.most_allocation)));
  }
  Allocation allocation;
  try {
    allocation = create(bytes);
  } catch (const vk::OutOfDeviceMemoryError&) {
    empty_pool();
    try {
      allocation = create(bytes);
    } catch (const vk::OutOfDeviceMemoryError&) {
      throw fail(fmt::format("{} more than {} in use", mib(wanted), mib(live_bytes)), "");
    } catch (const vk::SystemError& error) {
      throw_as_device_error("allocating memory", error);
    }
  } catch (const vk::SystemError& error) {
    throw_as_device_error("allocating memory", error);
  }
  vk::BufferDeviceAddressInfo info;
  info.buffer = *allocation.buffer;
  allocation.address = device.getBufferAddress(info);
  live_bytes += allocation.bytes;
  peak_bytes = std::max(peak_bytes, live_bytes);
  return allocation;
}

void DeviceState::give_back(Allocation allocation) {
  allocation.busy_until = recorded;
  // Commands of one stream run in order, so the next user may be recorded at once.
  pooled_bytes += allocation.bytes;
  if (streams.size() <= 1) {
    pool.emplace(allocation.bytes, std::move(allocation));
  } else {
    graveyard.push_back(std::move(allocation));
  }
}

void DeviceState::empty_pool() {
  if (!lost) {
    for (StreamState* stream : streams) {
      finish(*stream);
    }
  }
  pool.clear();
  graveyard.clear();
  pooled_bytes = 0;
}

StagingChunk DeviceState::take_chunk() {
  if (!free_chunks.empty()) {
    StagingChunk chunk = std::move(free_chunks.back());
    free_chunks.pop_back();
    return chunk;
  }
  try {
    return guard("allocating staging memory", [&] { return make_chunk(); });
  } catch (const DeviceError& error) {
    if (error.fault() != Fault::Memory) {
      throw;
    }
  }
  empty_pool();
  return free_chunks.empty() ? guard("allocating staging memory", [&] { return make_chunk(); }) : take_chunk();
}

StagingChunk DeviceState::make_chunk() const {
  StagingChunk chunk;
  chunk.buffer = make_buffer(StagingChunk::kBytes,
                             vk::BufferUsageFlagBits::eTransferSrc | vk::BufferUsageFlagBits::eTransferDst, {});
  vk::MemoryAllocateInfo memory_info;
  memory_info.allocationSize = chunk.buffer.getMemoryRequirements().size;
  memory_info.memoryTypeIndex = host_memory_type;
  chunk.memory = vk::raii::DeviceMemory(device, memory_info);
  chunk.buffer.bindMemory(*chunk.memory, 0);
  chunk.mapped = static_cast<std::byte*>(chunk.memory.mapMemory(0, StagingChunk::kBytes));
  return chunk;
}

std::uint64_t DeviceState::free_bytes() const {
  std::uint64_t free = facts.info.memory_bytes - std::min(facts.info.memory_bytes, live_bytes);
  if (facts.has_memory_budget) {
    const auto chain =
        physical
            .getMemoryProperties2<vk::PhysicalDeviceMemoryProperties2, vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    const auto& memory = chain.get<vk::PhysicalDeviceMemoryProperties2>().memoryProperties;
    const auto& budget = chain.get<vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    const std::uint32_t heap = memory.memoryTypes[device_memory_type].heapIndex;
    const std::uint64_t used = std::min(budget.heapUsage[heap], budget.heapBudget[heap]);
    free = std::min(free, budget.heapBudget[heap] - used + pooled_bytes);
  }
  if (options.memory_limit != 0) {
    free = std::min(free, options.memory_limit - std::min(options.memory_limit, live_bytes));
  }
  return free;
}

}  // namespace rayreplay::kernels::detail
