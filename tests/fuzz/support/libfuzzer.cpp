// The driver of the preset fuzz: libFuzzer's main, with the fuzzer's own changes among libFuzzer's.
//
//   PROGRAM --write-seeds FOLDER     the fuzzer's seeds as files, for libFuzzer to start from; then its own arguments
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/support/fuzzing.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed);

using namespace rayreplay;

int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 3 && std::strcmp((*argv)[1], "--write-seeds") == 0) {
    const std::filesystem::path folder = (*argv)[2];
    std::filesystem::create_directories(folder);
    std::size_t number = 0;
    for (const std::string& seed : fuzz::kFuzzer.seeds()) {
      test::write_bytes(folder / ("seed-" + std::to_string(number++)), seed);
    }
    std::exit(EXIT_SUCCESS);
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(fuzz::kFuzzer.run({reinterpret_cast<const char*>(data), size}));
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
  fuzz::Random random(seed);
  if (fuzz::kFuzzer.mutate == nullptr || random.one_in(3)) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  std::string input(reinterpret_cast<const char*>(data), size);
  for (std::uint32_t n = 1 + random.below(3); n > 0; --n) {
    fuzz::kFuzzer.mutate(input, random);
  }
  const std::size_t kept = std::min(input.size(), max_size);
  std::memcpy(data, input.data(), kept);
  return kept;
}
