// A module's disassembly, cut into its functions: what the structural checks look at, so that they share no code with
// the rewriter.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace rayreplay::test {

struct ListedEntryPoint {
  std::string model, function, name;
};

struct Listing {
  std::vector<std::string> lines;
  std::uint32_t bound = 0;
  std::vector<ListedEntryPoint> entry_points;
  std::map<std::string, std::string> names;                   ///< "%12" -> OpName
  std::map<std::string, std::uint32_t> constants;             ///< "%12" -> value of a u32 constant
  std::map<std::string, std::vector<std::string>> functions;  ///< "%12" -> its lines
};

[[nodiscard]] Listing list(std::span<const std::uint32_t> words);

/// "OpStore" of "%1 = OpStore …" and of "OpStore …".
[[nodiscard]] std::string opcode_of(const std::string& line);
/// "%1" of "%1 = Op…", else empty.
[[nodiscard]] std::string result_of(const std::string& line);
[[nodiscard]] std::vector<std::string> words_of(const std::string& line);
/// The name of the function that the line calls; empty if it calls none or one without a name.
[[nodiscard]] std::string callee_of(const Listing& listing, const std::string& line);
/// How many lines of a function have one of the opcodes.
[[nodiscard]] std::size_t count(const std::vector<std::string>& lines, const std::vector<std::string>& opcodes);
[[nodiscard]] std::size_t count_calls(const Listing& listing, const std::vector<std::string>& lines,
                                      const std::string& callee);

}  // namespace rayreplay::test
