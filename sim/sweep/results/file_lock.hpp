// An exclusive lock with a lock file: one holder at a time, in all processes.
//
// Contract: an open file description lock (fcntl(2), F_OFD_SETLK) on a file of its own. The system releases it when the
// process ends, and network file systems with locks forward it. The file holds "pid host" for the error message of a
// second holder (Output), in another process or in this one. `was_left`: the last holder was killed, or the machine
// stopped, before the release. The release removes the file, except after `leave`, and after `was_left` without
// `checked`: then the next holder sees `was_left` too.
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
  /// The caller has checked that the guarded file is complete: the release removes the lock file.
  void checked() {
    leave_ = false;
  }
  /// The guarded file is incomplete: the release leaves the lock file in place, as a kill does.
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
