// The folder that relative paths start from.
//
// Contract: one call of the system. Errors: `kind`, with the remedy.
#pragma once

#include "base/error.hpp"

namespace rayreplay {

/// Throws if the working folder was deleted. Otherwise every relative path fails, and the system reports the file as
/// missing instead of the folder.
void require_working_folder(ErrorKind kind);

}  // namespace rayreplay
