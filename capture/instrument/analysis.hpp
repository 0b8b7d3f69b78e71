// Analysis of a module for the passes: its ray-tracing entry points, the functions that each reaches, and the types of
// its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/instrument/instrument.hpp"
#include "capture/instrument/module_names.hpp"

namespace rayreplay::instrument {

struct Shader {
  std::size_t entry_point = 0;  ///< index in Module::entry_points
  Stage stage = Stage::RayGeneration;
  std::string name;
  std::uint16_t id = 0;
};

/// The stage of an execution model; none: it is never instrumented.
[[nodiscard]] std::optional<Stage> stage_of(Word execution_model);

[[nodiscard]] constexpr Stages kind_of(Stage stage) {
  return stage < Stage::Vertex ? Stages::RayTracing : Stages::Others;
}

[[nodiscard]] std::vector<Shader> shaders_of(const Module& module, std::uint16_t first_shader_id,
                                             Stages stages = Stages::RayTracing);

struct Analysis {
  std::vector<Shader> shaders;
  /// For each function, the shaders (indices, ascending) whose calls reach it.
  std::vector<std::vector<std::uint32_t>> reached_by;
  std::unordered_map<Id, std::size_t> function_of;  ///< function id -> index
  std::unordered_map<Id, std::size_t> globals;      ///< result id -> index in Module::globals
  std::vector<Id> types;                            ///< result type of an id; 0: none or not known

  [[nodiscard]] Id type_of(Id id) const {
    return id < types.size() ? types[id] : 0;
  }
};

[[nodiscard]] Analysis analyse(const Module& module, std::vector<Shader> shaders);

}  // namespace rayreplay::instrument
