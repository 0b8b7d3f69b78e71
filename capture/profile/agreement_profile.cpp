#include "capture/profile/agreement_profile.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/profile/entry_function.hpp"
#include "capture/spirv/facts.hpp"
#include "capture/spirv/uniformity.hpp"

namespace rayreplay::profile {
namespace {

using spv::Op;

constexpr const char* kRemedy = "capture the application again; if your own program wrote this, mend it there";
constexpr std::size_t kMostPointerSteps = 64;

/// A shader's module with the levels of its places.
class ShaderPlaces {
 public:
  ShaderPlaces(spirv::Module module, const trace::Shader& shader) : module_(std::move(module)), analysed_(module_) {
    for (const spirv::Instruction& i : module_.debug) {
      if (i.is(Op::OpMemberName)) {
        members_[{i[1], i[2]}] = i.string(3);
      }
    }
    const auto function = entry_function(module_, shader.stage, shader.entry);
    std::string reason;
    if (const auto levels = function ? spirv::uniformity(analysed_, *function, reason) : std::nullopt) {
      for (const auto* list : {&levels->branches, &levels->results}) {
        for (const spirv::UniformityFacts& facts : *list) {
          levels_[facts.place] = facts;
        }
      }
    }
  }

  [[nodiscard]] const spirv::Analysed& analysed() const {
    return analysed_;
  }
  [[nodiscard]] bool is_proven(spirv::Place place, spirv::Level spirv::UniformityFacts::*level) const {
    const auto known = levels_.find(place);
    return known != levels_.end() && known->second.*level != spirv::Level::Divergent;
  }
  /// The condition, selector or loaded place, by the names that the module has: "table.rows[]".
  [[nodiscard]] std::string name_of(const spirv::Instruction& i) const {
    switch (static_cast<Op>(i.op())) {
      case Op::OpBranchConditional:
      case Op::OpSwitch:
        return name_of_value(i[1]);
      case Op::OpLoad:
        return name_of_pointer(i[3]);
      default:
        return name_of_value(i[3]);
    }
  }

 private:
  /// A value's own name, or that of the variable that it was loaded from.
  [[nodiscard]] std::string name_of_value(spirv::Id value) const {
    for (std::size_t step = 0; step < kMostPointerSteps; ++step) {
      std::string name = analysed_.index.name(value);
      const spirv::Instruction* i = analysed_.index.definition(value);
      if (!name.empty() || i == nullptr) {
        return name;
      }
      if (i->is(Op::OpLoad)) {
        return name_of_pointer((*i)[3]);
      }
      if (!i->is(Op::OpSampledImage) && !i->is(Op::OpImage) && !i->is(Op::OpCopyObject)) {
        return {};
      }
      value = (*i)[3];
    }
    return {};
  }

  [[nodiscard]] std::string name_of_pointer(spirv::Id pointer) const {
    std::vector<const spirv::Instruction*> chains;
    const spirv::Instruction* i = analysed_.index.definition(pointer);
    while (i != nullptr && chains.size() < kMostPointerSteps &&
           (i->is(Op::OpAccessChain) || i->is(Op::OpInBoundsAccessChain) || i->is(Op::OpCopyObject))) {
      if (!i->is(Op::OpCopyObject)) {
        chains.push_back(i);
      }
      pointer = (*i)[3];
      i = analysed_.index.definition(pointer);
    }
    const spirv::Instruction* type = analysed_.index.type(analysed_.index.type_of(pointer), Op::OpTypePointer);
    spirv::Id of = type == nullptr ? 0 : (*type)[3];
    std::string name = analysed_.index.name(pointer);
    name = name.empty() ? analysed_.index.name(of) : name;
    for (auto chain = chains.rbegin(); chain != chains.rend(); ++chain) {
      for (std::size_t w = 4; w < (*chain)->size(); ++w) {
        const std::optional<spirv::Word> index = analysed_.index.constant((**chain)[w]);
        if (analysed_.index.type(of, Op::OpTypeStruct) != nullptr && index) {
          const auto member = members_.find({of, *index});
          const std::string known =
              member == members_.end() || member->second.empty() ? fmt::format("{}", *index) : member->second;
          name += (name.empty() ? "" : ".") + known;
        } else {
          name += index ? fmt::format("[{}]", *index) : "[]";
        }
        of = analysed_.index.part_type(of, index.value_or(0));
      }
    }
    return name;
  }

  spirv::Module module_;
  spirv::Analysed analysed_;
  std::map<std::pair<spirv::Id, spirv::Word>, std::string> members_;
  std::map<spirv::Place, spirv::UniformityFacts> levels_;
};

/// "branch", "load" and the like; "" for instructions that are not counted.
std::string kind_of(const spirv::Instruction& i, bool branches) {
  if (branches) {
    return i.is(Op::OpBranchConditional) ? "branch" : i.is(Op::OpSwitch) ? "switch" : "";
  }
  if (i.is(Op::OpLoad)) {
    return "load";
  }
  if (i.is(Op::OpImageRead) || i.is(Op::OpImageFetch) || i.is(Op::OpImageSparseRead) || i.is(Op::OpImageSparseFetch)) {
    return "image read";
  }
  const spirv::Word op = i.op();
  return (op >= spirv::number(Op::OpImageSampleImplicitLod) && op < spirv::number(Op::OpImageRead)) ||
                 (op >= spirv::number(Op::OpImageSparseSampleImplicitLod) &&
                  op <= spirv::number(Op::OpImageSparseDrefGather))
             ? "sample"
             : "";
}

class Profiler {
 public:
  Profiler(const trace::Profile& profile, const std::string& file) : profile_(profile), file_(file) {}

