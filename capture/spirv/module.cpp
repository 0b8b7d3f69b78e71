#include "capture/spirv/module.hpp"

#include <algorithm>

namespace rayreplay::spirv {

Instruction::Instruction(Word op, std::span<const Word> operands) : words_(operands.size() + 1) {
  words_[0] = op;
  std::copy(operands.begin(), operands.end(), words_.begin() + 1);
}

void Instruction::append_to(std::vector<Word>& out) const {
  out.push_back(static_cast<Word>(words_.size()) << 16 | op());
  out.insert(out.end(), words_.begin() + 1, words_.end());
}

std::string Instruction::string(std::size_t i) const {
  std::string text;
  for (; i < words_.size(); ++i) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      const char c = static_cast<char>(words_[i] >> shift & 0xFF);
      if (c == '\0') {
        return text;
      }
      text.push_back(c);
    }
  }
  return {};
}

std::size_t Instruction::after_string(std::size_t i) const {
  for (; i < words_.size(); ++i) {
    const Word w = words_[i];
    if ((w & 0xFF) == 0 || (w & 0xFF00) == 0 || (w & 0xFF0000) == 0 || (w & 0xFF000000) == 0) {
      return i + 1;
    }
  }
  return words_.size();
}

Id Instruction::result() const {
  bool result = false;
  bool type = false;
  spv::HasResultAndType(static_cast<spv::Op>(op()), &result, &type);
  return result ? (*this)[type ? 2 : 1] : 0;
}

Id Instruction::result_type() const {
  bool result = false;
  bool type = false;
  spv::HasResultAndType(static_cast<spv::Op>(op()), &result, &type);
  return type ? (*this)[1] : 0;
}

std::vector<Word> string_words(std::string_view text) {
  std::vector<Word> words(text.size() / 4 + 1, 0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    words[i / 4] |= static_cast<Word>(static_cast<unsigned char>(text[i])) << (i % 4 * 8);
  }
  return words;
}

bool Module::has(spv::Capability capability) const {
  return std::any_of(capabilities.begin(), capabilities.end(),
                     [&](const Instruction& i) { return i[1] == static_cast<Word>(capability); });
}

std::vector<Word> Module::serialise() const {
  std::vector<Word> out = {spv::MagicNumber, version, generator, bound, schema};
  for (const auto* section : {&capabilities, &extensions, &imports, &memory_model, &entry_points, &execution_modes,
                              &debug, &processed, &annotations, &globals}) {
    for (const Instruction& instruction : *section) {
      instruction.append_to(out);
    }
  }
  for (const Function& function : functions) {
    for (const Instruction& instruction : function.body) {
      instruction.append_to(out);
    }
  }
  return out;
}

namespace {

using Section = std::vector<Instruction> Module::*;

/// The section of an instruction outside functions; null: allowed in several, so it stays in place.
Section section_of(Word op) {
  using spv::Op;
  switch (static_cast<Op>(op)) {
    case Op::OpCapability:
      return &Module::capabilities;
    case Op::OpExtension:
      return &Module::extensions;
    case Op::OpExtInstImport:
      return &Module::imports;
    case Op::OpMemoryModel:
      return &Module::memory_model;
    case Op::OpEntryPoint:
      return &Module::entry_points;
    case Op::OpExecutionMode:
    case Op::OpExecutionModeId:
      return &Module::execution_modes;
    case Op::OpString:
    case Op::OpSource:
    case Op::OpSourceContinued:
    case Op::OpSourceExtension:
    case Op::OpName:
    case Op::OpMemberName:
      return &Module::debug;
    case Op::OpModuleProcessed:
      return &Module::processed;
    case Op::OpDecorate:
    case Op::OpMemberDecorate:
    case Op::OpDecorationGroup:
    case Op::OpGroupDecorate:
    case Op::OpGroupMemberDecorate:
    case Op::OpDecorateId:
    case Op::OpDecorateString:
    case Op::OpMemberDecorateString:
      return &Module::annotations;
    case Op::OpNop:
    case Op::OpLine:
    case Op::OpNoLine:
    case Op::OpUndef:
    case Op::OpVariable:
    case Op::OpExtInst:
      return &Module::globals;
    default:
      break;
  }
  const bool type = (op >= number(Op::OpTypeVoid) && op <= number(Op::OpTypeForwardPointer));
  const bool constant = op >= number(Op::OpConstantTrue) && op <= number(Op::OpSpecConstantOp);
  // Types of extensions (acceleration structures, hit objects) may come before all others.
  bool result = false;
  bool has_type = false;
  spv::HasResultAndType(static_cast<Op>(op), &result, &has_type);
  return type || constant || result || op == kOpTypeHitObjectEXT ? &Module::globals : nullptr;
}

}  // namespace

std::optional<Module> parse(std::span<const Word> words, std::string& reason) {
  if (words.size() < 5 || words[0] != spv::MagicNumber) {
    reason = "the words do not begin with a SPIR-V header";
    return std::nullopt;
  }
  Module module{words[1], words[2], words[3], words[4], {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  if (module.version >> 16 != 1) {
    reason = "SPIR-V of a major version other than 1";
    return std::nullopt;
  }
  if (module.bound > kMaxBound) {
    reason = "ids above SPIR-V's limit of " + std::to_string(kMaxBound);
    return std::nullopt;
  }
  Section section = &Module::capabilities;
  for (std::size_t at = 5; at < words.size();) {
    const std::size_t count = words[at] >> 16;
    if (count == 0 || count > words.size() - at) {
      reason = "an instruction of " + std::to_string(count) + " words at word " + std::to_string(at) + " of " +
               std::to_string(words.size());
      return std::nullopt;
    }
    Instruction instruction(words.subspan(at, count));
    at += count;
    if (instruction.result() >= module.bound && instruction.result() != 0) {
      reason = "result id " + std::to_string(instruction.result()) + " is not below the bound";
      return std::nullopt;
    }
    if (instruction.is(spv::Op::OpFunction)) {
      module.functions.emplace_back();
    }
    if (!module.functions.empty()) {
      module.functions.back().body.push_back(std::move(instruction));
      continue;
    }
    if (const Section own = section_of(instruction.op()); own != nullptr) {
      section = own;
    }
    (module.*section).push_back(std::move(instruction));
  }
  if (module.memory_model.size() != 1) {
    reason = std::to_string(module.memory_model.size()) + " memory models";
    return std::nullopt;
  }
  return module;
}

}  // namespace rayreplay::spirv
