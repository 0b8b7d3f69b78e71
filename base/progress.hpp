// Progress of long work, reported to a sink.
//
// Contract: workers call `advance` from any thread (cheap, lock-free on the fast path); the sink decides what to show.
// Libraries take a `Progress*` that may be null and never write to a stream themselves.
#pragma once

#include <cstdint>
#include <string_view>

namespace rayreplay {

class Progress {
 public:
  virtual ~Progress() = default;
  /// Starts a stage of `total` units (0: unknown).
  virtual void start(std::string_view stage, std::uint64_t total) = 0;
  virtual void advance(std::uint64_t units) = 0;
  virtual void finish() = 0;
};

}  // namespace rayreplay
