// Opcodes of trace calls, and those that make hit objects (SPV_KHR_ray_tracing, SPV_NV_shader_invocation_reorder,
// SPV_EXT_shader_invocation_reorder).
//
// Contract: pure functions of an opcode; unknown ones are none of these. O(1).
#pragma once

#include <cstddef>

#include "capture/spirv/words.hpp"

namespace rayreplay::spirv {

/// Operand positions of a trace call.
struct TraceLayout {
  std::size_t acceleration_structure = 0;  ///< word index; ray flags to t_max follow it. 0: no trace call
  bool hit_object = false;                 ///< word 1 is a hit object, which the call makes
};
[[nodiscard]] TraceLayout trace_layout(Word op);
[[nodiscard]] inline bool is_trace_call(Word op) {
  return trace_layout(op).acceleration_structure != 0;
}

/// Makes a hit object without a trace call. The hit object is operand 1.
[[nodiscard]] bool makes_untraced(Word op);

}  // namespace rayreplay::spirv
