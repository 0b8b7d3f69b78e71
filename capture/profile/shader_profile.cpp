#include "capture/profile/shader_profile.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/profile/entry_function.hpp"
#include "capture/spirv/control_flow.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "capture/spirv/trace_calls.hpp"

namespace rayreplay::profile {
namespace {

constexpr const char* kFix = "capture the application again; if your own program wrote this, mend it there";

/// A shader's module, and the flows of the functions that were asked for.
class ShaderCode {
 public:
  explicit ShaderCode(spirv::Module module) : module_(std::move(module)), selectors_(module_), classes_(module_) {
    for (const spirv::Instruction& i : module_.debug) {
      if (i.is(spv::Op::OpName)) {
        names_[i[1]] = i.string(2);
      }
    }
  }

  [[nodiscard]] const spirv::Module& module() const {
    return module_;
  }
  /// Null: there is no such function, or its body is no list of blocks.
  [[nodiscard]] const spirv::ControlFlow* flow(std::uint32_t function) {
    const auto [known, fresh] = flows_.try_emplace(function);
    if (fresh && function < module_.functions.size()) {
      std::string reason;
      known->second = spirv::control_flow(module_.functions[function], selectors_, reason);
    }
    return known->second ? &*known->second : nullptr;
  }
  [[nodiscard]] std::string name(std::uint32_t function) const {
    const spirv::Id id = module_.functions[function].id();
    const auto known = names_.find(id);
    return known == names_.end() || known->second.empty() ? fmt::format("%{}", id)
                                                          : known->second.substr(0, known->second.find('('));
  }
  /// Counts the block's instructions.
  void count(std::uint32_t function, const spirv::Block& block, BlockProfile& counts) const {
    for (std::size_t at = block.first; at <= block.last; ++at) {
      const spirv::Instruction& i = module_.functions[function].body[at];
      const std::uint32_t slots = classes_.issue_slots(i);
      counts.instructions += slots > 0 ? 1U : 0U;
      counts.issue_slots += slots;
      counts.trace_calls += spirv::is_trace_call(i.op()) ? 1U : 0U;
    }
  }
  [[nodiscard]] std::optional<std::uint32_t> entry(const trace::Shader& shader) const {
    return entry_function(module_, shader.stage, shader.entry);
  }

