// The folder that relative paths start from.
#pragma once

#include "base/error.hpp"

namespace rayreplay {

/// Throws where it has been deleted: no relative path leads anywhere then, and the system blames the file.
void require_working_folder(ErrorKind kind);

}  // namespace rayreplay
