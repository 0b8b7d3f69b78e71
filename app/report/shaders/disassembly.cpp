#include "app/report/shaders/disassembly.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "app/report/shaders/opcode_names.hpp"
#include "base/count_text.hpp"
#include "base/shortened.hpp"
#include "base/text.hpp"
#include "capture/spirv/operands.hpp"
#include "capture/spirv/source_lines.hpp"

namespace rayreplay::report {
namespace {

using spirv::Id;
using spirv::Instruction;
using spirv::Level;
using spirv::Node;
using spirv::Place;

constexpr std::size_t kMostName = 100;

class Printer {
 public:
  Printer(const ShaderRow& row, const ShaderCounts& counts, std::size_t most)
      : m_(row.known->analysed),
        facts_(*row.facts),
        lines_(m_),
        executions_(counts.executions),
        measured_(counts.measured),
        most_(most) {
    std::set<std::string> names;
    for (const Instruction& i : m_.module.debug) {
      if (!i.is(spv::Op::OpName) || names_.contains(i[1])) {
        continue;
      }
      const std::string name = i.string(2);
      if (!name.empty()) {
        const std::string& shown = names_[i[1]] = "%" + text::shortened(name.substr(0, name.find('(')), kMostName);
        if (!names.insert(shown).second) {
          shared_names_.insert(shown);
        }
      }
    }
    if (executions_ != nullptr) {
      for (const profile::BlockProfile& block : executions_->profile.blocks) {
        counts_[{block.function, block.block}] = &block;
      }
    }
    for (const spirv::UniformityFacts& result : facts_.results) {
      levels_[result.place] = result.level;
    }
    for (const spirv::UniformityFacts& branch : facts_.branches) {
      levels_[branch.place] = branch.level;
    }
    for (const spirv::BlockFacts& block : facts_.live_in) {
      live_in_[{block.function, block.block}] = block.live_in_bytes;
    }
    for (const spirv::CallFacts& call : facts_.calls) {
      calls_[call.at.place] = &call;
    }
  }

