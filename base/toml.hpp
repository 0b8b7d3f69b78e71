// Parser of all TOML text: settings files, and texts in traces and databases.
//
// Contract: the nesting depth is checked before the TOML library parses the text, because the library, and all code
// that walks through a document, recurses once a level and could exhaust the stack. Depth counts tables: the dotted
// parts of headers and keys, and arrays and inline tables inside one another. Errors are Usage, or of the kind asked
// for, with file, line, what was found, what was expected and a fix. O(length).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <toml++/toml.h>

#include "base/error.hpp"

namespace rayreplay {

/// The largest text that is parsed; files of settings and lists of costs have some KiB.
inline constexpr std::size_t kMaxTomlBytes = std::size_t{16} << 20U;
/// Experiments, machines and sweeps need a depth of 4.
inline constexpr std::size_t kMaxTomlDepth = 64;
/// The longest part of a key: names of shaders, which compilers may have mangled.
inline constexpr std::size_t kMaxTomlKeyBytes = 4096;

/// `source` names the file, `what` its kind: "machine", "sweep".
[[nodiscard]] toml::table parse_toml(std::string_view text, const std::string& source, std::string_view what,
                                     ErrorKind kind = ErrorKind::Usage);

}  // namespace rayreplay
