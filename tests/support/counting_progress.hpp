// Counts what is reported to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/progress.hpp"

namespace rayreplay::test {

class CountingProgress final : public Progress {
 public:
  void start(std::string_view /*stage*/, std::uint64_t units) override {
    total = units;
    done = 0;
  }
  void advance(std::uint64_t units) override {
    done += units;
  }
  void finish() override {
    ++finished;
  }
  std::uint64_t total = 0;              ///< of the latest stage
  std::atomic<std::uint64_t> done = 0;  ///< of the latest stage
  int finished = 0;                     ///< stages
};

}  // namespace rayreplay::test
