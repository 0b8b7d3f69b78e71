// A fuzzer: sound inputs, changes to them, and one run that must end well.
//
// Contract: a program defines `kFuzzer` and is linked with one of two drivers: libfuzzer.cpp (the preset fuzz: the
// search is guided by coverage) or plain_driver.cpp (every other preset: corpus, then a fixed sequence of changes).
// `run` takes any bytes and gives the same verdict for the same bytes. It must not throw; wrong behaviour of the
// project is a `finding`, which ends the process. An input that rayreplay refuses with the right error is no finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::fuzz {

using test::Random;

struct Verdict {
  std::size_t kind = 0;  ///< index into Fuzzer::kinds
  bool taken = false;    ///< read, parsed or rewritten; else refused
};

struct Fuzzer {
  const char* name;                     ///< of the folder in corpus/
  std::span<const char* const> kinds;   ///< of inputs; changes must leave some of each taken and some refused
  std::vector<std::string> (*seeds)();  ///< sound inputs, made by code
  Verdict (*run)(std::string_view input);
  /// A change that keeps the structure; null: changes of bytes are all that is needed.
  void (*mutate)(std::string& input, Random& random);
  std::uint64_t inputs;  ///< changed ones of a test: about ten seconds under AddressSanitizer
};
extern const Fuzzer kFuzzer;

/// Prints and aborts: both drivers keep the input and say how to run it again.
[[noreturn]] void finding(const std::string& what);

/// Calls `use`; true unless it throws an Error of one of the kinds. Other errors and other exceptions are findings.
template <class Use>
bool taken(std::initializer_list<ErrorKind> allowed, Use&& use) {
  try {
    use();
    return true;
  } catch (const Error& error) {
    for (const ErrorKind kind : allowed) {
      if (kind == error.kind()) {
        return false;
      }
    }
    finding("an error of another kind than it should be (" + std::to_string(error.exit_code()) + "): " + error.what());
  } catch (const std::exception& error) {
    finding(std::string("an exception that is no rayreplay::Error: ") + error.what());
  }
}

/// Numbers taken from the front of an input; 0 behind its end.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const {
    return bytes_.empty();
  }
  std::uint8_t byte();
  /// 0 … count − 1; 0 where count is 0.
  std::uint64_t below(std::uint64_t count);
  /// A number that is likely to be at some limit, or any number of 64 bits.
  std::uint64_t number();
  [[nodiscard]] std::string_view rest() const {
    return bytes_;
  }

 private:
  std::string_view bytes_;
};

/// Numbers at the limits of types and of tables.
[[nodiscard]] std::uint64_t odd_number(Random& random);

/// Changes that know nothing of structure: bits, bytes, stretches.
void change_bytes(std::string& bytes, Random& random);
/// Changes of texts: numbers and words replaced, lines and stretches doubled, moved and removed. `words`: words
/// of the language.
void change_text(std::string& text, Random& random, std::span<const char* const> words);

}  // namespace rayreplay::fuzz
