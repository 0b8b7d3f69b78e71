#include "tests/instrument/support/listing.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <spirv-tools/libspirv.hpp>

namespace rayreplay::test {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

std::string opcode_of(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  return words.size() > 2 && words[1] == "=" ? words[2] : words.empty() ? "" : words[0];
}

std::string result_of(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  return words.size() > 2 && words[1] == "=" ? words[0] : "";
}

std::string callee_of(const Listing& listing, const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  if (words.size() < 5 || words[2] != "OpFunctionCall") {
    return {};
  }
  const auto name = listing.names.find(words[4]);
  return name == listing.names.end() ? "" : name->second;
}

std::size_t count(const std::vector<std::string>& lines, const std::vector<std::string>& opcodes) {
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return std::find(opcodes.begin(), opcodes.end(), opcode_of(line)) != opcodes.end();
  }));
}

std::size_t count_calls(const Listing& listing, const std::vector<std::string>& lines, const std::string& callee) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const std::string& line) { return callee_of(listing, line) == callee; }));
}

Listing list(std::span<const std::uint32_t> words) {
  spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::string text;
  if (!tools.Disassemble(words.data(), words.size(), &text, SPV_BINARY_TO_TEXT_OPTION_NO_HEADER)) {
    throw std::runtime_error("the module cannot be disassembled");
  }
  Listing listing;
  listing.bound = words[3];
  std::istringstream stream(text);
  std::string function;
  for (std::string line; std::getline(stream, line);) {
    listing.lines.push_back(line);
    const std::vector<std::string> parts = words_of(line);
    const std::string opcode = opcode_of(line);
    if (opcode == "OpEntryPoint" && parts.size() > 3) {
      listing.entry_points.push_back({parts[1], parts[2], parts[3]});
    } else if (opcode == "OpName" && parts.size() == 3) {
      listing.names[parts[1]] = parts[2].substr(1, parts[2].size() - 2);
    } else if (opcode == "OpConstant" && parts.size() == 5 &&
               parts[4].find_first_not_of("0123456789") == std::string::npos && parts[4].size() < 10) {
      listing.constants[parts[0]] = static_cast<std::uint32_t>(std::stoul(parts[4]));
    } else if (opcode == "OpFunction") {
      function = parts[0];
    }
    if (!function.empty()) {
      listing.functions[function].push_back(line);
    }
    if (opcode == "OpFunctionEnd") {
      function.clear();
    }
  }
  return listing;
}

}  // namespace rayreplay::test
