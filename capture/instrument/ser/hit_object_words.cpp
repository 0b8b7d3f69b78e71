#include "capture/instrument/ser/hit_object_words.hpp"

namespace rayreplay::instrument {

using spv::Op;

const HitObjectWords& hit_object_words(HitObjectForm form) {
  static constexpr HitObjectWords kNv = {.capability = static_cast<Word>(spv::Capability::ShaderInvocationReorderNV),
                                         .extension = "SPV_NV_shader_invocation_reorder",
                                         .type = number(Op::OpTypeHitObjectNV),
                                         .trace = number(Op::OpHitObjectTraceRayNV),
                                         .reorder = number(Op::OpReorderThreadWithHitObjectNV),
                                         .execute = number(Op::OpHitObjectExecuteShaderNV),
                                         .is_hit = number(Op::OpHitObjectIsHitNV),
                                         .instance = number(Op::OpHitObjectGetInstanceIdNV),
                                         .primitive = number(Op::OpHitObjectGetPrimitiveIndexNV),
                                         .geometry = number(Op::OpHitObjectGetGeometryIndexNV),
                                         .record_index = number(Op::OpHitObjectGetShaderBindingTableRecordIndexNV),
                                         .custom_index = number(Op::OpHitObjectGetInstanceCustomIndexNV),
                                         .hit_kind = number(Op::OpHitObjectGetHitKindNV),
                                         .t_max = number(Op::OpHitObjectGetRayTMaxNV),
                                         .t_min = number(Op::OpHitObjectGetRayTMinNV),
                                         .origin = number(Op::OpHitObjectGetWorldRayOriginNV),
                                         .direction = number(Op::OpHitObjectGetWorldRayDirectionNV)};
  static constexpr HitObjectWords kExt = {.capability = kCapabilityShaderInvocationReorderEXT,
                                          .extension = "SPV_EXT_shader_invocation_reorder",
                                          .type = kOpTypeHitObjectEXT,
                                          .trace = kOpHitObjectTraceRayEXT,
                                          .reorder = kOpReorderThreadWithHitObjectEXT,
                                          .execute = kOpHitObjectExecuteShaderEXT,
                                          .is_hit = kOpHitObjectIsHitEXT,
                                          .instance = kOpHitObjectGetInstanceIdEXT,
                                          .primitive = kOpHitObjectGetPrimitiveIndexEXT,
                                          .geometry = kOpHitObjectGetGeometryIndexEXT,
                                          .record_index = kOpHitObjectGetShaderBindingTableRecordIndexEXT,
                                          .custom_index = kOpHitObjectGetInstanceCustomIndexEXT,
                                          .hit_kind = kOpHitObjectGetHitKindEXT,
                                          .t_max = kOpHitObjectGetRayTMaxEXT,
                                          .t_min = kOpHitObjectGetRayTMinEXT,
                                          .origin = kOpHitObjectGetWorldRayOriginEXT,
                                          .direction = kOpHitObjectGetWorldRayDirectionEXT};
  return form == HitObjectForm::NV ? kNv : kExt;
}

}  // namespace rayreplay::instrument
