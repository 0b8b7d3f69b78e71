// Seconds of wall clock since the start, or since the last lap.
#pragma once

#include <chrono>
#include <utility>

namespace rayreplay {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// The seconds until now; the next lap begins.
  double lap() {
    const Clock::time_point begun = std::exchange(start_, Clock::now());
    return std::chrono::duration<double>(start_ - begun).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace rayreplay
