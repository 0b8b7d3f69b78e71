// Processor time of what a benchmark runs, and its settings from the environment.
#pragma once

#include <cstdlib>
#include <ctime>

namespace rayreplay::bench {

inline double from_environment(const char* name, double otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtod(text, nullptr) : otherwise;
}

/// Processor time of this thread, or of all of them.
inline double seconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class Function>
double time_of(const Function& function, clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  const double start = seconds(clock);
  function();
  return seconds(clock) - start;
}

}  // namespace rayreplay::bench
