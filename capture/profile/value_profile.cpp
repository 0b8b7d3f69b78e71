#include "capture/profile/value_profile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "capture/profile/counted_instruction.hpp"
#include "capture/profile/place_names.hpp"
#include "capture/spirv/facts.hpp"

namespace rayreplay::profile {
namespace {

using spv::Op;

struct LoadCode {
  LoadCode(spirv::Module parsed, const trace::Shader& /*shader*/)
      : module(std::move(parsed)), analysed(module), names(analysed) {}

  spirv::Module module;
  spirv::Analysed analysed;
  PlaceNames names;
};

/// The numbers of a loaded value of 32 bits.
struct Numbers {
  NumberKind kind = NumberKind::Unsigned;
  std::uint32_t components = 1;
};

std::optional<Numbers> numbers_of(const spirv::ModuleIndex& index, spirv::Id type) {
  Numbers result;
  if (const spirv::Instruction* vector = index.type(type, Op::OpTypeVector)) {
    result.components = (*vector)[3];
    type = (*vector)[2];
  }
  if (const spirv::Instruction* integer = index.type(type, Op::OpTypeInt); integer != nullptr && (*integer)[2] == 32) {
    result.kind = (*integer)[3] != 0 ? NumberKind::Signed : NumberKind::Unsigned;
    return result;
  }
  if (const spirv::Instruction* real = index.type(type, Op::OpTypeFloat); real != nullptr && (*real)[2] == 32) {
    result.kind = NumberKind::Float;
    return result;
  }
  return std::nullopt;
}

class ValueProfiler {
 public:
  ValueProfiler(const trace::Profile& profile, const std::string& file)
      : profile_(profile), file_(file), codes_(profile.shaders) {}

  std::vector<ValuePlace> places() {
    const trace::ValueCounts& counts = profile_.value_counts;
    std::vector<ValuePlace> result;
    for (std::size_t row = 0; row < counts.size(); ++row) {
      result.push_back(place(row));
    }
    for (std::size_t row = 0; row < counts.value.size(); ++row) {
      ValuePlace& place = result[counts.place[row]];
      place.values.push_back(
          {counts.value[row], counts.value_lanes[row], counts.most_lanes[row], counts.uniform_groups[row]});
      place.untabled -= counts.value_lanes[row];
    }
    for (ValuePlace& place : result) {
      std::ranges::stable_sort(place.values, std::ranges::greater{}, &LoadedValue::lanes);
    }
    return result;
  }

 private:
  ValuePlace place(std::size_t row) {
    const trace::ValueCounts& counts = profile_.value_counts;
    const CountedRow counted{&file_, "values", row};
    const LoadCode& code = codes_.of(counts.shader[row], counted, "the shader of a load is no SPIR-V module");
    ValuePlace result;
    result.pipeline = counts.pipeline[row];
    result.shader = counts.shader[row];
    result.function = counts.function[row];
    result.block = counts.block[row];
    result.instruction = counts.instruction[row];
    result.component = counts.component[row];
    result.lanes = result.untabled = counts.lanes[row];
    result.groups = counts.groups[row];
    const spirv::Analysed& analysed = code.analysed;
    const FoundInstruction found =
        find_instruction(analysed, result.function, result.block, result.instruction, counted);
    const spirv::Instruction& i = *found.instruction;
    result.kind = load_kind(i);
    const auto numbers = result.kind.empty() ? std::nullopt : numbers_of(analysed.index, i.result_type());
    if (!numbers) {
      counted.fail("instruction", "the instruction is no load of 32-bit numbers", fmt::format("opcode {}", i.op()),
                   "a load, an image read or a sample whose result is a number of 32 bits, or a vector of such");
    }
    if (result.component >= numbers->components) {
      counted.fail("component", "the loaded value has no such component", std::to_string(result.component),
                   fmt::format("less than {}", numbers->components));
    }
    result.number = numbers->kind;
    result.function_name = spirv::function_name(analysed, result.function);
    result.label = found.block->label;
    result.name = code.names.place_of(i);
    if (numbers->components > 1) {
      // In front of " of binding 0/3".
      const std::size_t at = std::min(result.name.find(" of "), result.name.size());
      result.name.insert(at, std::string(".") + "xyzw"[result.component]);
    }
    return result;
  }

  const trace::Profile& profile_;
  const std::string& file_;
  ShaderCodes<LoadCode> codes_;
};

}  // namespace

std::vector<ValuePlace> value_profile(const trace::Profile& profile, const std::string& file) {
  return ValueProfiler(profile, file).places();
}

std::vector<LoadedValue> uniform_values(const ValuePlace& place) {
  std::vector<LoadedValue> result;
  std::ranges::copy_if(place.values, std::back_inserter(result),
                       [](const LoadedValue& value) { return value.uniform_groups != 0; });
  std::ranges::sort(result, {}, &LoadedValue::bits);
  std::ranges::stable_sort(result, std::ranges::greater{}, &LoadedValue::uniform_groups);
  return result;
}

std::string value_text(std::uint32_t bits, NumberKind number) {
  switch (number) {
    case NumberKind::Signed:
      return std::to_string(std::bit_cast<std::int32_t>(bits));
    case NumberKind::Float: {
      const auto real = std::bit_cast<float>(bits);
      return std::isnan(real) ? fmt::format("nan (0x{:08x})", bits) : fmt::format("{}", real);
    }
    default:
      return std::to_string(bits);
  }
}

}  // namespace rayreplay::profile
