#include "tests/instrument/support/undone_reordering.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <unordered_set>

#include "capture/spirv/module.hpp"

namespace rayreplay::test {
namespace {

using spirv::Id;
using spirv::Instruction;
using spv::Op;

constexpr std::uint32_t kFirstGetter = 5252;  // OpHitObjectGetWorldToObjectNV
constexpr std::uint32_t kLastGetter = 5278;   // OpHitObjectIsMissNV

bool asks(const Instruction& i) {
  return i.op() >= kFirstGetter && i.op() <= kLastGetter && i.result() != 0;
}

}  // namespace

Words undone_reordering(const Words& words) {
  std::string reason;
  auto module = spirv::parse(words, reason);
  if (!module) {
    throw std::runtime_error(reason);
  }
  std::unordered_set<Id> gone, executes;
  for (const Instruction& i : module->globals) {
    if (i.is(Op::OpTypeHitObjectNV) || (i.is(Op::OpTypePointer) && gone.contains(i[3])) ||
        (i.is(Op::OpVariable) && gone.contains(i[1]))) {
      gone.insert(i.result());
    }
  }
  for (const Instruction& i : module->debug) {
    if (i.is(Op::OpName) && i.string(2) == "rr_execute_hit_object") {
      executes.insert(i[1]);
    }
  }
  const auto erase = [](std::vector<Instruction>& list, const auto& condition) { std::erase_if(list, condition); };
  erase(module->globals, [&](const Instruction& i) { return gone.contains(i.result()); });
  erase(module->debug, [&](const Instruction& i) { return gone.contains(i[1]) || executes.contains(i[1]); });
  erase(module->capabilities, [](const Instruction& i) {
    return i[1] == static_cast<std::uint32_t>(spv::Capability::ShaderInvocationReorderNV);
  });
  erase(module->extensions, [](const Instruction& i) { return i.string(1) == "SPV_NV_shader_invocation_reorder"; });
  for (Instruction& entry : module->entry_points) {
    Instruction kept(spirv::number(Op::OpEntryPoint), entry.operands().first(entry.after_string(3) - 1));
    for (std::size_t at = entry.after_string(3); at < entry.size(); ++at) {
      if (!gone.contains(entry[at])) {
        kept.add(entry[at]);
      }
    }
    entry = kept;
  }
  std::erase_if(module->functions, [&](const spirv::Function& f) { return executes.contains(f.id()); });
  Id no = 0;
  for (spirv::Function& function : module->functions) {
    std::vector<Instruction> body;
    for (const Instruction& i : function.body) {
      if (i.is(Op::OpHitObjectTraceRayNV)) {
        body.emplace_back(spirv::number(Op::OpTraceRayKHR), i.operands().subspan(1));
      } else if (i.is(Op::OpHitObjectIsHitNV)) {
        if (no == 0) {
          no = module->bound++;
          module->globals.emplace_back(Op::OpConstantFalse, std::initializer_list<std::uint32_t>{i[1], no});
        }
        body.emplace_back(Op::OpCopyObject, std::initializer_list<std::uint32_t>{i[1], i[2], no});
      } else if (asks(i)) {
        body.emplace_back(Op::OpUndef, std::initializer_list<std::uint32_t>{i[1], i[2]});
      } else if (!i.is(Op::OpReorderThreadWithHitObjectNV) && !i.is(Op::OpHitObjectExecuteShaderNV) &&
                 !(i.is(Op::OpFunctionCall) && executes.contains(i[3]))) {
        body.push_back(i);
      }
    }
    function.body = std::move(body);
  }
  return module->serialise();
}

Words with_nv_hit_objects(const Words& words) {
  // From the tables of both specifications.
  static const std::map<std::uint32_t, std::uint32_t> kNumbers = {
      {5313, 5281}, {5315, 5279}, {5316, 5260}, {5319, 5264}, {5322, 5267}, {5323, 5268}, {5324, 5269}, {5325, 5270},
      {5326, 5271}, {5329, 5272}, {5330, 5273}, {5333, 5274}, {5347, 5275}, {5348, 5258}, {5351, 5277}};
  constexpr std::uint32_t kCapabilityExt = 5388, kCapabilityNv = 5383;
  std::string reason;
  auto module = spirv::parse(words, reason);
  if (!module) {
    throw std::runtime_error(reason);
  }
  for (Instruction& i : module->capabilities) {
    i.set(1, i[1] == kCapabilityExt ? kCapabilityNv : i[1]);
  }
  for (Instruction& i : module->extensions) {
    if (i.string(1) == "SPV_EXT_shader_invocation_reorder") {
      i = Instruction(spirv::number(Op::OpExtension), spirv::string_words("SPV_NV_shader_invocation_reorder"));
    }
  }
  const auto renumber = [](std::vector<Instruction>& list) {
    for (Instruction& i : list) {
      if (const auto found = kNumbers.find(i.op()); found != kNumbers.end()) {
        i = Instruction(found->second, i.operands());
      }
    }
  };
  renumber(module->globals);
  for (spirv::Function& function : module->functions) {
    renumber(function.body);
  }
  return module->serialise();
}

}  // namespace rayreplay::test