  std::string print() {
    for (const std::uint32_t f : facts_.functions) {
      print_function(f);
    }
    if (left_out_ != 0) {
      text_ += fmt::format("… and {}\n", counted(left_out_, "more line"));
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string id_text(Id id) const {
    if (const auto name = names_.find(id); name != names_.end()) {
      return shared_names_.contains(name->second) ? fmt::format("{}.{}", name->second, id) : name->second;
    }
    if (const std::string type = type_text(id); !type.empty()) {
      return type;
    }
    const Instruction* definition = m_.index.definition(id);
    if (definition != nullptr && definition->is(spv::Op::OpConstant) && definition->size() == 4) {
      return constant_text(*definition);
    }
    return fmt::format("%{}", id);
  }

  /// "uint", "floatx3", "bool"; empty for other types and for ids that are none.
  [[nodiscard]] std::string type_text(Id id) const {
    using spv::Op;
    const Instruction* type = m_.index.definition(id);
    if (type == nullptr) {
      return {};
    }
    switch (static_cast<Op>(type->op())) {
      case Op::OpTypeVoid:
        return "void";
      case Op::OpTypeBool:
        return "bool";
      case Op::OpTypeInt:
        return fmt::format("{}int{}", (*type)[3] == 0 ? "u" : "",
                           (*type)[2] == 32 ? "" : fmt::format("{}", (*type)[2]));
      case Op::OpTypeFloat:
        return fmt::format("float{}", (*type)[2] == 32 ? "" : fmt::format("{}", (*type)[2]));
      case Op::OpTypeVector: {
        const Id part = (*type)[2];
        const bool known = m_.index.type(part, Op::OpTypeVector) == nullptr && !type_text(part).empty();
        return known ? fmt::format("{}x{}", type_text(part), (*type)[3]) : std::string();
      }
      default:
        return {};
    }
  }

  [[nodiscard]] std::string constant_text(const Instruction& constant) const {
    if (const Instruction* type = m_.index.type(constant[1], spv::Op::OpTypeFloat);
        type != nullptr && (*type)[2] == 32) {
      return fmt::format("{:#}", std::bit_cast<float>(constant[3]));
    }
    if (const Instruction* type = m_.index.type(constant[1], spv::Op::OpTypeInt); type != nullptr && (*type)[3] != 0) {
      return fmt::format("{}", static_cast<std::int32_t>(constant[3]));
    }
    return fmt::format("{}", constant[3]);
  }

  /// Every line passes here.
  void add_line(const std::string& line) {
    if (left_out_ != 0 || line.size() >= most_ - std::min(most_, text_.size())) {
      ++left_out_;
      return;
    }
    text_ += line;
    text_ += '\n';
  }

  void print_function(std::uint32_t f) {
    const spirv::Function& function = m_.module.functions[f];
    add_line(fmt::format("function {} (%{})", text::printable(text::shortened(function_name(m_, f), kMostName)),
                         function.id()));
    if (!m_.flows[f]) {
      add_line(fmt::format("  {}", text::printable(m_.reasons[f])));
      return;
    }
    const spirv::ControlFlow& flow = *m_.flows[f];
    for (Node b = 0; b < flow.blocks.size(); ++b) {
      print_block(f, flow, b);
    }
    add_line("");
  }

  void print_block(std::uint32_t f, const spirv::ControlFlow& flow, Node b) {
    const spirv::Block& block = flow.blocks[b];
    std::string line = fmt::format("  block %{}", block.label);
    if (!flow.graph.successors[b].empty()) {
      line += " to";
      for (const Node to : flow.graph.successors[b]) {
        line += fmt::format(" %{}", flow.blocks[to].label);
      }
    }
    if (!flow.reached(b)) {
      line += ", never reached";
    } else {
      if (const std::uint32_t depth = flow.loops.depth(b); depth != 0) {
        line += fmt::format(", loop depth {}", depth);
      }
      if (const auto live = live_in_.find({f, b}); live != live_in_.end()) {
        line += fmt::format(", live in {}", counted(live->second, "byte"));
      }
    }
    add_line(line + executions_text(f, b));
    const std::vector<Instruction>& body = m_.module.functions[f].body;
    spirv::SourceLines::Line shown;
    for (std::size_t i = block.first + 1; i <= block.last; ++i) {
      const Place place{f, static_cast<std::uint32_t>(i)};
      if (lines_.gives_line(body[i])) {
        continue;
      }
      if (const spirv::SourceLines::Line source = lines_.at(place); source != shown) {
        print_source(source);
        shown = source;
      }
      print_instruction(place, body[i]);
    }
  }

  /// "; 200 lanes in 25 groups (8.0 of 8 lanes), 66.7 % of the executed instructions, unused"; empty without counts.
  [[nodiscard]] std::string executions_text(std::uint32_t f, Node b) const {
    if (executions_ == nullptr) {
      return {};
    }
    const auto known = counts_.find({f, b});
    if (known == counts_.end()) {
      return "; not counted";
    }
    const profile::BlockProfile& block = *known->second;
    std::string line = "; " + counted(block.lanes, "lane");
    if (block.groups) {
      line += " in " + counted(*block.groups, "group");
    }
    if (block.groups.value_or(0) != 0 && executions_->warp_size != 0) {
      line += fmt::format(" ({:.1f} of {})", static_cast<double>(block.lanes) / static_cast<double>(*block.groups),
                          counted(executions_->warp_size, "lane"));
    }
    if (executions_->profile.lane_instructions > 0) {
      line += fmt::format(
          ", {} of the executed instructions",
          output::percent_text(
              static_cast<double>(block.lanes) * block.instructions / executions_->profile.lane_instructions, 1));
    }
    return line + (block.unused ? ", unused" : "");
  }

  /// "    ; sky.rmiss:12: float t = 1;"
  void print_source(spirv::SourceLines::Line line) {
    if (line.number == 0) {
      return;
    }
    const auto [known, added] = files_.try_emplace(line.file);
    if (added) {
      known->second = text::shortened(lines_.file(line), kMostName);
    }
    const std::string& file = known->second;
    std::string_view source = lines_.text(line);
    source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
    add_line(fmt::format("    ; {}{}{}{}", text::printable(file.empty() ? "line " : file + ":"), line.number,
                         source.empty() ? "" : ": ", text::printable(text::shortened(source, kMostName))));
  }

  void print_instruction(Place place, const Instruction& i) {
    char mark = ' ';
    if (const auto level = levels_.find(place); level != levels_.end()) {
      mark = level->second == Level::Launch ? '=' : level->second == Level::Group ? '-' : '!';
    }
    std::string line;
    if (i.result() != 0) {
      line += id_text(i.result()) + " = ";
    }
    line += opcode_name(i.op());
    if (i.result_type() != 0) {
      line += " " + id_text(i.result_type());
    }
    line += operands_text(i);
    line = fmt::format("    {} {}", mark, text::printable(line));
    if (const auto call = calls_.find(place); call != calls_.end()) {
      line +=
          fmt::format("  ; {}: {} live", to_string(call->second->kind), counted(call->second->live.bytes(), "byte"));
    }
    if (measured_ != nullptr) {
      if (const auto measured = measured_->find(place); measured != measured_->end()) {
        line += "  ; " + measured->second.text();
      }
    }
    add_line(line);
  }

  static std::size_t first_operand(const Instruction& i) {
    return 1 + (i.result() != 0 ? 1U : 0U) + (i.result_type() != 0 ? 1U : 0U);
  }

  [[nodiscard]] std::string operands_text(const Instruction& i) const {
    const std::vector<std::size_t> ids = spirv::id_words(i);
    std::string text;
    for (std::size_t w = first_operand(i); w < i.size(); ++w) {
      text += " " + (std::binary_search(ids.begin(), ids.end(), w) ? id_text(i[w]) : fmt::format("{}", i[w]));
    }
    return text;
  }

  const spirv::Analysed& m_;
  const spirv::ShaderFacts& facts_;
  spirv::SourceLines lines_;
  const Executions* executions_;
  const MeasuredPlaces* measured_;
  std::size_t most_;                           ///< bytes of text
  std::size_t left_out_ = 0;                   ///< lines
  std::unordered_map<Id, std::string> names_;  ///< as shown
  std::set<std::string> shared_names_;
  std::unordered_map<Id, std::string> files_;  ///< as shown
  std::map<std::pair<std::uint32_t, Node>, const profile::BlockProfile*> counts_;
  std::map<Place, Level> levels_;
  std::map<std::pair<std::uint32_t, Node>, std::uint64_t> live_in_;
  std::map<Place, const spirv::CallFacts*> calls_;
  std::string text_;
};

}  // namespace

std::string disassembly(const ShaderRow& row, const ShaderCounts& counts, std::size_t most) {
  std::string text =
      fmt::format("{} '{}'{}\n", row.stage, text::printable(text::shortened(row.entry, kMostName)),
                  row.name.empty() ? "" : fmt::format(" ({})", text::printable(text::shortened(row.name, kMostName))));
  if (const Executions* executions = counts.executions; executions != nullptr) {
    text += fmt::format("executions of {}: {} by lanes; a block with fewer than 1 in {} of them is unused\n",
                        executions->pipelines_text(), counted(executions->profile.entries, "entry", "entries"),
                        with_separators(profile::kEntriesOfUnused));
    for (const std::string& note : executions->notes) {
      text += text::printable(note) + "\n";
    }
  }
  if (counts.measured != nullptr) {
    text += "behind branches and loads: groups that executed them, and whether all lanes of a group agreed\n";
  }
  return text + "\n" + Printer(row, counts, most).print();
}

}  // namespace rayreplay::report
