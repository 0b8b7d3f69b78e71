// Temporaries beside an output: their unpredictable names, and the removal of those that a killed process left.
//
// Contract: the temporary of "DIR/NAME" is "DIR/NAME.part-R", R being 16 random hexadecimal digits (NAME is cut where a
// file's name would become too long). It is created exclusively, never through a symbolic link, with the permissions
// that the umask leaves. Its owner holds flock on it as long as it lives. The system releases the lock at any end of
// the process. Locks, unlike process numbers, are valid in every container that shares the file system.
//   `remove_leftovers` removes temporaries of the same output that belong to this user and that nobody locks. Where the
// file system has no flock, nothing is removed.
//   Another user who may write to a folder without a sticky bit can still exchange the temporary after its creation.
// Writers use its descriptor, never its name, so no file elsewhere is overwritten. The rename then puts that user's
// file into place; the user could equally exchange the finished output.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/file_descriptor.hpp"

namespace rayreplay {

/// 16 hexadecimal digits from the system.
[[nodiscard]] std::string random_digits();

/// Whether a file of this name is the temporary of some output.
[[nodiscard]] bool is_temporary_name(std::string_view name);

struct Temporary {
  std::filesystem::path path;
  FileDescriptor file;  ///< open for reading and writing, locked; of a folder: for reading
  int error = 0;        ///< errno; not 0: there is no temporary
};

[[nodiscard]] Temporary create_temporary_file(const std::filesystem::path& output);
[[nodiscard]] Temporary create_temporary_folder(const std::filesystem::path& output);

/// Removes abandoned temporary files of this output.
void remove_leftovers(const std::filesystem::path& output) noexcept;

/// Calls `remove` for each abandoned folder whose name `is_wanted` accepts, and holds the folder's lock meanwhile.
void visit_abandoned_folders(const std::filesystem::path& parent,
                             const std::function<bool(const std::string& name)>& is_wanted,
                             const std::function<void(const std::filesystem::path&)>& remove);
/// The same for the temporary folders of one output.
void visit_abandoned_folders(const std::filesystem::path& output,
                             const std::function<void(const std::filesystem::path&)>& remove);

/// Locks a file or folder for as long as the descriptor is open. False where another process holds it; true where the
/// file system knows no such locks, too.
[[nodiscard]] bool lock_temporary(int descriptor);

}  // namespace rayreplay
