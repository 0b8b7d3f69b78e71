// Finds the shader that a user's cost names, by id, name or stage.
//
// Contract: `match_rank` orders the matches by precision; the most precise cost applies. O(1); `unknown_shader`
// O(shaders).
#pragma once

#include <cstddef>
#include <string>

#include "capture/trace/trace.hpp"

namespace rayreplay::machine {

/// How precisely `key` names the shader: 0 not at all, 1 by stage, 2 by name, 3 by id.
[[nodiscard]] int match_rank(const std::string& key, const trace::Shader& shader, std::size_t id);

/// Usage for a key that names no shader of the trace, with the nearest one. `where`: as in Error.
[[noreturn]] void unknown_shader(const std::string& key, const trace::Trace& trace, const std::string& where);

}  // namespace rayreplay::machine