 private:
  spirv::Module module_;
  spirv::WideSelectors selectors_;
  spirv::Classifier classes_;
  std::map<spirv::Id, std::string> names_;
  std::map<std::uint32_t, std::optional<spirv::ControlFlow>> flows_;
};

[[noreturn]] void fail(const std::string& group, std::size_t row, const char* column, const std::string& what,
                       const std::string& found, const std::string& expected) {
  throw Error(ErrorKind::Input, {what, fmt::format("{}/{}[{}]", group, column, row), found, expected, kFix});
}

/// Entries, unused blocks and efficiency, from the blocks.
void summarise(ShaderProfile& shader, std::optional<std::uint32_t> entry, std::uint32_t warp_size) {
  for (const BlockProfile& block : shader.blocks) {
    if (entry == block.function && block.block == 0) {
      shader.entries = block.lanes;
    }
  }
  double group_instructions = 0;
  bool groups = true;
  for (BlockProfile& block : shader.blocks) {
    block.unused = static_cast<double>(block.lanes) * static_cast<double>(kEntriesOfUnused) <
                       static_cast<double>(shader.entries) ||
                   shader.entries == 0;
    shader.unused_blocks += block.unused ? 1U : 0U;
    shader.instructions += block.instructions;
    shader.unused_instructions += block.unused ? block.instructions : 0U;
    shader.lane_instructions += static_cast<double>(block.lanes) * block.instructions;
    shader.lane_issue_slots += static_cast<double>(block.lanes) * block.issue_slots;
    shader.lane_trace_calls += static_cast<double>(block.lanes) * block.trace_calls;
    groups = groups && block.groups.has_value();
    group_instructions += static_cast<double>(block.groups.value_or(0)) * block.instructions;
  }
  if (groups) {
    shader.group_instructions = group_instructions;
  }
  shader.efficiency = instruction_efficiency({&shader, 1}, warp_size);
}

}  // namespace

std::vector<ShaderProfile> shader_profiles(const CountedShaders& counted, const std::string& file) {
  const trace::BlockCounts& counts = counted.counts;
  const std::string group = file + ":" + counted.group;
  std::vector<ShaderProfile> result;
  std::map<std::uint16_t, std::unique_ptr<ShaderCode>> codes;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    const std::uint16_t shader = counts.shader[row];
    std::unique_ptr<ShaderCode>& code = codes[shader];
    if (!code) {
      std::string reason;
      auto module = spirv::parse(counted.shaders[shader].spirv, reason);
      if (!module) {
        fail(group, row, "shader", "the shader of a counted block is no SPIR-V module", reason,
             "its module in /shaders");
      }
      code = std::make_unique<ShaderCode>(std::move(*module));
    }
    const std::uint32_t function = counts.function[row];
    const spirv::ControlFlow* flow = code->flow(function);
    if (flow == nullptr) {
      fail(group, row, "function", "the shader's module has no such function", std::to_string(function),
           fmt::format("less than {}, the number of functions", code->module().functions.size()));
    }
    const std::uint32_t block = counts.block[row];
    if (block >= flow->blocks.size()) {
      fail(group, row, "block", "the function has no such block", std::to_string(block),
           fmt::format("less than {}, the number of blocks", flow->blocks.size()));
    }
    if (result.empty() || result.back().pipeline != counts.pipeline[row] || result.back().shader != shader) {
      result.emplace_back();
      result.back().pipeline = counts.pipeline[row];
      result.back().shader = shader;
    }
    BlockProfile& known = result.back().blocks.emplace_back();
    known.function = function;
    known.block = block;
    known.function_name = code->name(function);
    known.label = flow->blocks[block].label;
    known.loop_depth = flow->loops.depth(block);
    code->count(function, flow->blocks[block], known);
    known.lanes = counts.lanes[row];
    if (!counts.groups.empty()) {
      known.groups = counts.groups[row];
    }
  }
  for (ShaderProfile& shader : result) {
    summarise(shader, codes.at(shader.shader)->entry(counted.shaders[shader.shader]), counted.warp_size);
  }
  return result;
}

std::optional<double> instruction_efficiency(std::span<const ShaderProfile> shaders, std::uint32_t warp_size) {
  double of_lanes = 0, of_groups = 0;
  for (const ShaderProfile& shader : shaders) {
    if (!shader.group_instructions) {
      return std::nullopt;
    }
    of_lanes += shader.lane_instructions;
    of_groups += *shader.group_instructions;
  }
  return warp_size != 0 && of_groups > 0 ? std::optional(of_lanes / (warp_size * of_groups)) : std::nullopt;
}

std::vector<ShaderProfile> of_launch(std::vector<ShaderProfile> profiles, const trace::Launch& launch) {
  std::vector<bool> called(std::numeric_limits<std::uint16_t>::max() + std::size_t{1}, false);
  for (const std::uint16_t shader : launch.data.events.shader) {
    called[shader] = true;
  }
  std::set<std::uint16_t> needed;
  std::map<std::uint32_t, std::set<std::uint16_t>> ran;  // by pipeline
  for (const ShaderProfile& one : profiles) {
    if (called[one.shader]) {
      needed.insert(one.shader);
      if (one.entries > 0) {
        ran[one.pipeline].insert(one.shader);
      }
    }
  }
  std::vector<ShaderProfile> fitting;
  std::ranges::copy_if(profiles, std::back_inserter(fitting),
                       [&](const ShaderProfile& one) { return ran[one.pipeline] == needed; });
  return fitting.empty() ? std::move(profiles) : std::move(fitting);
}

}  // namespace rayreplay::profile
