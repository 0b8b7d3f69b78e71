// A lock that one process at a time holds, until it ends, however it ends.
//
// Contract: fcntl's lock on a file of its own; the system releases it with the process, network file systems with locks
// pass it on. The file holds "pid host" for the message of whoever comes second (Output). `was_left`: the last holder
// did not release it: it was killed, or the machine stopped. The file is removed on release. Within one process a
// second lock of the same file is refused as well.
#pragma once

#include <filesystem>
#include <string>

namespace rayreplay::sweep {

class FileLock {
 public:
  /// `what`: the file that is locked, for messages.
  FileLock(std::filesystem::path lock_file, const std::filesystem::path& what);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] bool was_left() const {
    return was_left_;
  }
  /// The file stays behind, as after a kill: what it guards was not finished.
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
