// What the layer remembers of a command buffer: the operations to complete on the host after the device ran it.
//
// A CommandRecording is made new at vkBeginCommandBuffer and dropped at a reset; the old one lives on while a
// submission of it is being completed. Recording follows the application's external synchronisation of the command
// buffer, so nothing here is locked. An Operation is completed once for each submission that held it, in the order of
// recording, after the device has finished the submission and before the same recording is submitted again: what the
// device wrote into the operation's own HostBuffers is whole. Operations of a secondary command buffer are shared by
// the primaries that execute it.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <vulkan/vulkan.h>

#include "capture/layer/readback.hpp"

namespace rayreplay::layer {

struct Device;
struct PipelineRecord;

/// What a completing operation may ask for.
struct Drain {
  Device& device;
  std::uint32_t queue_family = 0;
  std::uint32_t queue = 0;  ///< index in its family
  std::uint32_t frame = 0;
};

class Operation {
 public:
  virtual ~Operation() = default;
  /// Called on the host right before a submission that holds it is given to its queue, for all its operations in order,
  /// after complete() of earlier submissions of the same recording. Must not throw or call queue functions.
  virtual void submit(Device&) {}
  /// False: its completion may come late, so a submission that holds only such operations and launches that are not
  /// captured is not waited for.
  [[nodiscard]] virtual bool prompt() const {
    return true;
  }
  /// Called on the host. Must not throw; must not call queue functions. Launches: see launches.cpp.
  virtual void complete(Drain& drain) = 0;
  /// A launch with the application's own shaders, around which nothing is recorded: it is counted at submission.
  [[nodiscard]] virtual bool plain_launch() const {
    return false;
  }
  /// Launches only: they are chosen, numbered and read back by the submission.
  virtual struct LaunchOperation* launch() {
    return nullptr;
  }
};

struct CommandRecording {
  CommandRecording(Device& of, VkCommandBuffer commands) : device(of), handle(commands) {}

  Device& device;
  VkCommandBuffer handle;
  std::vector<std::shared_ptr<Operation>> operations;
  // State at this point of recording.
  std::shared_ptr<const PipelineRecord> pipeline;  ///< bound for ray tracing; null: unknown or none
  std::uint32_t stack_size = 0;                    ///< set by the application; 0: not set
  VkPipeline compute = VK_NULL_HANDLE;             ///< bound for compute, where the layer dispatches of its own
  bool once = false;                               ///< submitted at most once

  /// Descriptor state for ray tracing, kept by geometry (descriptors.cpp): opaque here.
  std::shared_ptr<void> descriptors;

  /// Appends an operation. To be called before commands are recorded that write into its HostBuffers: from then on the
  /// command buffer must keep them alive, as otherwise the device would write into another owner's memory.
  void add(std::shared_ptr<Operation> operation);
};

/// A command buffer that the application allocated.
struct KnownCommands {
  VkCommandPool pool = VK_NULL_HANDLE;
  std::shared_ptr<CommandRecording> recording;  ///< null: it holds nothing that is observed
};

/// A barrier from everything before to everything after, in the middle of a command buffer.
void full_barrier(CommandRecording& recording);

/// Of a command buffer; null if it is not known (allocated before the layer, or the device does not record).
[[nodiscard]] CommandRecording* recording_of(Device& device, VkCommandBuffer commands);

}  // namespace rayreplay::layer
