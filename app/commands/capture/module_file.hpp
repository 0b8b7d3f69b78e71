// Files that hold one SPIR-V module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rayreplay::app {

/// The file's words, whatever they say. Throws Input for sizes that are no number of words.
[[nodiscard]] std::vector<std::uint32_t> read_module_file(const std::string& path);

/// True if the file starts as a SPIR-V module does, in any order of bytes, or is too short to say.
[[nodiscard]] bool has_module_start(const std::string& path);

}  // namespace rayreplay::app
