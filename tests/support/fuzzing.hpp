// What fuzz programs share: their arguments, and whole files as bytes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "tests/support/file_bytes.hpp"

namespace rayreplay::test {

struct FuzzArguments {
  std::optional<double> seconds;
  std::optional<std::uint64_t> inputs;
  std::uint64_t seed = 1;
};

/// --seconds N or --inputs N, and --seed N; anything else ends the program with code 2.
inline FuzzArguments fuzz_arguments(int argc, char** argv) {
  FuzzArguments result;
  for (int i = 1; i < argc; i += 2) {
    const bool has_value = i + 1 < argc;
    if (has_value && std::strcmp(argv[i], "--seconds") == 0) {
      result.seconds = std::strtod(argv[i + 1], nullptr);
    } else if (has_value && std::strcmp(argv[i], "--inputs") == 0) {
      result.inputs = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (has_value && std::strcmp(argv[i], "--seed") == 0) {
      result.seed = std::strtoull(argv[i + 1], nullptr, 10);
    } else {
      std::fprintf(stderr, "usage: %s [--seconds N | --inputs N] [--seed N]\n", argv[0]);
      std::exit(2);
    }
  }
  return result;
}

}  // namespace rayreplay::test
