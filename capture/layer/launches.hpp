// Trace-rays commands: what is recorded around them, and what is read afterwards.
//
// Around each launch, in the application's command buffer: the gate word (if launches are chosen), the counters before,
// the launch between two timestamps, the counters after. Barriers keep launches of one queue apart, so that a launch's
// records are the words between its two counters. Which launches are captured is decided at submission. Where a launch
// is of a pipeline with a variant, and may be captured, the variant is bound for it and its tables are copied with the
// variant's handles; one that cannot be captured runs as the application wrote it, and is only counted.
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

/// What the device writes for a launch; in the slot that the operation owns.
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
  /// Null if it could not be recorded to its end: then it only keeps the memory that the device writes.
  LaunchOperation* launch() override {
    return whole ? this : nullptr;
  }

  Device& device;
  HostBuffer slot;     ///< LaunchSlot
  HostBuffer command;  ///< Indirect2: VkTraceRaysIndirectCommand2KHR
  LaunchKind kind = LaunchKind::Direct;
  bool whole = false;  ///< all of it is recorded
  bool size_known = true;
  std::uint32_t width = 0, height = 0, depth = 0;  ///< Direct
  std::shared_ptr<const PipelineRecord> pipeline;
  std::optional<TimestampPair> timestamps;
  std::unique_ptr<PatchedTables> patched;                 ///< null: it runs with the application's own tables
  std::unique_ptr<geometry::TableSnapshot> tables;        ///< null: geometry is off
  std::unique_ptr<geometry::StructureChoice> structures;  ///< null: geometry is off
};

/// The launch as the application asked for it, with what is recorded around it.
struct LaunchCommand {
  LaunchKind kind = LaunchKind::Direct;
  geometry::TableRegions regions{};  ///< Direct, Indirect
  std::uint32_t width = 0, height = 0, depth = 0;
  VkDeviceAddress address = 0;  ///< Indirect, Indirect2
};

void record_launch(Device& device, VkCommandBuffer commands, const LaunchCommand& launch);

}  // namespace rayreplay::layer
