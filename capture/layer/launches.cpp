#include "capture/layer/launches.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "capture/layer/event_memory.hpp"
#include "capture/layer/launch_counts.hpp"
#include "capture/layer/pipelines/pipelines.hpp"
#include "capture/layer/pipelines/selection.hpp"
#include "capture/layer/pipelines/variants.hpp"
#include "capture/layer/process.hpp"

namespace rayreplay::layer {
namespace {

void copy_counters(CommandRecording& recording, const HostBuffer& slot, VkDeviceSize offset) {
  const auto& device = recording.device;
  const std::array<VkBufferCopy, 3> regions = {{
      {RR_CONTROL_COUNTER, slot.offset + offset + offsetof(LaunchSlot::Counters, words), sizeof(std::uint64_t)},
      {RR_CONTROL_DROPPED, slot.offset + offset + offsetof(LaunchSlot::Counters, dropped),
       sizeof(LaunchSlot::Counters::dropped)},
      {RR_CONTROL_CULLING, slot.offset + offset + offsetof(LaunchSlot::Counters, culling), sizeof(std::uint32_t)},
  }};
  device.vk.CmdCopyBuffer(recording.handle, device.control.buffer, slot.buffer,
                          static_cast<std::uint32_t>(regions.size()), regions.data());
}

void call_next(Device& device, VkCommandBuffer commands, const LaunchCommand& launch) {
  const auto* region = launch.regions.region;
  switch (launch.kind) {
    case LaunchKind::Direct:
      device.vk.CmdTraceRaysKHR(commands, &region[0], &region[1], &region[2], &region[3], launch.width, launch.height,
                                launch.depth);
      break;
    case LaunchKind::Indirect:
      device.vk.CmdTraceRaysIndirectKHR(commands, &region[0], &region[1], &region[2], &region[3], launch.address);
      break;
    case LaunchKind::Indirect2:
      device.vk.CmdTraceRaysIndirect2KHR(commands, launch.address);
      break;
  }
}

/// Copies the size (and tables) of an indirect launch out of the application's buffer.
void copy_command(CommandRecording& recording, LaunchOperation& operation, const LaunchCommand& launch) {
  auto& device = recording.device;
  const bool whole = launch.kind == LaunchKind::Indirect2;
  const VkDeviceSize bytes = whole ? sizeof(VkTraceRaysIndirectCommand2KHR) : sizeof(VkTraceRaysIndirectCommandKHR);
  operation.size_known = false;
  if (whole) {
    operation.command = device.allocate_readback(bytes);
  }
  const auto range = device.geometry ? device.geometry->find(launch.address) : std::nullopt;
  if (!range || range->bytes < bytes || (whole && !operation.command)) {
    // Without records, the size is needed only to know whether a swizzle was applied.
    if (!device.records && device.swizzle.buffer == VK_NULL_HANDLE) {
      return;
    }
    note("the size of an indirect launch cannot be read (geometry is off, or its buffer is unknown)");
    return;
  }
  const VkBufferCopy copy{range->offset,
                          whole ? operation.command.offset : operation.slot.offset + offsetof(LaunchSlot, size), bytes};
  device.vk.CmdCopyBuffer(recording.handle, range->buffer, whole ? operation.command.buffer : operation.slot.buffer, 1,
                          &copy);
  operation.size_known = true;
}

/// The operation of all launches with nothing recorded around them.
const std::shared_ptr<Operation>& plain_launch() {
  class PlainLaunch final : public Operation {
   public:
    [[nodiscard]] bool plain_launch() const override {
      return true;
    }
    void complete(Drain& /*drain*/) override {
      // Submission counts the launch.
    }
  };
  static const std::shared_ptr<Operation> one = std::make_shared<PlainLaunch>();
  return one;
}

/// The pipeline and the tables that a launch is recorded with.
struct Choice {
  std::shared_ptr<const PipelineRecord> pipeline;  ///< null: unknown
  std::unique_ptr<PatchedTables> patched;          ///< null: the pipeline is the one that is bound
  bool plain = false;                              ///< nothing is recorded
};

Choice choose(const CommandRecording& recording, const LaunchCommand& launch) {
  Choice choice{recording.pipeline, nullptr, false};
  auto& device = recording.device;
  const bool wanted = !device.lazy || (may_be_chosen(device, recording.once) && device.event_memory->prepare());
  if (!choice.pipeline || !choice.pipeline->variant) {
    // Once there are instrumented shaders, each launch sets their gate.
    choice.plain = !wanted && !device.event_memory->made();
    return choice;
  }
  choice.plain = true;
  if (launch.kind == LaunchKind::Indirect2 || !wanted) {
    return choice;
  }
  const auto& made = choice.pipeline->variant->get(*choice.pipeline);
  if (made.own) {
    choice.patched = device.patcher->plan(made.handles, launch.regions);
  }
  choice.plain = made.own && !choice.patched;
  choice.pipeline = made.record;
  return choice;
}

/// The opacity table, unless the pipeline's shaders cannot be used with one.
void prepare_opacity(CommandRecording& recording) {
  auto& device = recording.device;
  const auto* pipeline = recording.pipeline.get();
  if (pipeline == nullptr || pipeline->any_hits_as_given || !pipeline->may_trace) {
    device.vk.CmdFillBuffer(recording.handle, device.control.buffer, RR_CONTROL_OPACITY, sizeof(std::uint32_t),
                            RR_OPACITY_AS_GIVEN);
  } else {
    device.geometry->prepare_opacity(recording);
  }
}

/// Records everything before the launch.
std::shared_ptr<LaunchOperation> begin(CommandRecording& recording, const LaunchCommand& launch, Choice choice) {
  auto& device = recording.device;
  auto operation = std::make_shared<LaunchOperation>(device);
  operation->slot = device.allocate_readback(sizeof(LaunchSlot));
  if (!operation->slot) {
    note("no host-visible memory is left: a launch is not recorded");
    return nullptr;
  }
  recording.add(operation);
  operation->kind = launch.kind;
  operation->width = launch.width;
  operation->height = launch.height;
  operation->depth = launch.depth;
  operation->pipeline = std::move(choice.pipeline);
  operation->patched = std::move(choice.patched);
  if (operation->pipeline && operation->pipeline->dynamic_stack) {
    operation->stack_bytes = recording.stack_size;
  }
  if (device.timestamps) {
    operation->timestamps = device.timestamps->take();
  }
  full_barrier(recording);
  if (launch.kind != LaunchKind::Direct) {
    copy_command(recording, *operation, launch);
  }
  if (device.geometry) {
    const auto* pipeline = operation->pipeline.get();
    operation->tables = launch.kind == LaunchKind::Indirect2
                            ? device.geometry->snapshot_tables_indirect(operation->command)
                            : device.geometry->snapshot_tables(recording, pipeline, launch.regions);
    operation->bindings = device.geometry->launch_bindings(recording, pipeline);
    if (options().observe_all) {
      prepare_opacity(recording);
    }
  }
  if (device.gated) {
    const VkBufferCopy gate{operation->slot.offset + offsetof(LaunchSlot, gate), RR_CONTROL_GATE,
                            sizeof(std::uint32_t)};
    device.vk.CmdCopyBuffer(recording.handle, operation->slot.buffer, device.control.buffer, 1, &gate);
  }
  if (device.records) {
    copy_counters(recording, operation->slot, offsetof(LaunchSlot, before));
  }
  begin_counts(recording, *operation);
  if (operation->patched) {
    device.patcher->record(recording, *operation->patched);
  }
  full_barrier(recording);
  if (operation->timestamps) {
    device.vk.CmdResetQueryPool(recording.handle, operation->timestamps->pool, operation->timestamps->first, 2);
    device.vk.CmdWriteTimestamp(recording.handle, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, operation->timestamps->pool,
                                operation->timestamps->first);
  }
  return operation;
}

/// Records the launch with the variant in place of the application's pipeline.
void call_variant(const CommandRecording& recording, const LaunchOperation& operation, LaunchCommand launch) {
  auto& device = recording.device;
  const auto& vk = device.vk;
  const auto& variant = *operation.pipeline;
  launch.regions = operation.patched->regions;
  vk.CmdBindPipeline(recording.handle, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, variant.handle);
  if (variant.dynamic_stack) {
    vk.CmdSetRayTracingPipelineStackSizeKHR(recording.handle, std::max(recording.stack_size, variant.needed_stack));
  }
  call_next(device, recording.handle, launch);
  vk.CmdBindPipeline(recording.handle, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, recording.pipeline->handle);
  if (variant.dynamic_stack && recording.stack_size != 0) {
    vk.CmdSetRayTracingPipelineStackSizeKHR(recording.handle, recording.stack_size);
  }
}

void end(CommandRecording& recording, LaunchOperation& operation) {
  auto& device = recording.device;
  if (operation.timestamps) {
    device.vk.CmdWriteTimestamp(recording.handle, VK_PIPELINE_STAGE_RAY_TRACING_SHADER_BIT_KHR,
                                operation.timestamps->pool, operation.timestamps->first + 1);
  }
  full_barrier(recording);
  end_counts(recording, operation);
  if (device.records) {
    copy_counters(recording, operation.slot, offsetof(LaunchSlot, after));
    if (options().observe_all) {
      const VkBufferCopy opacity{RR_CONTROL_OPACITY, operation.slot.offset + offsetof(LaunchSlot, opacity),
                                 sizeof(std::uint32_t)};
      device.vk.CmdCopyBuffer(recording.handle, device.control.buffer, operation.slot.buffer, 1, &opacity);
    }
  }
  if (device.records || operation.counts) {
    full_barrier(recording);
  }
  operation.whole = true;
}

}  // namespace

LaunchOperation::~LaunchOperation() {
  if (timestamps) {
    device.timestamps->give_back(*timestamps);
  }
}

void record_launch(Device& device, VkCommandBuffer commands, const LaunchCommand& launch) {
  CommandRecording* recording = nullptr;
  std::shared_ptr<LaunchOperation> operation;
  if (!device.lost.load()) {
    attempt("recording a launch", [&] {
      recording = recording_of(device, commands);
      if (recording == nullptr) {
        return;
      }
      auto choice = choose(*recording, launch);
      if (choice.plain) {
        recording->operations.push_back(plain_launch());
      } else {
        operation = begin(*recording, launch, std::move(choice));
      }
    });
  }
  if (operation && operation->patched) {
    call_variant(*recording, *operation, launch);
  } else {
    call_next(device, commands, launch);
  }
  if (operation) {
    attempt("recording a launch", [&] { end(*recording, *operation); });
  }
}

}  // namespace rayreplay::layer
