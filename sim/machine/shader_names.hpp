// The shader of a cost: users name it by id, name or stage.
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
