// Shader execution reordering (SER) for shaders that have none: trace calls become trace, reorder and execute.
//
// Contract: `insert_reordering` returns a module in which every trace call of a ray-generation shader that can be
// (left_alone.hpp) is OpHitObjectTraceRayNV, OpReorderThreadWithHitObjectNV and OpHitObjectExecuteShaderNV of one
// private hit object, with the call's own operands and payload. Where the ray's flags may skip closest-hit shaders, a
// hit is executed only if they do not. With a hint the reorder call gets the value of its program (hint_code.hpp) and
// its bits. All other code stays. Pure function; never throws on any input; same input, same bytes. `spirv` is empty
// where nothing was inserted; `notes` says what was left alone and why. Linear in the words. C++ standard library only:
// it runs inside applications. Source: SPV_NV_shader_invocation_reorder, revision 2.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/instrument/ser/hint_program.hpp"

namespace rayreplay::instrument {

struct InsertResult {
  std::vector<std::uint32_t> spirv;  ///< empty: nothing was inserted
  std::uint32_t inserted = 0;        ///< trace calls that became three
  std::vector<std::string> notes;    ///< a line for each reason, with the number of trace calls
};

/// `hint`: none: reorder by the hit object alone.
[[nodiscard]] InsertResult insert_reordering(std::span<const std::uint32_t> spirv,
                                             const std::optional<HintProgram>& hint);

}  // namespace rayreplay::instrument
