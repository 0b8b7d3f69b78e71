// Shader binding tables for the variant of a pipeline: copies of the application's with other handles.
//
// Tables hold handles of the application's pipeline and may be written at any time before the launch runs, also by the
// device. A dispatch in the application's command buffer, directly before the launch, therefore copies them and looks
// up every handle in the HandleMap of the variant. A handle of no group of the pipeline becomes 0 (no shader); valid
// launches do not use such records.
//
// Contract: plan() reserves a launch's memory before anything is recorded; null, with a note, on failure. record()
// appends the dispatch to the command buffer and binds the application's compute pipeline again; the caller records
// barriers before and after. No descriptors, no push constants. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/commands.hpp"
#include "capture/layer/device/device.hpp"
#include "capture/layer/geometry/hooks.hpp"

namespace rayreplay::layer {

/// A hash table in memory that the device reads.
class HandleMap {
 public:
  HandleMap() = default;
  /// `from`, `to`: concatenated group handles, the same number in each. Empty without memory, or without handles.
  HandleMap(Device& device, const std::vector<std::uint8_t>& from, const std::vector<std::uint8_t>& to);
  HandleMap(HandleMap&& other) noexcept;
  HandleMap& operator=(HandleMap&& other) noexcept;
  ~HandleMap();

  explicit operator bool() const {
    return same_ || buffer_.address != 0;
  }
  /// All handles are equal: tables can stay as they are.
  [[nodiscard]] bool same() const {
    return same_;
  }
  /// Two groups have one handle in `from` and two in `to`: the first counts.
  [[nodiscard]] bool ambiguous() const {
    return ambiguous_;
  }
  [[nodiscard]] VkDeviceAddress address() const {
    return buffer_.address;
  }

 private:
  Device* device_ = nullptr;
  DeviceBuffer buffer_;
  bool same_ = false, ambiguous_ = false;
};

class TablePatcher;

/// The tables of one launch; frees its memory when destroyed.
class PatchedTables {
 public:
  explicit PatchedTables(TablePatcher& patcher) : patcher_(patcher) {}
  PatchedTables(const PatchedTables&) = delete;
  PatchedTables& operator=(const PatchedTables&) = delete;
  ~PatchedTables();

  geometry::TableRegions regions{};  ///< as the launch is to be given them

 private:
  friend class TablePatcher;
  TablePatcher& patcher_;
  std::uint32_t slot_ = 0;
  std::uint32_t records_ = 0;
  std::size_t block_ = 0;
  VkDeviceSize offset_ = 0, bytes_ = 0;
};

class TablePatcher {
 public:
  explicit TablePatcher(Device& device) : device_(device) {}
  TablePatcher(const TablePatcher&) = delete;
  TablePatcher& operator=(const TablePatcher&) = delete;
  ~TablePatcher();

  [[nodiscard]] std::unique_ptr<PatchedTables> plan(const HandleMap& map, const geometry::TableRegions& regions);
  void record(const CommandRecording& recording, const PatchedTables& tables) const;

 private:
  friend class PatchedTables;
  struct Block {
    DeviceBuffer buffer;
    std::map<VkDeviceSize, VkDeviceSize> free;  // offset → bytes
  };
  bool prepare();
  bool make_pipeline();
  bool reserve(PatchedTables& tables, VkDeviceSize bytes);
  bool take(std::size_t number, PatchedTables& tables, VkDeviceSize bytes);
  void release(const PatchedTables& tables);

  Device& device_;
  std::mutex mutex_;
  bool failed_ = false;  // it could not be prepared
  DeviceBuffer arguments_;
  std::uint8_t* slots_ = nullptr;  // of arguments_
  std::uint32_t next_slot_ = 0;
  std::vector<std::uint32_t> free_slots_;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline pipeline_ = VK_NULL_HANDLE;
  std::map<std::size_t, Block> blocks_;
  std::size_t next_block_ = 0;
};

}  // namespace rayreplay::layer
