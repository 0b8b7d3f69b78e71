// The folder in which the capture layer leaves its spools.
//
// Contract: `make_spool_folder` makes "OUTPUT.spool" for this user alone, or with `force` empties it of spools. For an
// empty output it makes a temporary folder, and removes those that killed commands left. Errors: Output, also for
// spools that are there without `force`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rayreplay::app {

/// The swizzle in the layer's form, in the spool's folder.
inline constexpr const char* kFlatSwizzle = "swizzle.u32";

[[nodiscard]] std::filesystem::path make_spool_folder(const std::string& output, bool force);

/// Sorted.
[[nodiscard]] std::vector<std::filesystem::path> spools_in(const std::filesystem::path& folder);

/// Removes these spools and the flat swizzle, then the folder if it is empty.
void remove_spool(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& files);

}  // namespace rayreplay::app
