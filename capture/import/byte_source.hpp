// Bytes of a file or a pipe, read once from start to end. Internal to this folder.
//
// Contract: `peek(n)` returns at least n bytes from the current position, fewer only at the end of the file; they stay
// valid until the next call. Memory: the largest n, at least 256 KiB. Reading waits for pipes. The constructor calls
// `on_wait` once if a named pipe has no byte and no end within a second. Errors: Input with the system's reason.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/import/wait_notice.hpp"

namespace rayreplay::import {

class ByteSource {
 public:
  explicit ByteSource(const std::string& path, const WaitNotice& on_wait = {});  ///< "-": standard input
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  [[nodiscard]] std::string_view peek(std::size_t bytes);
  void consume(std::size_t bytes);  ///< at most the size of the last `peek`
  [[nodiscard]] std::uint64_t offset() const {
    return offset_;
  }
  /// For messages: the path, or "standard input".
  [[nodiscard]] const std::string& name() const {
    return name_;
  }
  [[nodiscard]] std::string hash() const;  ///< XXH3-128 of the consumed bytes

 private:
  std::string name_;
  int descriptor_ = -1;
  bool at_end_ = false;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< unread bytes of the buffer
  std::uint64_t offset_ = 0;
  XXH3_state_t state_;
};

}  // namespace rayreplay::import
