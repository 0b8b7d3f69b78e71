// State of a command buffer: the operations that the host completes after the device ran it.
//
// A CommandRecording is made at vkBeginCommandBuffer and dropped at a reset; pending submissions keep the old one
// alive. Recording relies on the application's external synchronisation of the command buffer: no locks. An Operation
// is completed once for each submission that held it, in recording order, after the device has finished the submission
// and before the same recording is submitted again: its HostBuffers then hold all that the device wrote. Operations of
// a secondary command buffer are shared by the primaries that execute it.
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
  /// Called on the host directly before a submission with this operation reaches its queue, for all its operations in
  /// order, after complete() of earlier submissions of the same recording. Must not throw or call queue functions.
  virtual void submit(Device&) {}
  /// False: completion may be late; submissions with only such operations and launches that are not captured are not
  /// waited for.
  [[nodiscard]] virtual bool prompt() const {
    return true;
  }
  /// Called on the host. Must not throw; must not call queue functions. Launches: see launches.cpp.
  virtual void complete(Drain& drain) = 0;
  /// A launch with the application's own shaders and nothing recorded around it: counted at submission.
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

  /// Descriptor state for ray tracing; its type is private to geometry (descriptors.cpp).
  std::shared_ptr<void> descriptors;

  /// Appends an operation. Called before commands are recorded that write into its HostBuffers: the command buffer then
  /// keeps them alive, or the device would write into another owner's memory.
  void add(std::shared_ptr<Operation> operation);
};

/// A command buffer that the application allocated.
struct KnownCommands {
  VkCommandPool pool = VK_NULL_HANDLE;
  std::shared_ptr<CommandRecording> recording;  ///< null: it holds nothing that is observed
};

/// A full barrier in the middle of a command buffer.
void full_barrier(CommandRecording& recording);

/// The recording of a command buffer; null if unknown (allocated before the layer, or the device does not record).
[[nodiscard]] CommandRecording* recording_of(Device& device, VkCommandBuffer commands);

}  // namespace rayreplay::layer
