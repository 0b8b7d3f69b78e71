// Instructions of a shader, from its SPIR-V. The words come from a trace and are untrusted.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "sim/machine/cost_sources.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::uint32_t kMagic = 0x0723'0203U;
constexpr std::size_t kHeaderWords = 5;

// Numbers of the SPIR-V specification, section 3.49 (version 1.6).
enum Op : std::uint32_t {
  kOpExtInst = 12,
  kOpEntryPoint = 15,
  kOpTypeVector = 23,
  kOpTypePointer = 32,
  kOpConstant = 43,
  kOpConstantNull = 46,
  kOpFunction = 54,
  kOpFunctionParameter = 55,
  kOpFunctionEnd = 56,
  kOpFunctionCall = 57,
  kOpVariable = 59,
  kOpLoad = 61,
  kOpStore = 62,
  kOpAccessChain = 65,
  kOpInBoundsAccessChain = 66,
  kOpCopyObject = 83,
  kOpFirstArithmetic = 109,  ///< OpConvertFToU
  kOpLastArithmetic = 205,   ///< OpBitCount
  kOpTraceRayKHR = 4445,
  kOpHitObjectTraceRayNV = 5260,
  kOpTraceNV = 5337,
};

/// Labels, merges, variables, debug information, and moves of components, which only rename registers.
bool is_free(std::uint32_t op) {
  constexpr std::uint32_t kFree[] = {
      0,    // OpNop
      1,    // OpUndef
      8,    // OpLine
      54,   // OpFunction
      55,   // OpFunctionParameter
      56,   // OpFunctionEnd
      59,   // OpVariable
      65,   // OpAccessChain
      66,   // OpInBoundsAccessChain
      79,   // OpVectorShuffle
      80,   // OpCompositeConstruct
      81,   // OpCompositeExtract
      82,   // OpCompositeInsert
      83,   // OpCopyObject
      124,  // OpBitcast
      245,  // OpPhi
      246,  // OpLoopMerge
      247,  // OpSelectionMerge
      248,  // OpLabel
      317,  // OpNoLine
      400,  // OpCopyLogical
  };
  return std::binary_search(std::begin(kFree), std::end(kFree), op);
}

/// True for storage classes of one thread's variables, which compilers keep in registers.
bool is_own_storage(std::uint32_t storage_class) {
  constexpr std::uint32_t kPrivate = 6;
  constexpr std::uint32_t kFunction = 7;
  return storage_class == kPrivate || storage_class == kFunction;
}

bool has_components(std::uint32_t op) {
  return op == kOpExtInst || op == kOpLoad || (op >= kOpFirstArithmetic && op <= kOpLastArithmetic);
}

bool is_trace_call(std::uint32_t op) {
  return op == kOpTraceRayKHR || op == kOpHitObjectTraceRayNV || op == kOpTraceNV;
}

std::uint32_t execution_model(trace::ShaderStage stage) {
  switch (stage) {
    case trace::ShaderStage::RayGeneration:
      return 5313;
    case trace::ShaderStage::Intersection:
      return 5314;
    case trace::ShaderStage::AnyHit:
      return 5315;
    case trace::ShaderStage::ClosestHit:
      return 5316;
    case trace::ShaderStage::Miss:
      return 5317;
    case trace::ShaderStage::Callable:
      return 5318;
  }
  return 0;
}

/// True if the literal string at the start of the words is `text`.
bool is_string(std::span<const std::uint32_t> words, const std::string& text) {
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i / 4 >= words.size()) {
      return false;
    }
    const auto byte = static_cast<char>(words[i / 4] >> (8 * (i % 4)) & 0xFF);
    if (byte != (i < text.size() ? text[i] : '\0')) {
      return false;
    }
  }
  return true;
}

/// Pointers to variables that compilers keep in registers: storage class Function or Private, whole or by constant
/// indices. SPIR-V defines ids before their use.
class Registers {
 public:
  void see(std::uint32_t op, std::span<const std::uint32_t> words) {
    const auto operand = [&](std::size_t i) { return i < words.size() ? words[i] : 0; };
    switch (op) {
      case kOpTypePointer:
        if (is_own_storage(operand(2))) {
          pointer_types_.insert(operand(1));
        }
        break;
      case kOpConstant:
      case kOpConstantNull:
        constants_.insert(operand(2));
        break;
      case kOpVariable:
      case kOpFunctionParameter:
        if (pointer_types_.contains(operand(1))) {
          pointers_.insert(operand(2));
        }
        break;
      case kOpAccessChain:
      case kOpInBoundsAccessChain:
      case kOpCopyObject: {
        constexpr std::size_t kFirstIndex = 4;
        const auto indices = words.subspan(std::min(words.size(), kFirstIndex));
        if (pointers_.contains(operand(3)) && std::all_of(indices.begin(), indices.end(), [this](std::uint32_t index) {
              return constants_.contains(index);
            })) {
          pointers_.insert(operand(2));
        }
        break;
      }
      default:
        break;
    }
  }
  /// A load or store of a register variable.
  [[nodiscard]] bool is_move(std::uint32_t op, std::span<const std::uint32_t> words) const {
    const std::size_t pointer = op == kOpLoad ? 3 : 1;
    return (op == kOpLoad || op == kOpStore) && words.size() > pointer && pointers_.contains(words[pointer]);
  }

