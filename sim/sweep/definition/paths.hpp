// Paths of the files that a sweep names.
//
// Contract: settings hold paths that can be opened from the current folder. Tables hold the paths of the sweep file:
// relative to its folder, or absolute if they were written so (Definition::absolute_paths). A table therefore does not
// depend on the current folder, nor on the place of the sweep's folder. Values of other keys are unchanged.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sweep/definition/definition.hpp"

namespace rayreplay::sweep {

/// The paths in a value of this key; none for keys without files, and for machines given by name.
[[nodiscard]] std::vector<std::string> paths_in(const std::string& key, const ParameterValue& value);

[[nodiscard]] std::string written_path(const Definition& definition, const std::string& path);
[[nodiscard]] ParameterValue written_value(const Definition& definition, const std::string& key,
                                           const ParameterValue& value);

/// Records the absolute paths in a value of the sweep file.
void note_absolute(Definition& definition, const std::string& key, const ParameterValue& value);

/// 32 hexadecimal digits over the file's bytes; none if the file cannot be read.
[[nodiscard]] std::optional<std::string> file_hash(const std::string& path);
/// The same over a text.
[[nodiscard]] std::string text_hash(std::string_view text);

}  // namespace rayreplay::sweep
