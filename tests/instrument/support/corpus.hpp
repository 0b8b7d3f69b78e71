// The corpus of modules (tests/instrument/CMakeLists.txt), the options under which each is instrumented, and
// SPIRV-Tools' validator.
#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/instrument/instrument.hpp"

namespace rayreplay::test {

using Words = std::vector<std::uint32_t>;

struct CorpusModule {
  std::string name;         ///< the file's
  std::string environment;  ///< "vulkan1.2": what it must be valid in
  Words words;
};

/// All of them, by name; never empty (throws).
[[nodiscard]] const std::vector<CorpusModule>& corpus();
/// One of a source file, any form; throws if there is none.
[[nodiscard]] const CorpusModule& corpus_module(std::string_view start_of_name);

struct NamedOptions {
  std::string name;
  instrument::Options options;
};
/// For GoogleTest's messages and ctest's names.
inline void PrintTo(const NamedOptions& set, std::ostream* out) {
  *out << set.name;
}
/// Each feature alone and many together.
[[nodiscard]] std::vector<NamedOptions> option_sets();
/// Records only.
[[nodiscard]] instrument::Options plain_options();

/// Empty, or the validator's messages.
[[nodiscard]] std::string validate(std::span<const std::uint32_t> words, const std::string& environment);

}  // namespace rayreplay::test
