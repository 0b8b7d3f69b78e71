// State shared by a Device, its buffers, programs and streams. Internal to this folder.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/device/device.hpp"
#include "kernels/device/device_facts.hpp"
#include "kernels/device/vulkan.hpp"

namespace rayreplay::kernels::detail {

/// A buffer with its memory, in use or in the pool for reuse.
struct Allocation {
  std::vector<vk::raii::DeviceMemory> memory;  ///< several: a sparse buffer
  vk::raii::Buffer buffer = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;
  /// Commands up to this number may still use the memory after it was freed.
  std::uint64_t busy_until = 0;
};

/// Memory visible to processor and device, for copies.
struct StagingChunk {
  static constexpr std::uint64_t kBytes = std::uint64_t{16} << 20U;
  vk::raii::DeviceMemory memory = nullptr;
  vk::raii::Buffer buffer = nullptr;
  std::byte* mapped = nullptr;
};

struct BufferState {
  std::shared_ptr<DeviceState> device;
  Allocation allocation;
  std::uint64_t recorded_before = 0;  ///< commands when it was allocated
  ~BufferState();
};

struct ProgramState {
  std::string name;
  vk::raii::Pipeline pipeline = nullptr;
  double seconds_per_group = 0;  ///< measured; 0: not yet
};

struct DeviceState : std::enable_shared_from_this<DeviceState> {
  DeviceState(const DeviceInfo& wanted, const DeviceOptions& given);
  ~DeviceState();

  DeviceOptions options;
  vk::raii::PhysicalDevice physical = nullptr;
  DeviceFacts facts;
  vk::raii::Device device = nullptr;
  vk::raii::Queue compute_queue = nullptr;
  vk::raii::Queue transfer_queue = nullptr;  ///< null where there is no family for it
  vk::raii::PipelineCache cache = nullptr;
  vk::raii::PipelineLayout layout = nullptr;
  std::uint32_t device_memory_type = 0;
  std::uint32_t host_memory_type = 0;
  vk::MemoryPropertyFlags host_memory_flags;

  std::multimap<std::uint64_t, Allocation> pool;  ///< freed buffers by size, for reuse
  std::vector<Allocation> graveyard;              ///< freed while several streams had unfinished commands
  std::vector<StagingChunk> free_chunks;
  std::uint64_t live_bytes = 0, pooled_bytes = 0, peak_bytes = 0;  ///< pooled: in pool or graveyard

  std::map<std::tuple<const std::uint32_t*, std::vector<std::uint32_t>, std::uint32_t>, std::unique_ptr<ProgramState>>
      programs;
  std::map<std::string, ProgramTime> times;

  std::set<StreamState*> streams;
  std::uint64_t recorded = 0;   ///< commands so far
  std::uint64_t completed = 0;  ///< all up to this number are done
  std::uint64_t submissions = 0;
  bool lost = false;

  [[nodiscard]] Allocation allocate(std::uint64_t bytes, const char* what);
  void give_back(Allocation allocation);
  /// Frees the pool, after waiting for commands that use it.
  void empty_pool();
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] StagingChunk take_chunk();
  [[nodiscard]] StagingChunk make_chunk() const;
  /// Converts Vulkan's exceptions to DeviceError. `what` is a clause.
  template <class F>
  auto guard(const char* what, const F& call) {
    try {
      return call();
    } catch (const vk::SystemError& error) {
      throw_as_device_error(what, error);
    }
  }
  /// As `guard`, for recording and submitting. After a failure later commands could read memory that was never written,
  /// so the device counts as lost.
  template <class F>
  auto guard_commands(const F& call) {
    try {
      return guard("taking commands", call);
    } catch (const DeviceError&) {
      lost = true;
      throw;
    }
  }
  void require_alive() const;
  void submit(const vk::raii::Queue& queue, const vk::SubmitInfo& info);
  void save_pipeline_cache() const noexcept;

 private:
  [[noreturn]] void throw_as_device_error(const char* what, const vk::SystemError& error);
  /// For all queues of the device.
  [[nodiscard]] vk::raii::Buffer make_buffer(std::uint64_t bytes, vk::BufferUsageFlags usage,
                                             vk::BufferCreateFlags flags) const;
  [[nodiscard]] Allocation create(std::uint64_t bytes);
  [[nodiscard]] Allocation create_sparse(std::uint64_t bytes);
  [[nodiscard]] vk::raii::DeviceMemory device_memory(std::uint64_t bytes) const;
  void load_pipeline_cache();
  [[nodiscard]] std::string cache_file() const;
};

/// Waits for all recorded commands of the stream.
void finish(StreamState& stream);

}  // namespace rayreplay::kernels::detail
