// Text as a TOML string: in double quotes, with what would end it or is no text escaped.
#pragma once

#include <string>

namespace rayreplay::machine {

[[nodiscard]] std::string quoted(const std::string& text);

}  // namespace rayreplay::machine
