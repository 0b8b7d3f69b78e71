// The files that a sweep names: where they are, and how the sweep says it.
//
// Contract: settings hold paths that can be opened from where the command was called; tables hold them as the sweep
// has them: relative to its folder, absolute where they were written so (Definition::absolute_paths). So a table does
// not depend on how the sweep was named, or on where its folder lies. Values of other keys stay as they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/definition/definition.hpp"

namespace rayreplay::sweep {

/// The paths in a value of this key: none for keys that name no files, and for machines by name.
[[nodiscard]] std::vector<std::string> paths_in(const std::string& key, const ParameterValue& value);

[[nodiscard]] std::string written_path(const Definition& definition, const std::string& path);
[[nodiscard]] ParameterValue written_value(const Definition& definition, const std::string& key,
                                           const ParameterValue& value);

/// The paths of a value that was written somewhere: the absolute ones are remembered.
void note_absolute(Definition& definition, const std::string& key, const ParameterValue& value);

/// 32 hexadecimal digits over the file's bytes; none where it cannot be read.
[[nodiscard]] std::optional<std::string> file_hash(const std::string& path);

}  // namespace rayreplay::sweep
