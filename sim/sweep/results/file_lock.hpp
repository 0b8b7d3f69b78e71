// A lock that one process at a time holds.
//
// Contract: an fcntl lock on a file of its own. The system releases it when the process ends, and network file systems
// with locks forward it. The file holds "pid host" for the error message of a second process (Output). `was_left`: the
// last holder was killed, or the machine stopped, before the release. The release removes the file. A second lock of
// the same file within one process is refused too.
#pragma once

#include <filesystem>
#include <string>

namespace rayreplay::sweep {

class FileLock {
 public:
  /// `what`: the locked file, for messages.
  FileLock(std::filesystem::path lock_file, const std::filesystem::path& what);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] bool was_left() const {
    return was_left_;
  }
  /// Leaves the file in place, as a kill does: the guarded file is incomplete.
  void leave() {
    leave_ = true;
  }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool was_left_ = false;
  bool leave_ = false;
};

}  // namespace rayreplay::sweep
