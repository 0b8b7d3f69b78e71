// Measured uniformity of a shader's branches and loads, by place in its module, for the annotated instructions.
//
// Contract: the counts of a place add up over the pipelines of its shader; a sum beyond 64 bits saturates. The
// level of a sum: divergent if lanes differed in one pipeline, else not compared if one pipeline did not compare, else
// observed if one pipeline executed the place, else not executed. A proof holds for all pipelines. O(rows · log rows).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "capture/profile/agreement_profile.hpp"
#include "capture/spirv/inline_view.hpp"

namespace rayreplay::report {

struct MeasuredUniformity {
  bool branch = false;  ///< `value` is a condition or selector; no address
  std::uint64_t groups = 0;
  profile::AgreementOf value, address;

  /// "2,030 groups: condition divergent (uniform in 96.1 %)", "12 groups: value proven uniform, address observed
  /// uniform", "not executed".
  [[nodiscard]] std::string text() const;
};

using MeasuredPlaces = std::map<spirv::Place, MeasuredUniformity>;

/// By shader id. `only`: of this pipeline alone.
[[nodiscard]] std::map<std::uint16_t, MeasuredPlaces> measured_by_shader(const profile::AgreementProfile& profile,
                                                                         std::optional<std::uint32_t> only);

}  // namespace rayreplay::report
