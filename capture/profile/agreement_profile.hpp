// Branches and loads of a trace's shaders: executions, and those in which all lanes of a group agreed.
//
// A branch, a loaded value or a load's address is proven uniform (the analysis of docs/shaders.md gives it level launch
// or group), observed uniform (all lanes agreed in every execution), divergent (lanes differed in one or more), not
// executed, or not compared. Of several that hold the first of divergent, proven, not compared, not executed and
// observed is said.
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

/// Agreement on a condition or selector, a loaded value, or an address.
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

/// Sums over the branches, the loaded values or the load addresses of a shader in a pipeline.
struct AgreementSum {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  const char* subject = "";
  std::array<std::uint64_t, kAgreements> places{}, executions{};  ///< executions: by groups
  std::uint64_t uniform = 0, compared = 0;                        ///< executions, of compared or proven places
};

/// Sums by pipeline, shader and subject; none for a subject without places.
[[nodiscard]] std::vector<AgreementSum> sums_of(const AgreementProfile& profile);

}  // namespace rayreplay::profile
