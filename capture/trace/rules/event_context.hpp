// What the checks of events look up, prepared once per launch. Internal to this room.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/rules/grammar.hpp"
#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {

struct EventContext {
  EventContext(const Launch& launch_in, std::string path_in, const std::vector<Shader>& shaders_in,
               const Scene& scene_in);

  /// Whether instance, primitive and geometry ids can be checked.
  [[nodiscard]] bool has_scene() const {
    return has_scene_;
  }
  /// The instances of the launch's top-level structure.
  [[nodiscard]] std::span<const Instance> instances() const {
    return instances_;
  }
  /// Primitives of an instance's geometry; 0 when there is no such instance or geometry.
  [[nodiscard]] std::uint64_t primitives(std::uint32_t instance, std::uint32_t geometry) const;

  const Launch& launch;
  std::string path;
  const std::vector<Shader>& shaders;
  const Scene& scene;
  std::vector<std::uint8_t> shader_stage;       ///< by any 16-bit id: stage_bit, or a bit of no stage
  std::vector<std::uint32_t> first_primitives;  ///< by instance: of its first geometry; one 0 more at the end

 private:
  bool has_scene_ = false;
  std::span<const Instance> instances_;
};

/// Whether threads [first, last) break no rule. Fast; says no more.
[[nodiscard]] bool threads_are_sound(const EventContext& context, std::size_t first, std::size_t last);

/// Adds the faults of one thread, in order of rows. Slow and plain: what threads_are_sound is tested against.
void explain_thread(const EventContext& context, std::size_t thread, FaultList& faults);

}  // namespace rayreplay::trace
