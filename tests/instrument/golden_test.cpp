// The example of docs/instrumentation.md is what the rewriter makes. Ids without a name are numbered as they come, so
// that the text does not hang on how many the probes have.
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include <spirv-tools/libspirv.hpp>

#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

/// The application's functions and their wrappers, without the probes.
std::string application_functions(const test::Words& words) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  EXPECT_TRUE(tools.Disassemble(words.data(), words.size(), &text,
                                SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES));
  std::string result;
  std::string function;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("= OpFunction ") != std::string::npos || !function.empty()) {
      function += line + "\n";
    }
    if (line == "OpFunctionEnd") {
      // What the probes link takes parameters or returns a value.
      const bool probe = function.find("OpFunctionParameter") != std::string::npos ||
                         function.find("= OpFunction %void ") == std::string::npos;
      result += probe ? "" : function;
      function.clear();
    }
  }
  std::map<std::string, std::string> numbers;
  std::string normal;
  const std::regex id("%[0-9]+\\b");
  auto from = result.cbegin();
  for (std::sregex_iterator i(result.begin(), result.end(), id), end; i != end; ++i) {
    normal.append(from, (*i)[0].first);
    const std::string next = "%" + std::to_string(numbers.size() + 1);
    normal += numbers.emplace(i->str(), next).first->second;
    from = (*i)[0].second;
  }
  normal.append(from, result.cend());
  return normal;
}

TEST(Golden, DocumentationShowsWhatIsMade) {
  const test::Words& words = test::corpus_module("golden.rgen.vulkan1.2.stripped").words;
  std::ifstream file(RAYREPLAY_SOURCE_DIR "/docs/instrumentation.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string before = application_functions(words);
  const std::string after = application_functions(instrument::instrument(words, test::plain_options()).spirv);
  EXPECT_NE(page.find("```\n" + before + "```"), std::string::npos) << before;
  EXPECT_NE(page.find("```\n" + after + "```"), std::string::npos) << after;
}

}  // namespace
}  // namespace rayreplay