  std::vector<InstructionProfile> rows(const trace::InstructionCounts& counts, bool branches) {
    const char* kind = branches ? "branches" : "loads";
    std::vector<InstructionProfile> result;
    for (std::size_t row = 0; row < counts.size(); ++row) {
      const auto fail = [&](const char* column, const std::string& what, const std::string& found,
                            const std::string& expected) {
        throw Error(ErrorKind::Input,
                    {what, fmt::format("{}:/profile/{}/{}[{}]", file_, kind, column, row), found, expected, kRemedy});
      };
      std::string reason;
      const ShaderPlaces* code = code_of(counts.shader[row], reason);
      if (code == nullptr) {
        fail("shader", "the shader of a counted instruction is no SPIR-V module", reason, "its module in /shaders");
      }
      InstructionProfile& known = result.emplace_back();
      known.pipeline = counts.pipeline[row];
      known.shader = counts.shader[row];
      known.function = counts.function[row];
      known.block = counts.block[row];
      known.instruction = counts.instruction[row];
      const spirv::Analysed& analysed = code->analysed();
      if (known.function >= analysed.flows.size() || !analysed.flows[known.function]) {
        fail("function", "the shader's module has no such function", std::to_string(known.function),
             fmt::format("less than {}, the number of functions", analysed.flows.size()));
      }
      const spirv::ControlFlow& flow = *analysed.flows[known.function];
      if (known.block >= flow.blocks.size()) {
        fail("block", "the function has no such block", std::to_string(known.block),
             fmt::format("less than {}, the number of blocks", flow.blocks.size()));
      }
      const spirv::Block& block = flow.blocks[known.block];
      if (known.instruction < block.first || known.instruction > block.last) {
        fail("instruction", "the block has no such instruction", std::to_string(known.instruction),
             fmt::format("{} to {}", block.first, block.last));
      }
      const spirv::Instruction& i = analysed.module.functions[known.function].body[known.instruction];
      known.kind = kind_of(i, branches);
      if (known.kind.empty()) {
        fail("instruction", branches ? "the instruction is no branch" : "the instruction is no load",
             fmt::format("opcode {}", i.op()),
             branches ? "OpBranchConditional or OpSwitch" : "a load or an image read");
      }
      known.function_name = spirv::function_name(analysed, known.function);
      known.label = block.label;
      known.name = code->name_of(i);
      known.lanes = counts.lanes[row];
      known.groups = counts.groups[row];
      const spirv::Place place{known.function, known.instruction};
      known.value =
          agreement(counts.uniform[row], known.groups, code->is_proven(place, &spirv::UniformityFacts::level));
      if (!branches) {
        known.address = agreement(counts.uniform_address[row], known.groups,
                                  code->is_proven(place, &spirv::UniformityFacts::address));
      }
    }
    return result;
  }

 private:
  static AgreementOf agreement(std::uint64_t uniform, std::uint64_t groups, bool proven) {
    AgreementOf result;
    if (uniform != trace::kNotCompared) {
      result.uniform = uniform;
    }
    // A trace that contradicts the proof shows what was counted.
    const bool divergent = result.uniform && uniform < groups;
    result.agreement = divergent         ? Agreement::Divergent
                       : proven          ? Agreement::Proven
                       : !result.uniform ? Agreement::NotCompared
                       : groups == 0     ? Agreement::NotExecuted
                                         : Agreement::Observed;
    return result;
  }

  const ShaderPlaces* code_of(std::uint16_t shader, std::string& reason) {
    const auto [known, fresh] = codes_.try_emplace(shader);
    if (fresh) {
      if (auto module = spirv::parse(profile_.shaders[shader].spirv, reason)) {
        known->second = std::make_unique<ShaderPlaces>(std::move(*module), profile_.shaders[shader]);
      }
    }
    return known->second.get();
  }

  const trace::Profile& profile_;
  const std::string& file_;
  std::map<std::uint16_t, std::unique_ptr<ShaderPlaces>> codes_;
};

}  // namespace

std::string_view to_string(Agreement agreement) {
  constexpr std::array<std::string_view, kAgreements> kNames = {"proven", "observed", "divergent", "not executed",
                                                                "not compared"};
  return kNames.at(static_cast<std::size_t>(agreement));
}

AgreementProfile agreement_profile(const trace::Profile& profile, const std::string& file) {
  Profiler profiler(profile, file);
  AgreementProfile result;
  result.branches = profiler.rows(profile.branch_counts, true);
  result.loads = profiler.rows(profile.load_counts, false);
  return result;
}

std::vector<AgreementSum> sums_of(const AgreementProfile& profile) {
  constexpr std::array<const char*, 3> kSubjects = {"branches", "loaded values", "load addresses"};
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::size_t>, AgreementSum> sums;
  const auto add = [&](const InstructionProfile& row, std::size_t subject, const AgreementOf& of) {
    AgreementSum& sum = sums[{row.pipeline, row.shader, subject}];
    sum.pipeline = row.pipeline;
    sum.shader = row.shader;
    sum.subject = kSubjects.at(subject);
    ++sum.places.at(static_cast<std::size_t>(of.agreement));
    sum.executions.at(static_cast<std::size_t>(of.agreement)) += row.groups;
    if (of.agreement != Agreement::NotCompared) {
      sum.compared += row.groups;
      sum.uniform += of.uniform.value_or(row.groups);
    }
  };
  for (const InstructionProfile& row : profile.branches) {
    add(row, 0, row.value);
  }
  for (const InstructionProfile& row : profile.loads) {
    add(row, 1, row.value);
    add(row, 2, row.address);
  }
  std::vector<AgreementSum> result;
  for (const auto& [key, sum] : sums) {
    result.push_back(sum);
  }
  return result;
}

}  // namespace rayreplay::profile
