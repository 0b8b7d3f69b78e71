// What the user can do about an output that the system refuses.
#pragma once

#include <string>

namespace rayreplay {

/// The fix for the error number of a failed create, write or rename; never "".
[[nodiscard]] std::string fix_of_write_failure(int error);

}  // namespace rayreplay
