// Instructions of a shader, from its SPIR-V. The words come from a trace and are untrusted.
#include <algorithm>

#include "capture/profile/entry_function.hpp"
#include "capture/spirv/call_graph.hpp"
#include "capture/spirv/instruction_class.hpp"
#include "capture/spirv/trace_calls.hpp"
#include "sim/machine/cost_sources.hpp"

namespace rayreplay::machine {
namespace {

/// Of one function, without those that it calls.
struct Count {
  double instructions = 0;
  double trace_calls = 0;
};

class Counter {
 public:
  explicit Counter(const spirv::Module& module) : classes_(module) {}
  [[nodiscard]] Count of(const spirv::Function& function) const {
    Count count;
    for (const spirv::Instruction& i : function.body) {
      count.instructions += classes_.issue_slots(i);
      count.trace_calls += spirv::is_trace_call(i.op()) ? 1 : 0;
    }
    return count;
  }

 private:
  spirv::Classifier classes_;
};

}  // namespace

std::optional<SpirvCount> count_spirv(std::span<const std::uint32_t> words, trace::ShaderStage stage,
                                      const std::string& entry) {
  std::string reason;
  const std::optional<spirv::Module> module = spirv::parse(words, reason);
  if (!module) {
    return std::nullopt;
  }
  const spirv::CallGraph calls = spirv::call_graph(*module);
  const std::optional<std::uint32_t> function = profile::entry_function(*module, stage, entry);
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
