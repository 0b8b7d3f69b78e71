// Instructions of a shader, from its SPIR-V. The words come from a trace and are untrusted.
#include <algorithm>
#include <unordered_map>

#include "capture/spirv/call_graph.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "sim/machine/cost_sources.hpp"

namespace rayreplay::machine {
namespace {

/// One issue for each component of the result.
bool has_components(const spirv::Instruction& i) {
  return i.is(spv::Op::OpExtInst) || i.is(spv::Op::OpLoad) ||
         (i.op() >= spirv::number(spv::Op::OpConvertFToU) && i.op() <= spirv::number(spv::Op::OpBitCount));
}

bool is_trace_call(const spirv::Instruction& i) {
  const auto kind = spirv::call_kind(i.op());
  return kind == spirv::CallKind::Trace || kind == spirv::CallKind::TraceReorderExecute;
}

spv::ExecutionModel execution_model(trace::ShaderStage stage) {
  switch (stage) {
    case trace::ShaderStage::RayGeneration:
      return spv::ExecutionModel::RayGenerationKHR;
    case trace::ShaderStage::Intersection:
      return spv::ExecutionModel::IntersectionKHR;
    case trace::ShaderStage::AnyHit:
      return spv::ExecutionModel::AnyHitKHR;
    case trace::ShaderStage::ClosestHit:
      return spv::ExecutionModel::ClosestHitKHR;
    case trace::ShaderStage::Miss:
      return spv::ExecutionModel::MissKHR;
    case trace::ShaderStage::Callable:
      return spv::ExecutionModel::CallableKHR;
  }
  return spv::ExecutionModel::Max;
}

/// Of one function, without those that it calls.
struct Count {
  double instructions = 0;
  double trace_calls = 0;
};

class Counter {
 public:
  explicit Counter(const spirv::Module& module) : classes_(module) {
    for (const spirv::Instruction& i : module.globals) {
      if (i.is(spv::Op::OpTypeVector)) {
        components_[i[1]] = std::clamp(i[3], 1U, 16U);
      }
    }
  }
  [[nodiscard]] Count of(const spirv::Function& function) const {
    Count count;
    for (const spirv::Instruction& i : function.body) {
      if (!issues(classes_.of(i))) {
        continue;
      }
      const auto components = has_components(i) ? components_.find(i.result_type()) : components_.end();
      count.instructions += components == components_.end() ? 1 : components->second;
      count.trace_calls += is_trace_call(i) ? 1 : 0;
    }
    return count;
  }

 private:
  spirv::Classifier classes_;
  std::unordered_map<spirv::Id, std::uint32_t> components_;  ///< by type
};

/// Index of the entry point's function.
std::optional<std::uint32_t> entry_function(const spirv::Module& module, const spirv::CallGraph& calls,
                                            trace::ShaderStage stage, const std::string& name) {
  for (const spirv::Instruction& entry : module.entry_points) {
    if (entry[1] == static_cast<spirv::Word>(execution_model(stage)) && entry.string(3) == name) {
      const auto function = calls.function_of.find(entry[2]);
      return function == calls.function_of.end() ? std::nullopt : std::optional(function->second);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<SpirvCount> count_spirv(std::span<const std::uint32_t> words, trace::ShaderStage stage,
                                      const std::string& entry) {
  std::string reason;
  const std::optional<spirv::Module> module = spirv::parse(words, reason);
  if (!module) {
    return std::nullopt;
  }
  const spirv::CallGraph calls = spirv::call_graph(*module);
  const std::optional<std::uint32_t> function = entry_function(*module, calls, stage, entry);
  if (!function) {
    return std::nullopt;
  }
  const spirv::Reached reached = spirv::reached_from(calls, *function);
  if (reached.recursion) {
    return std::nullopt;
  }
  // Each function after all its callers: its cost times its number of calls.
  const Counter counter(*module);
  std::vector<double> times(module->functions.size(), 0);
  times[*function] = 1;
  double instructions = 0;
  double trace_calls = 0;
  for (const std::uint32_t f : reached.functions) {
    const Count count = counter.of(module->functions[f]);
    instructions += times[f] * count.instructions;
    trace_calls += times[f] * count.trace_calls;
    for (const std::uint32_t callee : calls.callees[f]) {
      times[callee] = std::min(times[callee] + times[f], kMaxIssue);
    }
  }
  return SpirvCount{std::min(instructions, kMaxIssue), static_cast<std::uint32_t>(std::min(trace_calls, kMaxIssue))};
}

}  // namespace rayreplay::machine
