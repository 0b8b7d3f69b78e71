// Files that hold one SPIR-V module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rayreplay::app {

/// The file's words, unchecked. Throws Input for a size that is not a multiple of 4 bytes.
[[nodiscard]] std::vector<std::uint32_t> read_module_file(const std::string& path);

/// True if the file starts with SPIR-V's magic number, in either byte order.
[[nodiscard]] bool has_module_start(const std::string& path);

}  // namespace rayreplay::app
