#include "capture/optimise/groups.hpp"

#include <algorithm>

namespace rayreplay::optimise {
namespace {

using spv::Op;

constexpr Word kVersionOfGroups = 0x00010300;

void need(Module& module, spv::Capability capability) {
  if (!module.has(capability)) {
    module.capabilities.emplace_back(Op::OpCapability, std::initializer_list<Word>{static_cast<Word>(capability)});
  }
}

}  // namespace

bool allows_groups(const Module& module, std::string& said) {
  if (module.version < kVersionOfGroups) {
    said = "subgroup votes need SPIR-V 1.3";
    return false;
  }
  const bool known = std::all_of(module.entry_points.begin(), module.entry_points.end(), [](const Instruction& i) {
    const auto model = static_cast<spv::ExecutionModel>(i[1]);
    return model == spv::ExecutionModel::GLCompute ||
           (model >= spv::ExecutionModel::RayGenerationKHR && model <= spv::ExecutionModel::CallableKHR);
  });
  said = known ? said : "its shader is no compute or ray-tracing shader";
  return known;
}

Vote vote_on(Module& module, Id value, Id type, bool is_truth) {
  const Id truth = find_or_add(module, Op::OpTypeBool, 0, {});
  const Id number = find_or_add(module, Op::OpTypeInt, 0, {kWordBits, 0});
  const Id scope = find_or_add(module, Op::OpConstant, number, {static_cast<Word>(spv::Scope::Subgroup)});
  for (const auto capability : {spv::Capability::GroupNonUniform, spv::Capability::GroupNonUniformVote,
                                spv::Capability::GroupNonUniformBallot}) {
    need(module, capability);
  }
  Vote vote;
  vote.first = module.bound++;
  vote.agree = module.bound++;
  const Id equal = module.bound++;
  vote.code = {Instruction(Op::OpGroupNonUniformBroadcastFirst, {type, vote.first, scope, value}),
               Instruction(is_truth ? Op::OpLogicalEqual : Op::OpIEqual, {truth, equal, vote.first, value}),
               Instruction(Op::OpGroupNonUniformAll, {truth, vote.agree, scope, equal})};
  return vote;
}

}  // namespace rayreplay::optimise
