#include "app/report/shaders/disassembly.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "app/report/shaders/opcode_names.hpp"
#include "base/count_text.hpp"
#include "base/text.hpp"
#include "capture/spirv/operands.hpp"

namespace rayreplay::report {
namespace {

using spirv::Id;
using spirv::Instruction;
using spirv::Level;
using spirv::Node;
using spirv::Place;

class Printer {
 public:
  explicit Printer(const ShaderRow& row) : m_(row.known->analysed), facts_(*row.facts) {
    std::set<std::string> names;
    for (const Instruction& i : m_.module.debug) {
      if (i.is(spv::Op::OpName) && !names.insert(i.string(2)).second) {
        shared_names_.insert(i.string(2));
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
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string id_text(Id id) const {
    const std::string name = m_.index.name(id);
    if (!name.empty()) {
      const std::string shown = "%" + name.substr(0, name.find('('));
      return shared_names_.contains(name) ? fmt::format("{}.{}", shown, id) : shown;
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

  void print_function(std::uint32_t f) {
    const spirv::Function& function = m_.module.functions[f];
    text_ += fmt::format("function {} (%{})\n", text::printable(function_name(m_, f)), function.id());
    if (!m_.flows[f]) {
      text_ += fmt::format("  {}\n", text::printable(m_.reasons[f]));
      return;
    }
    const spirv::ControlFlow& flow = *m_.flows[f];
    for (Node b = 0; b < flow.blocks.size(); ++b) {
      print_block(f, flow, b);
    }
    text_ += "\n";
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
    text_ += line + "\n";
    const std::vector<Instruction>& body = m_.module.functions[f].body;
    for (std::size_t i = block.first + 1; i <= block.last; ++i) {
      print_instruction({f, static_cast<std::uint32_t>(i)}, body[i]);
    }
  }

  void print_instruction(Place place, const Instruction& i) {
    if (i.is(spv::Op::OpLine) || i.is(spv::Op::OpNoLine)) {
      return;
    }
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
    text_ += fmt::format("    {} {}", mark, text::printable(line));
    if (const auto call = calls_.find(place); call != calls_.end()) {
      text_ +=
          fmt::format("  ; {}: {} live", to_string(call->second->kind), counted(call->second->live.bytes(), "byte"));
    }
    text_ += "\n";
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
  std::set<std::string> shared_names_;
  std::map<Place, Level> levels_;
  std::map<std::pair<std::uint32_t, Node>, std::uint64_t> live_in_;
  std::map<Place, const spirv::CallFacts*> calls_;
  std::string text_;
};

}  // namespace

std::string disassembly(const ShaderRow& row) {
  return fmt::format("{} '{}'{}\n\n", row.stage, text::printable(row.entry),
                     row.name.empty() ? "" : fmt::format(" ({})", text::printable(row.name))) +
         Printer(row).print();
}

}  // namespace rayreplay::report
