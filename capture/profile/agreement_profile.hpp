// Branches and loads of a trace's shaders: executions, and those in which all lanes of a group agreed.
//
// A branch, a loaded value or a load's address is proven uniform (by the analysis of docs/shaders.md, level launch or
// group), observed uniform (in every execution), divergent (in one or more), not executed, or not compared.
//
// Contract: `agreement_profile` takes a checked profile (trace::load_profile); Input names the row of an instruction
// that its shader's module does not have, or that is no branch or load. Rows stay in their order. The analysis of
// uniformity runs once for each shader, within its own limits; where it leaves a shader alone nothing is proven.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/trace/reader.hpp"

namespace rayreplay::profile {

enum class Agreement : std::uint8_t { Proven = 0, Observed, Divergent, NotExecuted, NotCompared };
inline constexpr std::size_t kAgreements = 5;
[[nodiscard]] std::string_view to_string(Agreement agreement);

/// A condition or selector, a loaded value, or an address.
struct AgreementOf {
  std::optional<std::uint64_t> uniform;  ///< executions; none: not compared
  Agreement agreement = Agreement::NotCompared;
};

struct InstructionProfile {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0, block = 0, instruction = 0;
  std::string function_name;  ///< of the debug information; or "%12"
  std::uint32_t label = 0;    ///< of the block
  std::string kind;           ///< "branch", "switch", "load", "image read", "sample"
  std::string name;           ///< what is loaded or decided on, by the debug information; "" without
  std::uint64_t lanes = 0, groups = 0;
  AgreementOf value, address;
};

struct AgreementProfile {
  std::vector<InstructionProfile> branches, loads;
};

/// `file` stands for the trace in messages.
[[nodiscard]] AgreementProfile agreement_profile(const trace::Profile& profile, const std::string& file);

/// Of a shader in a pipeline: its branches, loaded values or load addresses.
struct AgreementSum {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  const char* subject = "";
  std::array<std::uint64_t, kAgreements> places{}, executions{};  ///< executions: by groups
  std::uint64_t uniform = 0, compared = 0;                        ///< executions, of what is compared or proven
};

/// By pipeline, shader and subject; without those that have no places.
[[nodiscard]] std::vector<AgreementSum> sums_of(const AgreementProfile& profile);

}  // namespace rayreplay::profile
