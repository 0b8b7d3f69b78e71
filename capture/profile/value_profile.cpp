#include "capture/profile/value_profile.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/profile/place_names.hpp"
#include "capture/spirv/facts.hpp"

namespace rayreplay::profile {
namespace {

using spv::Op;

constexpr const char* kValueRemedy = "capture the application again; if your own program wrote this, mend it there";

struct LoadCode {
  explicit LoadCode(spirv::Module parsed) : module(std::move(parsed)), analysed(module), names(analysed) {}

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
  ValueProfiler(const trace::Profile& profile, const std::string& file) : profile_(profile), file_(file) {}

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
    const auto fail = [&](const char* column, const std::string& what, const std::string& found,
                          const std::string& expected) {
      throw Error(ErrorKind::Input,
                  {what, fmt::format("{}:/profile/values/{}[{}]", file_, column, row), found, expected, kValueRemedy});
    };
    std::string reason;
    const LoadCode* code = code_of(counts.shader[row], reason);
    if (code == nullptr) {
      fail("shader", "the shader of a load is no SPIR-V module", reason, "its module in /shaders");
    }
    ValuePlace result;
    result.pipeline = counts.pipeline[row];
    result.shader = counts.shader[row];
    result.function = counts.function[row];
    result.block = counts.block[row];
    result.instruction = counts.instruction[row];
    result.component = counts.component[row];
    result.lanes = result.untabled = counts.lanes[row];
    result.groups = counts.groups[row];
    const spirv::Analysed& analysed = code->analysed;
    if (result.function >= analysed.flows.size() || !analysed.flows[result.function]) {
      fail("function", "the shader's module has no such function", std::to_string(result.function),
           fmt::format("less than {}, the number of functions", analysed.flows.size()));
    }
    const spirv::ControlFlow& flow = *analysed.flows[result.function];
    if (result.block >= flow.blocks.size()) {
      fail("block", "the function has no such block", std::to_string(result.block),
           fmt::format("less than {}, the number of blocks", flow.blocks.size()));
    }
    const spirv::Block& block = flow.blocks[result.block];
    if (result.instruction < block.first || result.instruction > block.last) {
      fail("instruction", "the block has no such instruction", std::to_string(result.instruction),
           fmt::format("{} to {}", block.first, block.last));
    }
    const spirv::Instruction& i = analysed.module.functions[result.function].body[result.instruction];
    result.kind = load_kind(i);
    const auto numbers = result.kind.empty() ? std::nullopt : numbers_of(analysed.index, i.result_type());
    if (!numbers) {
      fail("instruction", "the instruction is no load of 32-bit numbers", fmt::format("opcode {}", i.op()),
           "a load, an image read or a sample whose result is a number of 32 bits, or a vector of such");
    }
    if (result.component >= numbers->components) {
      fail("component", "the loaded value has no such component", std::to_string(result.component),
           fmt::format("less than {}", numbers->components));
    }
    result.number = numbers->kind;
    result.function_name = spirv::function_name(analysed, result.function);
    result.label = block.label;
    result.name = code->names.place_of(i);
    if (numbers->components > 1) {
      // In front of " of binding 0/3".
      const std::size_t at = std::min(result.name.find(" of "), result.name.size());
      result.name.insert(at, std::string(".") + "xyzw"[result.component]);
    }
    return result;
  }

  const LoadCode* code_of(std::uint16_t shader, std::string& reason) {
    const auto [known, fresh] = codes_.try_emplace(shader);
    if (fresh) {
      if (auto module = spirv::parse(profile_.shaders[shader].spirv, reason)) {
        known->second = std::make_unique<LoadCode>(std::move(*module));
      }
    }
    return known->second.get();
  }

  const trace::Profile& profile_;
  const std::string& file_;
  std::map<std::uint16_t, std::unique_ptr<LoadCode>> codes_;
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
