// SPIR-V's enumerators, with those newer than the installed headers.
#pragma once

#include <cstdint>

#define SPV_ENABLE_UTILITY_CODE
#include <spirv/unified1/spirv.hpp11>

namespace rayreplay::spirv {

using Word = std::uint32_t;
using Id = std::uint32_t;

/// An instruction's opcode as a number: unknown ones are passed through, so they need no enumerator.
constexpr Word number(spv::Op op) {
  return static_cast<Word>(op);
}

/// SPV_EXT_shader_invocation_reorder (SPIRV-Headers 1.4.335).
inline constexpr Word kOpHitObjectRecordFromQueryEXT = 5304;
inline constexpr Word kOpHitObjectRecordMissEXT = 5305;
inline constexpr Word kOpHitObjectRecordMissMotionEXT = 5306;
inline constexpr Word kOpHitObjectReorderExecuteShaderEXT = 5310;
inline constexpr Word kOpHitObjectTraceReorderExecuteEXT = 5311;
inline constexpr Word kOpHitObjectTraceMotionReorderExecuteEXT = 5312;
inline constexpr Word kOpTypeHitObjectEXT = 5313;
inline constexpr Word kOpReorderThreadWithHintEXT = 5314;
inline constexpr Word kOpReorderThreadWithHitObjectEXT = 5315;
inline constexpr Word kOpHitObjectTraceRayEXT = 5316;
inline constexpr Word kOpHitObjectTraceRayMotionEXT = 5317;
inline constexpr Word kOpHitObjectRecordEmptyEXT = 5318;
inline constexpr Word kOpHitObjectExecuteShaderEXT = 5319;
inline constexpr Word kOpHitObjectGetHitKindEXT = 5322;
inline constexpr Word kOpHitObjectGetPrimitiveIndexEXT = 5323;
inline constexpr Word kOpHitObjectGetGeometryIndexEXT = 5324;
inline constexpr Word kOpHitObjectGetInstanceIdEXT = 5325;
inline constexpr Word kOpHitObjectGetInstanceCustomIndexEXT = 5326;
inline constexpr Word kOpHitObjectGetWorldRayDirectionEXT = 5329;
inline constexpr Word kOpHitObjectGetWorldRayOriginEXT = 5330;
inline constexpr Word kOpHitObjectGetRayTMaxEXT = 5333;
inline constexpr Word kOpHitObjectGetRayTMinEXT = 5347;
inline constexpr Word kOpHitObjectGetShaderBindingTableRecordIndexEXT = 5348;
inline constexpr Word kOpHitObjectIsHitEXT = 5351;
inline constexpr Word kCapabilityShaderInvocationReorderEXT = 5388;

}  // namespace rayreplay::spirv