 private:
  std::unordered_set<std::uint32_t> pointer_types_, constants_, pointers_;
};

struct Function {
  double instructions = 0;
  double trace_calls = 0;
  std::map<std::uint32_t, std::uint32_t> callees;  ///< by id: number of calls
  std::uint32_t callers = 0;                       ///< calling functions that are not yet added up
};

struct Module {
  std::unordered_map<std::uint32_t, Function> functions;
  std::uint32_t entry = 0;
};

std::optional<Module> read_module(std::span<const std::uint32_t> words, trace::ShaderStage stage,
                                  const std::string& entry) {
  if (words.size() < kHeaderWords || words[0] != kMagic) {
    return std::nullopt;
  }
  Module module;
  bool found = false;
  std::unordered_map<std::uint32_t, std::uint32_t> components;  // by type
  Registers registers;
  Function* function = nullptr;
  for (std::size_t at = kHeaderWords; at < words.size();) {
    const std::uint32_t op = words[at] & 0xFFFF;
    const std::size_t size = words[at] >> 16;
    if (size == 0 || size > words.size() - at) {
      return std::nullopt;
    }
    const std::span<const std::uint32_t> instruction = words.subspan(at, size);
    const auto operand = [&](std::size_t i) { return i < size ? instruction[i] : 0; };
    at += size;
    if (op == kOpEntryPoint && size > 3 && operand(1) == execution_model(stage) &&
        is_string(instruction.subspan(3), entry)) {
      module.entry = operand(2);
      found = true;
    } else if (op == kOpTypeVector) {
      components[operand(1)] = std::clamp(operand(3), 1U, 16U);
    } else if (op == kOpFunction) {
      function = &module.functions[operand(2)];
    } else if (op == kOpFunctionEnd) {
      function = nullptr;
    }
    registers.see(op, instruction);
    if (function == nullptr || is_free(op) || registers.is_move(op, instruction)) {
      continue;
    }
    double weight = 1;
    if (has_components(op)) {
      const auto type = components.find(operand(1));
      weight = type == components.end() ? 1 : type->second;
    }
    function->instructions += weight;
    function->trace_calls += is_trace_call(op) ? 1 : 0;
    if (op == kOpFunctionCall) {
      ++function->callees[operand(3)];
    }
  }
  if (!found || !module.functions.contains(module.entry)) {
    return std::nullopt;
  }
  return module;
}

/// Functions reachable from the entry point.
std::vector<std::uint32_t> reachable(const Module& module) {
  std::unordered_map<std::uint32_t, bool> seen = {{module.entry, true}};
  std::vector<std::uint32_t> order = {module.entry};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const auto& [callee, calls] : module.functions.at(order[i]).callees) {
      if (module.functions.contains(callee) && !seen[callee]) {
        seen[callee] = true;
        order.push_back(callee);
      }
    }
  }
  return order;
}

}  // namespace

std::optional<SpirvCount> count_spirv(std::span<const std::uint32_t> words, trace::ShaderStage stage,
                                      const std::string& entry) {
  std::optional<Module> module = read_module(words, stage, entry);
  if (!module) {
    return std::nullopt;
  }
  const std::vector<std::uint32_t> functions = reachable(*module);
  for (const std::uint32_t id : functions) {
    for (const auto& [callee, calls] : module->functions.at(id).callees) {
      if (module->functions.contains(callee)) {
        ++module->functions.at(callee).callers;
      }
    }
  }
  // Callers before callees, each function after all its callers: its cost times its number of calls.
  std::unordered_map<std::uint32_t, double> times = {{module->entry, 1.0}};
  std::vector<std::uint32_t> ready;
  if (module->functions.at(module->entry).callers == 0) {
    ready.push_back(module->entry);
  }
  double instructions = 0;
  double trace_calls = 0;
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const Function& function = module->functions.at(ready[i]);
    const double called = times[ready[i]];
    instructions += called * function.instructions;
    trace_calls += called * function.trace_calls;
    for (const auto& [callee, calls] : function.callees) {
      const auto found = module->functions.find(callee);
      if (found != module->functions.end()) {
        times[callee] = std::min(times[callee] + called * calls, kMaxIssue);
        if (--found->second.callers == 0) {
          ready.push_back(callee);
        }
      }
    }
  }
  if (ready.size() != functions.size()) {
    return std::nullopt;  // a cycle: SPIR-V does not allow recursion
  }
  return SpirvCount{std::min(instructions, kMaxIssue), static_cast<std::uint32_t>(std::min(trace_calls, kMaxIssue))};
}

}  // namespace rayreplay::machine
