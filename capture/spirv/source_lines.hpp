// Lines of the source that a module's instructions come from, and the source itself where the module holds it.
//
// Contract: takes any parsed module. The line of an instruction is that of the last OpLine, or DebugLine of
// NonSemantic.Shader.DebugInfo.100, before it. It holds up to the end of the block, OpNoLine or DebugNoLine. Text comes
// from OpSource with its OpSourceContinued, or from DebugSource with its DebugSourceContinued; of several texts for one
// file the first counts. A directive "#line N" gives the line after it number N; of two lines with one number the later
// one counts. Lines after a directive that names another file ("#line N 1", "#line N \"b.glsl\"") have no number. All
// texts together have at most kMostSourceBytes; a text ends with the last whole line before the first part beyond.
// Construction is linear in the module and these bytes; results refer to the module, which must outlive them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/spirv/inline_view.hpp"

namespace rayreplay::spirv {

/// A limit beside the module's size, because instructions may name one string any number of times.
inline constexpr std::size_t kMostSourceBytes = std::size_t{1} << 26;

class SourceLines {
 public:
  explicit SourceLines(const Analysed& module);
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  struct Line {
    Id file = 0;      ///< the OpString of its name; 0: not known
    Word number = 0;  ///< 0: there is none
    friend bool operator==(const Line&, const Line&) = default;
  };
  /// The line of an instruction of the module.
  [[nodiscard]] Line at(Place place) const {
    return lines_[place.function][place.instruction];
  }
  /// True for the instructions that give lines.
  [[nodiscard]] bool gives_line(const Instruction& i) const;
  [[nodiscard]] std::string file(Line line) const;
  /// The text of a line, without its end; empty if the module does not hold it.
  [[nodiscard]] std::string_view text(Line line) const;

 private:
  struct Text {
    bool known = false;
    bool cut = false;  ///< a part had no room: the text ends with the last whole line before it
    std::string whole;
    std::unordered_map<Word, std::string_view> lines;  ///< by number: those that instructions name
  };
  void see_lines();
  void see_texts();
  void see_debug_sources();
  /// The text of a file that is not known yet; null: no instruction names it, or it is known.
  [[nodiscard]] Text* begin_text(Id file);
  void add_text(Text* text, const std::string& part);
  static void number_lines(Text& text);

  const Analysed& m_;
  Id debug_ = 0;                          ///< the instruction set of DebugLine
  std::vector<std::vector<Line>> lines_;  ///< by function and instruction
  std::unordered_map<Id, Text> texts_;    ///< by file: those that instructions name
  std::size_t bytes_ = 0;                 ///< of texts
};

}  // namespace rayreplay::spirv
