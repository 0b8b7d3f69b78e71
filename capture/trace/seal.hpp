// Sealing a trace that was edited on purpose with another tool (h5py, MATLAB, h5repack --ublock 512 …).
//
// Contract: `seal` loads the file as `load` would, but for length and content hash, checks every rule, and only then
// writes a new envelope (docs/trace-format.md) in place. Throws Input and leaves the file as it is if it breaks a rule;
// returns the new content hash.
#pragma once

#include <filesystem>
#include <string>

namespace rayreplay::trace {

std::string seal(const std::filesystem::path& path);

}  // namespace rayreplay::trace
