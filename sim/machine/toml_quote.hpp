// Quotes text for TOML.
//
// Contract: `quoted` gives a TOML basic string, in double quotes, with TOML escapes for quotes, backslashes, control
// and invisible characters. TOML is UTF-8: other bytes, which paths may contain, are written out (base/text.hpp,
// as_utf8).
#pragma once

#include <string>

namespace rayreplay::machine {

[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace rayreplay::machine
