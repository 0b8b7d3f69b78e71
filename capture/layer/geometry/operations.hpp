// Recording of builds and copies of acceleration structures: the copies for the capture, and their completion.
//
// Contract: each function is called while the application records the command of the same name. `record_builds` and
// `record_deserialize` copy what the command reads: called before it is passed on. `record_serialize` reads what the
// command wrote: called after it. They throw nothing; failures are noted.
#pragma once

#include <vector>

#include "capture/layer/geometry/build.hpp"
#include "capture/layer/geometry/state.hpp"

namespace rayreplay::layer::geometry {

/// False if no later launch can be captured: builds are then not copied.
[[nodiscard]] bool still_wanted(const State& state);

void record_builds(State& state, CommandRecording& recording, std::vector<BuildPlan> plans);
void record_copy(State& state, CommandRecording& recording, StructurePointer from, StructurePointer to);
void record_serialize(State& state, CommandRecording& recording, StructurePointer from, VkDeviceAddress to);
void record_deserialize(State& state, CommandRecording& recording, VkDeviceAddress from, StructurePointer to);

/// Sets the content of deserialising these bytes into `to`. The mutex is held.
void set_deserialized(State& state, StructureObject& to, const Window& window);
/// The mutex is held.
void set_copied(State& state, const StructureObject& from, StructureObject& to);

}  // namespace rayreplay::layer::geometry
