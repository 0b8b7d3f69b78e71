// Base64 onto a stream, piece by piece (RFC 4648, with padding).
//
// Contract: bytes given to `write` are encoded as one sequence; `finish` writes the rest and the padding. Memory: one
// piece of fixed size. The caller checks the stream's state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace rayreplay::bvh {

class Base64Writer {
 public:
  explicit Base64Writer(std::ostream& out) : out_(out) {
    pending_.reserve(kPiece);
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t room = std::min(bytes.size(), kPiece - pending_.size());
      pending_.insert(pending_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(room));
      bytes = bytes.subspan(room);
      if (pending_.size() == kPiece) {
        flush();
      }
    }
  }
  template <class T>
  void write_value(const T& value) {
    write(std::as_bytes(std::span(&value, 1)));
  }
  void finish() {
    flush();
  }

 private:
  static constexpr std::size_t kPiece = 3 * 16384;  // whole groups, so that padding comes only at the end

  void flush() {
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text_.clear();
    for (std::size_t i = 0; i < pending_.size(); i += 3) {
      const std::size_t rest = pending_.size() - i;
      std::uint32_t group = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        group = group << 8U | (k < rest ? std::to_integer<std::uint32_t>(pending_[i + k]) : 0U);
      }
      text_ += kDigits[group >> 18U];
      text_ += kDigits[group >> 12U & 63U];
      text_ += rest > 1 ? kDigits[group >> 6U & 63U] : '=';
      text_ += rest > 2 ? kDigits[group & 63U] : '=';
    }
    out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    pending_.clear();
  }

  std::ostream& out_;
  std::vector<std::byte> pending_;
  std::string text_;
};

}  // namespace rayreplay::bvh
