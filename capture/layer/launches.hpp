// Trace-rays commands: what is recorded around them, and what is read afterwards.
//
// Around each launch, in the application's command buffer: the gate word (if launches are chosen), the counters, a
// timestamp, the launch, a timestamp, the counters. Barriers separate launches of one queue, so that a launch's records
// are the words between its two counters. Submission decides which launches are captured. A launch that may be captured
// and whose pipeline has a variant runs with the variant and tables copied with the variant's handles; a launch that
// cannot be captured runs unchanged and is only counted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include <vulkan/vulkan.h>

#include "capture/instrument/probes/record.h"
#include "capture/layer/commands.hpp"
#include "capture/layer/geometry/hooks.hpp"
#include "capture/layer/table_patch.hpp"
#include "capture/layer/timestamps.hpp"

namespace rayreplay::layer {

/// The device's output for a launch, in the operation's slot.
struct LaunchSlot {
  struct Counters {
    std::uint64_t words = 0;
    std::array<std::uint32_t, RR_KINDS> dropped{};
    std::uint32_t culling = 0;
  };
  Counters before, after;
  std::uint32_t gate = 0;                ///< by the host, before the submission
  std::uint32_t opacity = 0;             ///< RR_CONTROL_OPACITY as the shaders saw it, with observe_all
  VkTraceRaysIndirectCommandKHR size{};  ///< indirect launches: by the device
  std::uint32_t unused2 = 0;
};

enum class LaunchKind : std::uint8_t { Direct, Indirect, Indirect2 };

struct LaunchOperation : Operation {
  explicit LaunchOperation(Device& device_in) : device(device_in) {}
  LaunchOperation(const LaunchOperation&) = delete;
  LaunchOperation& operator=(const LaunchOperation&) = delete;
  ~LaunchOperation() override;

  void complete(Drain& /*drain*/) override {
    // The submission reads launches itself: it knows their numbers and which are captured (capture.cpp).
  }
  /// Null if it could not be recorded completely: it then only keeps the memory that the device writes.
  LaunchOperation* launch() override {
    return whole ? this : nullptr;
  }

  Device& device;
  HostBuffer slot;     ///< LaunchSlot
  HostBuffer counts;   ///< of blocks: the counters before the launch, then those after it; empty: not counted
  HostBuffer command;  ///< Indirect2: VkTraceRaysIndirectCommand2KHR
  LaunchKind kind = LaunchKind::Direct;
  bool whole = false;  ///< all of it is recorded
  bool size_known = true;
  std::uint32_t width = 0, height = 0, depth = 0;  ///< Direct
  std::uint32_t stack_bytes = 0;                   ///< the application's dynamic stack size; 0: none was set
  std::shared_ptr<const PipelineRecord> pipeline;
  std::optional<TimestampPair> timestamps;
  std::unique_ptr<PatchedTables> patched;              ///< null: it runs with the application's own tables
  std::unique_ptr<geometry::TableSnapshot> tables;     ///< null: geometry is off
  std::unique_ptr<geometry::LaunchBindings> bindings;  ///< null: geometry is off
};

/// The application's launch, and what is recorded around it.
struct LaunchCommand {
  LaunchKind kind = LaunchKind::Direct;
  geometry::TableRegions regions{};  ///< Direct, Indirect
  std::uint32_t width = 0, height = 0, depth = 0;
  VkDeviceAddress address = 0;  ///< Indirect, Indirect2
};

void record_launch(Device& device, VkCommandBuffer commands, const LaunchCommand& launch);

}  // namespace rayreplay::layer
