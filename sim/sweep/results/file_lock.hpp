// A lock that one holder at a time has.
//
// Contract: an open file description lock (fcntl(2), F_OFD_SETLK) on a file of its own. The system releases it when the
// process ends, and network file systems with locks forward it. The file holds "pid host" for the error message of a
// second holder (Output), in another process or in this one. `was_left`: the last holder was killed, or the machine
// stopped, before the release. The release removes the file; but a file that was left stays until `checked`.
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
  /// The file that the last holder left is complete: the lock file is removed with this lock.
  void checked() {
    leave_ = false;
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
