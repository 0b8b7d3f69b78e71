// The interface between the layer and geometry.
//
// Geometry owns its intercepts: functions of buffers, acceleration structures, images and descriptors (intercepts()).
// They get their Device, find their CommandRecording by recording_of(), call the next layer through Device::vk, and add
// Operations that copy a build's inputs. The layer (launches.cpp, device creation) calls the Tracker below.
//
// All functions may be called from several threads concurrently; none throws; a failure is noted and leaves the
// application's call unchanged. `Tracker` exists only where Device::geometry is not null: elsewhere intercepts pass
// calls through (option geometry off, a device that does not record).
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

/// Device-level functions, except those of the layer itself: command buffers (begin, end, reset, free, execute),
/// pipelines and shader modules, trace-rays commands, queues, vkSetDebugUtilsObjectNameEXT.
[[nodiscard]] std::array<std::span<const Intercept>, 6> intercepts();

/// Part of an application's buffer.
struct BufferRange {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkDeviceSize bytes = 0;  ///< to the end of the buffer
};

/// The four regions of a launch, as given; for indirect launches with regions in memory see snapshot_tables_indirect.
struct TableRegions {
  VkStridedDeviceAddressRegionKHR region[4];  ///< in order of spool::TableRegion
};

/// Copies of shader binding tables, filled by the device when the launch runs.
class TableSnapshot {
 public:
  virtual ~TableSnapshot() = default;
  /// On the host, after the submission: the tables of the launch.
  [[nodiscard]] virtual std::vector<spool::Table> read() = 0;
};

/// Contents of the descriptors of a launch: found while recording (descriptor state), resolved afterwards. On the host,
/// in submission order, after all earlier operations.
class LaunchBindings {
 public:
  virtual ~LaunchBindings() = default;
  /// Spool numbers of top-level structures that it may have used, likeliest first.
  [[nodiscard]] virtual std::vector<std::uint32_t> structures() = 0;
  /// The images that its shaders can use; none unless accesses are recorded. Notes what is not known, for `launch`.
  [[nodiscard]] virtual spool::Images images(std::uint32_t launch) = 0;
};

class Tracker {
 public:
  /// Called at device creation, before the application has any object of the device. Null: no memory (noted).
  [[nodiscard]] static std::unique_ptr<Tracker> create(Device& device);
  virtual ~Tracker() = default;

  /// Device address of the table for instrument::Options::opacity_address, fixed for the device's life; 0 if
  /// observe_all is off.
  [[nodiscard]] virtual VkDeviceAddress opacity_address() const = 0;

  /// Before a launch, with observe_all: fills the opacity table for the launch's structures and sets RR_CONTROL_OPACITY
  /// of the control block. The caller records a full barrier before and after.
  virtual void prepare_opacity(CommandRecording& recording) = 0;

  /// The application's buffer at a device address; empty if it is unknown or cannot be copied from.
  [[nodiscard]] virtual std::optional<BufferRange> find(VkDeviceAddress address) = 0;

  /// Copies the tables in the command buffer, before the launch (the caller has recorded a full barrier). pipeline may
  /// be null (unknown). Never null.
  [[nodiscard]] virtual std::unique_ptr<TableSnapshot> snapshot_tables(CommandRecording& recording,
                                                                       const PipelineRecord* pipeline,
                                                                       const TableRegions& regions) = 0;

  /// For a launch whose regions are in a VkTraceRaysIndirectCommand2KHR on the device; `command` is the layer's copy of
  /// it, known to the host only afterwards. Nothing is recorded, since the buffers are unknown until then and others
  /// may be destroyed: the tables have their regions and strides, and `missing` says that they were not copied.
  [[nodiscard]] virtual std::unique_ptr<TableSnapshot> snapshot_tables_indirect(const HostBuffer& command) = 0;

  /// The bindings of the next recorded launch: the descriptor sets bound now, and of structures the static trace sites
  /// of the pipeline's shaders. Never null.
  [[nodiscard]] virtual std::unique_ptr<LaunchBindings> launch_bindings(CommandRecording& recording,
                                                                        const PipelineRecord* pipeline) = 0;
};

}  // namespace rayreplay::layer::geometry
