// Finds the shader, or the kind of its calls, that a user's cost names: by id, name or stage.
//
// Contract: `match_rank` orders the matches by precision; the most precise cost applies. O(1); `unknown_shader`
// O(shaders).
#pragma once

#include <cstddef>
#include <string>

#include "capture/trace/trace.hpp"

namespace rayreplay::machine {

/// "closest_hit": a kind of calls, as in results.
[[nodiscard]] std::string word_of_call(trace::EventKind kind);
/// "4/begin": one kind of a shader's calls, as in [shader_costs].
[[nodiscard]] std::string key_of_call(std::size_t id, trace::EventKind kind);

/// How precisely `key` names the shader: 0 not at all, 1 by stage, 2 by name, 3 by id.
[[nodiscard]] int match_rank(const std::string& key, const trace::Shader& shader, std::size_t id);

/// Usage for a key that names no shader of the trace, with the nearest one. `where`: as in Error.
[[noreturn]] void unknown_shader(const std::string& key, const trace::Trace& trace, const std::string& where);

}  // namespace rayreplay::machine
