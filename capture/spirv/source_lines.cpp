#include "capture/spirv/source_lines.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "capture/spirv/control_flow.hpp"

namespace rayreplay::spirv {

using spv::Op;

namespace {

// Instructions of NonSemantic.Shader.DebugInfo.100; their operands begin at word 5 of OpExtInst.
constexpr Word kDebugSource = 35;            // File Text
constexpr Word kDebugSourceContinued = 102;  // Text
constexpr Word kDebugLine = 103;             // Source LineStart LineEnd ColumnStart ColumnEnd
constexpr Word kDebugNoLine = 104;
constexpr std::size_t kFirstOperand = 5;

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

struct Directive {
  Word number = 0;
  bool names_file = false;  ///< other than the text's own, which is number 0
};

/// "#line 12", "# line 12 0", "#line 12 \"b.glsl\"".
std::optional<Directive> line_directive(std::string_view text) {
  text = without_spaces(text);
  if (!text.starts_with('#')) {
    return std::nullopt;
  }
  text = without_spaces(text.substr(1));
  if (!text.starts_with("line")) {
    return std::nullopt;
  }
  text = without_spaces(text.substr(4));
  Directive directive;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), directive.number);
  if (error != std::errc()) {
    return std::nullopt;
  }
  const std::string_view rest = without_spaces(text.substr(static_cast<std::size_t>(end - text.data())));
  const std::string_view file = rest.substr(0, rest.find_first_of(" \t\r"));
  directive.names_file = !file.empty() && file != "0" && !file.starts_with("//");
  return directive;
}

}  // namespace

SourceLines::SourceLines(const Analysed& module) : m_(module) {
  for (const Instruction& i : m_.module.imports) {
    if (i.string(2) == "NonSemantic.Shader.DebugInfo.100") {
      debug_ = i[1];
    }
  }
  see_lines();
  see_texts();
  see_debug_sources();
  for (auto& [file, text] : texts_) {
    number_lines(text);
  }
}

void SourceLines::see_lines() {
  Line line;
  const auto see = [&](const Instruction& i) {
    if (!gives_line(i)) {
      return;
    }
    if (i.is(Op::OpLine)) {
      line = {i[1], i[2]};
    } else if (i.is(Op::OpExtInst) && i[4] == kDebugLine) {
      const Instruction* source = m_.index.definition(i[kFirstOperand]);
      const bool known = source != nullptr && source->is(Op::OpExtInst) && (*source)[3] == debug_;
      line = {known ? (*source)[kFirstOperand] : 0, m_.index.constant(i[kFirstOperand + 1]).value_or(0)};
    } else {
      line = {};
    }
  };
  // A line may stand before the first function, or behind the last instruction of the one before.
  for (const Instruction& i : m_.module.globals) {
    see(i);
  }
  lines_.reserve(m_.module.functions.size());
  for (const Function& function : m_.module.functions) {
    std::vector<Line>& lines = lines_.emplace_back();
    lines.reserve(function.body.size());
    for (const Instruction& i : function.body) {
      see(i);
      lines.push_back(line);
      if (line.number != 0) {
        texts_[line.file].lines.try_emplace(line.number);
      }
      if (ending_of(i.op())) {
        line = {};
      }
    }
  }
}

SourceLines::Text* SourceLines::begin_text(Id file) {
  const auto found = texts_.find(file);
  if (found == texts_.end() || found->second.known) {
    return nullptr;
  }
  found->second.known = true;
  return &found->second;
}

void SourceLines::add_text(Text* text, const std::string& part) {
  if (text == nullptr || text->cut) {
    return;
  }
  if (part.size() > kMostSourceBytes - bytes_) {
    // Later parts would get the numbers of the lines that are left out.
    text->cut = true;
    text->whole.erase(text->whole.rfind('\n') + 1);
    return;
  }
  text->whole += part;
  bytes_ += part.size();
}

void SourceLines::see_texts() {
  Text* open = nullptr;
  constexpr std::size_t kText = 4;  // behind language, version and file
  for (const Instruction& i : m_.module.debug) {
    if (i.is(Op::OpSource)) {
      open = i.size() > kText ? begin_text(i[3]) : nullptr;
      add_text(open, i.string(kText));
    } else if (i.is(Op::OpSourceContinued)) {
      add_text(open, i.string(1));
    }
  }
}

void SourceLines::see_debug_sources() {
  Text* open = nullptr;
  for (const Instruction& i : m_.module.globals) {
    if (!i.is(Op::OpExtInst) || debug_ == 0 || i[3] != debug_) {
      continue;
    }
    if (i[4] == kDebugSource) {
      open = i.size() > kFirstOperand + 1 ? begin_text(i[kFirstOperand]) : nullptr;
      add_text(open, open == nullptr ? std::string() : m_.index.string(i[kFirstOperand + 1]));
    } else if (i[4] == kDebugSourceContinued && open != nullptr) {
      add_text(open, m_.index.string(i[kFirstOperand]));
    }
  }
}

void SourceLines::number_lines(Text& text) {
  const std::string_view whole = text.whole;
  Word number = 1;
  bool own = true;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t end = std::min(whole.find('\n', at), whole.size());
    std::string_view line = whole.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (const auto named = text.lines.find(number); own && named != text.lines.end()) {
      named->second = line;
    }
    ++number;
    if (const std::optional<Directive> directive = line_directive(line)) {
      number = directive->number;
      own = !directive->names_file;
    }
  }
}

bool SourceLines::gives_line(const Instruction& i) const {
  const bool debug = i.is(Op::OpExtInst) && debug_ != 0 && i[3] == debug_;
  return i.is(Op::OpLine) || i.is(Op::OpNoLine) || (debug && (i[4] == kDebugLine || i[4] == kDebugNoLine));
}

std::string SourceLines::file(Line line) const {
  return m_.index.string(line.file);
}

std::string_view SourceLines::text(Line line) const {
  const auto file = texts_.find(line.file);
  if (file == texts_.end()) {
    return {};
  }
  const auto found = file->second.lines.find(line.number);
  return found == file->second.lines.end() ? std::string_view() : found->second;
}

}  // namespace rayreplay::spirv
