// What the layer asks of geometry, and geometry of the layer.
//
// Geometry owns its intercepts: functions of buffers, acceleration structures and descriptors (intercepts()), which
// are given their Device, find their CommandRecording by recording_of(), call the next layer through Device::vk,
// and add Operations that copy out what a build reads. The layer (launches.cpp, device creation) calls the Tracker
// below.
//
// Every function may be called from several threads at once; none throws; a failure is note()d and leaves the
// application's own call as it was. `Tracker` exists only where Device::geometry is not null: intercepts must pass
// through otherwise (option geometry off, a device that does not record).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/commands.hpp"
#include "capture/spool/format.hpp"

namespace rayreplay::layer {
struct Intercept;
struct PipelineRecord;
}  // namespace rayreplay::layer

namespace rayreplay::layer::geometry {

/// Device-level functions. None of: command buffers (begin, end, reset, free, execute), pipelines and shader modules,
/// trace-rays commands, queues, vkSetDebugUtilsObjectNameEXT (all the layer's own).
[[nodiscard]] std::array<std::span<const Intercept>, 5> intercepts();

/// Part of an application's buffer.
struct BufferRange {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkDeviceSize bytes = 0;  ///< to the end of the buffer
};

/// The four regions of a launch, as given; for indirect launches that carry them in memory see
/// snapshot_tables_indirect.
struct TableRegions {
  VkStridedDeviceAddressRegionKHR region[4];  ///< in order of spool::TableRegion
};

/// Copies of shader binding tables, filled by the device when the launch runs.
class TableSnapshot {
 public:
  virtual ~TableSnapshot() = default;
  /// On the host, after the submission: what the launch saw.
  [[nodiscard]] virtual std::vector<spool::Table> read() = 0;
};

/// The acceleration structures a launch may have used: found while recording (descriptor state), resolved after.
class StructureChoice {
 public:
  virtual ~StructureChoice() = default;
  /// On the host, in submission order, after all earlier operations: spool numbers of top-level structures, likeliest
  /// first.
  [[nodiscard]] virtual std::vector<std::uint32_t> resolve() = 0;
};

class Tracker {
 public:
  /// At device creation, before the application has any object of the device. Null: no memory (noted).
  [[nodiscard]] static std::unique_ptr<Tracker> create(Device& device);
  virtual ~Tracker() = default;

  /// Device address of the table for instrument::Options::opacity_address, fixed for the device's life; 0 if
  /// observe_all is off.
  [[nodiscard]] virtual VkDeviceAddress opacity_address() const = 0;

  /// In the command buffer before a launch, with observe_all: fills the opacity table for the structures that it uses
  /// and sets RR_CONTROL_OPACITY of the control block. The caller has put a full barrier before and puts one after.
  virtual void prepare_opacity(CommandRecording& recording) = 0;

  /// The application's buffer that a device address lies in; nothing if it is unknown or cannot be copied from.
  [[nodiscard]] virtual std::optional<BufferRange> find(VkDeviceAddress address) = 0;

  /// Copies the tables in the command buffer, before the launch (the caller has put a full barrier before).
  /// pipeline may be null (unknown). Never null.
  [[nodiscard]] virtual std::unique_ptr<TableSnapshot> snapshot_tables(CommandRecording& recording,
                                                                       const PipelineRecord* pipeline,
                                                                       const TableRegions& regions) = 0;

  /// The same for a launch whose regions lie in a VkTraceRaysIndirectCommand2KHR on the device, of which `command` is
  /// the layer's copy: known to the host only afterwards. Nothing is recorded, as the buffers are unknown until then
  /// and all others may be destroyed: the tables have their regions and strides, and `missing` says that they were not
  /// copied.
  [[nodiscard]] virtual std::unique_ptr<TableSnapshot> snapshot_tables_indirect(const HostBuffer& command) = 0;

  /// The structures of the launch that is about to be recorded, by the descriptor sets bound now and the static trace
  /// sites of the pipeline's shaders. Never null.
  [[nodiscard]] virtual std::unique_ptr<StructureChoice> launch_structures(CommandRecording& recording,
                                                                           const PipelineRecord* pipeline) = 0;
};

}  // namespace rayreplay::layer::geometry
