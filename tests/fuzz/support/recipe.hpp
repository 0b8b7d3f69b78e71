// Recipes: inputs of fuzzers of HDF5 files. A recipe is a byte that picks a sound file, then changes to it, of which
// bytes of the finished file are the last. So inputs are short and do not depend on the file's layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tbb/global_control.h>

#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/support/fuzzing.hpp"

// libhdf5 1.10 leaks memory when it refuses an object with a wrong checksum; our code cannot free it.
extern "C" const char* __lsan_default_suppressions();   // NOLINT(bugprone-reserved-identifier): its name
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:libhdf5";
}

namespace rayreplay::fuzz {

/// One worker: results do not depend on their number, and starting further tasks costs time.
inline void use_one_worker() {
  static const tbb::global_control kOneWorker(tbb::global_control::max_allowed_parallelism, 1);
}

/// Each sound file as it is; then every change once, each of another file.
inline std::vector<std::string> recipes(std::size_t sound, std::size_t changes) {
  std::vector<std::string> result;
  for (std::size_t s = 0; s < sound; ++s) {
    result.push_back({static_cast<char>(s)});
  }
  for (std::size_t change = 0; change < changes; ++change) {
    Random random(change);
    std::string recipe{static_cast<char>(change % sound), static_cast<char>(change)};
    for (int i = 0; i < 8; ++i) {
      recipe += static_cast<char>(random.bits());
    }
    result.push_back(std::move(recipe));
  }
  return result;
}

/// Calls `change(kind)` for at most `most` changes. True if bytes of the file are to be changed at last.
template <class Change>
bool follow(Choices& choices, std::uint64_t kinds, int most, const Change& change) {
  for (int n = 0; n < most && !choices.done(); ++n) {
    const std::uint64_t kind = choices.below(kinds);
    if (kind == kinds - 1) {
      return true;
    }
    change(kind);
  }
  return false;
}

/// A number next to this one, or any.
inline std::uint64_t changed(std::uint64_t value, Choices& choices) {
  switch (choices.below(4)) {
    case 0:
      return value + 1;
    case 1:
      return value - 1;
    default:
      return choices.number();
  }
}

/// Changes some bytes behind the first `kept`, half of them in the first pages, where the metadata of a small file is.
inline void change_file(const std::filesystem::path& file, std::size_t kept, Choices& choices) {
  constexpr std::size_t kPages = 8192;
  std::string bytes = test::read_bytes(file);
  for (std::size_t n = 1 + choices.below(8); n > 0 && bytes.size() > kept; --n) {
    const std::size_t range = choices.below(2) == 0 ? std::min(bytes.size(), kPages) : bytes.size();
    bytes[kept + choices.below(range - kept)] = static_cast<char>(choices.byte());
  }
  test::write_bytes(file, bytes);
}

}  // namespace rayreplay::fuzz
