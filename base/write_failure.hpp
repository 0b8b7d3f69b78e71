// Remedies for outputs that the system refuses, as text for error messages.
#pragma once

#include <string>

namespace rayreplay {

/// The fix for the error number of a failed create, write or rename; never "".
[[nodiscard]] std::string fix_of_write_failure(int error);

}  // namespace rayreplay
