// The file that libhdf5 writes to, with a way out when the disk is full. Internal to this room.
//
// libhdf5 cannot recover from a write that fails: it keeps the half-closed file and crashes over it when the process
// ends. So it writes through a driver of ours (libhdf5's own interface for that) which never tells it about metadata:
// after the first failure all further writes succeed and do nothing, and `failure` says why. Whoever writes asks after
// every step.
#pragma once

#include <cstdint>
#include <string>

#include "capture/trace/file/hdf5_handle.hpp"

namespace rayreplay::trace::hdf5 {

class Sink {
 public:
  /// Writes to `descriptor`, an empty file open for reading and writing; both must outlive every handle of the file.
  explicit Sink(int descriptor) : descriptor_(descriptor) {}
  ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  /// Makes `access`, a file access property list, open this file, whatever name H5Fcreate is given. No name is opened,
  /// so that no other process can exchange the file.
  void use_in(hid_t access);
  /// From now on nothing is written: the file will be thrown away.
  void discard() {
    discarding_ = true;
  }
  /// The system's reason for the first write that failed, "" if none did.
  [[nodiscard]] std::string failure() const;
  /// What the user can do about it; never "".
  [[nodiscard]] std::string fix() const;

 private:
  friend struct SinkDriver;
  int descriptor_ = -1;
  int error_ = 0;
  bool discarding_ = false;       ///< after a failure, too
  std::uint64_t on_its_way_ = 0;  ///< bytes from the start that the system was asked to write out
};

}  // namespace rayreplay::trace::hdf5
