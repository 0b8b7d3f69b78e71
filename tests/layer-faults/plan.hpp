// The failure that a run is to get, and its outcome: a page that the run and its driver share.
//
// The driver makes a file of this size, names it in the run's environment, and reads it afterwards: counts survive any
// end of the run. Numbers begin with 1; 0 is none.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace rayreplay::test {

inline constexpr char kPlanVariable[] = "RAYREPLAY_TEST_FAULTS";

struct Plan {
  // By the driver.
  std::uint64_t call = 0;              ///< this call below the layer fails
  std::uint64_t application_call = 0;  ///< this one of the application's calls of `command` fails, on its way down
  std::uint64_t own_call = 0;          ///< this one of the layer's own calls of `command` fails
  std::uint32_t command = 0;
  std::uint64_t allocation = 0;  ///< this allocation by the layer's library fails,
  std::uint64_t burst = 1;       ///< and as many in all
  // By the run.
  std::atomic<std::uint64_t> calls{0}, own_calls{0}, allocations{0};
  std::atomic<std::uint32_t> failed{0};          ///< failures so far
  std::atomic<std::uint32_t> failed_command{0};  ///< of the call that failed
  std::atomic<std::uint64_t> failed_as{
      0};  ///< as which of the application's calls of that command; 0: it was the layer's
};

/// What the file holds, which has its size; null if it cannot be mapped.
template <typename Shared>
Shared* map_shared(const char* path) {
  const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) {
    return nullptr;
  }
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<Shared*>(memory);
}

inline Plan* map_plan(const char* path) {
  return map_shared<Plan>(path);
}

}  // namespace rayreplay::test
