#include "capture/profile/agreement_profile.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "capture/profile/counted_instruction.hpp"
#include "capture/profile/entry_function.hpp"
#include "capture/profile/place_names.hpp"
#include "capture/spirv/facts.hpp"
#include "capture/spirv/uniformity.hpp"

namespace rayreplay::profile {
namespace {

/// A shader's module with the levels of its places.
class ShaderPlaces {
 public:
  ShaderPlaces(spirv::Module module, const trace::Shader& shader)
      : module_(std::move(module)), analysed_(module_), names_(analysed_) {
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
  [[nodiscard]] const PlaceNames& names() const {
    return names_;
  }
  [[nodiscard]] bool is_proven(spirv::Place place, spirv::Level spirv::UniformityFacts::*level) const {
    const auto known = levels_.find(place);
    return known != levels_.end() && known->second.*level != spirv::Level::Divergent;
  }

 private:
  spirv::Module module_;
  spirv::Analysed analysed_;
  PlaceNames names_;
  std::map<spirv::Place, spirv::UniformityFacts> levels_;
};

class Profiler {
 public:
  Profiler(const trace::Profile& profile, const std::string& file) : file_(file), codes_(profile.shaders) {}

  std::vector<InstructionProfile> rows(const trace::InstructionCounts& counts, bool branches) {
    std::vector<InstructionProfile> result;
    for (std::size_t row = 0; row < counts.size(); ++row) {
      const CountedRow counted{&file_, branches ? "branches" : "loads", row};
      const ShaderPlaces& code =
          codes_.of(counts.shader[row], counted, "the shader of a counted instruction is no SPIR-V module");
      InstructionProfile& known = result.emplace_back();
      known.pipeline = counts.pipeline[row];
      known.shader = counts.shader[row];
      known.function = counts.function[row];
      known.block = counts.block[row];
      known.instruction = counts.instruction[row];
      const spirv::Analysed& analysed = code.analysed();
      const FoundInstruction found =
          find_instruction(analysed, known.function, known.block, known.instruction, counted);
      const spirv::Instruction& i = *found.instruction;
      known.kind = branches ? branch_kind(i) : load_kind(i);
      if (known.kind.empty()) {
        counted.fail("instruction", branches ? "the instruction is no branch" : "the instruction is no load",
                     fmt::format("opcode {}", i.op()),
                     branches ? "OpBranchConditional or OpSwitch" : "a load or an image read");
      }
      known.function_name = spirv::function_name(analysed, known.function);
      known.label = found.block->label;
      known.name = code.names().of(i);
      known.lanes = counts.lanes[row];
      known.groups = counts.groups[row];
      const spirv::Place place{known.function, known.instruction};
      known.value = agreement(counts.uniform[row], known.groups, code.is_proven(place, &spirv::UniformityFacts::level));
      if (!branches) {
        known.address = agreement(counts.uniform_address[row], known.groups,
                                  code.is_proven(place, &spirv::UniformityFacts::address));
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

  const std::string& file_;
  ShaderCodes<ShaderPlaces> codes_;
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
