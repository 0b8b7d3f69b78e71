// Trace calls that get no reorder call, and the reasons.
//
// Contract: `LeftAlone` is made of a module before it changes. A trace call is taken apart only if it is OpTraceRayKHR
// with a payload variable, if only ray-generation shaders reach its function (the extensions allow
// reordering in no others), and if its flags do not always skip closest-hit shaders: such rays run no shader worth
// sorting. Linear in the module; O(length of the flags' expression) a call.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/instrument/analysis.hpp"

namespace rayreplay::instrument {

/// The ray flag SkipClosestHitShaderKHR.
inline constexpr Word kSkipsClosestHit = 8;

/// Closest-hit shaders of a ray, by its flags.
enum class ClosestHits : std::uint8_t { Called, Skipped, Unknown };

class LeftAlone {
 public:
  LeftAlone(const Module& module, const Analysis& analysis);

  /// Empty, or why a trace call of a function stays.
  [[nodiscard]] std::string reason(std::size_t function, const Instruction& call) const;
  [[nodiscard]] ClosestHits closest_hits(Id flags) const;

 private:
  /// The definition of a constant or of a combination of bits; null for others.
  [[nodiscard]] const Instruction* definition(Id id) const;

  const Analysis& analysis_;
  std::unordered_map<Id, Instruction> definitions_;
  std::unordered_map<Id, spv::StorageClass> variables_;  ///< global ones
};

/// Why no trace call of the module may be taken apart, whatever the call; "": nothing forbids it.
[[nodiscard]] std::string whole_module_left_alone(const Module& module);

}  // namespace rayreplay::instrument
