// Recording of builds and copies of acceleration structures: the copies that the capture needs, and their completion.
//
// Contract: each function is called while the application records the command of the same name. `record_builds` copies
// what the builds read and is called before the application's command is passed on; so is `record_deserialize`.
// `record_serialize` reads what the command wrote and is called after it. Nothing thrown leaves them; what fails is
// noted.
#pragma once

#include <vector>

#include "capture/layer/geometry/build.hpp"
#include "capture/layer/geometry/state.hpp"

namespace rayreplay::layer::geometry {

/// False when no launch to come can be captured: builds are not copied any more.
[[nodiscard]] bool still_wanted(const State& state);

void record_builds(State& state, CommandRecording& recording, std::vector<BuildPlan> plans);
void record_copy(State& state, CommandRecording& recording, StructurePointer from, StructurePointer to);
void record_serialize(State& state, CommandRecording& recording, StructurePointer from, VkDeviceAddress to);
void record_deserialize(State& state, CommandRecording& recording, VkDeviceAddress from, StructurePointer to);

/// What deserialising these bytes into `to` gives. The mutex is held.
void set_deserialized(State& state, StructureObject& to, const Window& window);
/// The mutex is held.
void set_copied(State& state, const StructureObject& from, StructureObject& to);

}  // namespace rayreplay::layer::geometry
