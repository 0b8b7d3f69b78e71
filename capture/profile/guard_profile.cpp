#include "capture/profile/guard_profile.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "capture/spirv/guard_names.hpp"
#include "capture/spirv/module.hpp"

namespace rayreplay::profile {
namespace {

struct Pair {
  spirv::Id held = 0, failed = 0;
  std::string text;
};

/// The blocks of a guard are the two targets of one branch.
std::vector<Pair> guards_of(const trace::Shader& shader) {
  std::vector<Pair> guards;
  std::string reason;
  const auto module = spirv::parse(shader.spirv, reason);
  if (!module) {
    return guards;
  }
  std::unordered_map<spirv::Id, std::string> held, failed;
  for (const spirv::Instruction& i : module->debug) {
    if (!i.is(spv::Op::OpName)) {
      continue;
    }
    const std::string name = i.string(2);
    if (name.starts_with(spirv::kGuardHeld)) {
      held[i[1]] = name.substr(spirv::kGuardHeld.size());
    } else if (name.starts_with(spirv::kGuardFailed)) {
      failed[i[1]] = name.substr(spirv::kGuardFailed.size());
    }
  }
  for (const spirv::Function& function : module->functions) {
    for (const spirv::Instruction& i : function.body) {
      if (i.is(spv::Op::OpBranchConditional) && held.contains(i[2]) && failed.contains(i[3])) {
        guards.push_back({i[2], i[3], failed.at(i[3])});
      }
    }
  }
  return guards;
}

}  // namespace

std::vector<GuardProfile> guard_profile(std::span<const trace::Shader> shaders,
                                        std::span<const ShaderProfile> counted) {
  std::map<std::uint16_t, std::vector<Pair>> known;
  std::vector<GuardProfile> rows;
  for (const ShaderProfile& shader : counted) {
    const auto [guards, fresh] = known.try_emplace(shader.shader);
    if (fresh && shader.shader < shaders.size()) {
      guards->second = guards_of(shaders[shader.shader]);
    }
    const auto block = [&](spirv::Id label) {
      return std::find_if(shader.blocks.begin(), shader.blocks.end(),
                          [&](const BlockProfile& of) { return of.label == label; });
    };
    for (const Pair& guard : guards->second) {
      const auto held = block(guard.held), failed = block(guard.failed);
      if (held == shader.blocks.end() && failed == shader.blocks.end()) {
        continue;
      }
      GuardProfile& row = rows.emplace_back();
      row.pipeline = shader.pipeline;
      row.shader = shader.shader;
      row.function_name = (failed != shader.blocks.end() ? failed : held)->function_name;
      row.label = guard.failed;
      row.text = guard.text;
      if (held != shader.blocks.end()) {
        row.held = held->lanes;
      }
      if (failed != shader.blocks.end()) {
        row.failed = failed->lanes;
      }
    }
  }
  return rows;
}

}  // namespace rayreplay::profile
