// Shader execution reordering (SER) for shaders that have none: trace calls become trace, reorder and execute.
//
// Contract: `insert_reordering` returns a module in which OpHitObjectTraceRay, OpReorderThreadWithHitObject and
// OpHitObjectExecuteShader of one private hit object replace every trace call of a ray-generation shader that
// left_alone.hpp allows, in the form of either extension, with the call's own operands and payload. Where the ray's
// flags may skip closest-hit shaders, a hit is executed only if they do not. With a hint the reorder call gets the
// value of its program (hint_code.hpp) and its bits. All other code stays. Pure function; never throws on any input;
// same input, same bytes. `spirv` is empty where nothing was inserted; `notes` says what was left alone and why. Linear
// in the words. C++ standard library only: it runs inside applications. Sources: SPV_NV_shader_invocation_reorder,
// revision 2, and SPV_EXT_shader_invocation_reorder, revision 3.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/instrument/ser/hint_program.hpp"

namespace rayreplay::instrument {

/// The extension whose instructions are inserted: that of NVIDIA, or its successor, which defines the three together as
/// the trace call.
enum class HitObjectForm : std::uint8_t { NV, EXT };

struct InsertResult {
  std::vector<std::uint32_t> spirv;  ///< empty: nothing was inserted
  std::uint32_t inserted = 0;        ///< trace calls that became three
  std::vector<std::string> notes;    ///< a line for each reason, with the number of trace calls
};

/// `hint`: none: reorder by the hit object alone.
[[nodiscard]] InsertResult insert_reordering(std::span<const std::uint32_t> spirv,
                                             const std::optional<HintProgram>& hint,
                                             HitObjectForm form = HitObjectForm::NV);

}  // namespace rayreplay::instrument
