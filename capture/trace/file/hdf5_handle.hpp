// libhdf5 behind C++ ownership, and its error stack as text. For this room and for others that use libhdf5, which
// they link themselves.
//
// Contract: a Handle closes what it holds. A QuietScope keeps libhdf5 from printing while it lives and gives the
// process its own setting back; the first one also tells libhdf5 not to run at the end of the process. `last_message`
// is the innermost message of the call that has just failed, "" if none. libhdf5's serial build is not thread-safe:
// everything here runs in one thread at a time; decoding and encoding of chunks, which is where the time goes, happens
// outside libhdf5.
#pragma once

#include <string>

#include <hdf5.h>

namespace rayreplay::trace::hdf5 {

class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle();
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&& other) noexcept;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] hid_t get() const {
    return id_;
  }
  [[nodiscard]] explicit operator bool() const {
    return id_ >= 0;
  }
  /// Closes now; false when libhdf5 could not.
  bool close() noexcept;

 private:
  hid_t id_ = H5I_INVALID_HID;
};

class QuietScope {
 public:
  QuietScope();
  ~QuietScope();
  QuietScope(const QuietScope&) = delete;
  QuietScope& operator=(const QuietScope&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

[[nodiscard]] std::string last_message();

/// What to add to the addresses that H5Dget_chunk_info reports to get positions in a file with a user block of
/// `user_block` bytes: libhdf5 before 1.14.4 leaves the user block out. Found by experiment, once, on a file in memory;
/// all user blocks that are not empty are of one size.
[[nodiscard]] haddr_t chunk_address_bias(hsize_t user_block);

}  // namespace rayreplay::trace::hdf5
