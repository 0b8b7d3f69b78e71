#include "capture/spirv/trace_calls.hpp"

namespace rayreplay::spirv {

using spv::Op;

TraceLayout trace_layout(Word op) {
  switch (op) {
    case number(Op::OpTraceRayKHR):
    case number(Op::OpTraceNV):
    case number(Op::OpTraceMotionNV):
    case number(Op::OpTraceRayMotionNV):
      return {1, false};
    case number(Op::OpHitObjectTraceRayNV):
    case number(Op::OpHitObjectTraceRayMotionNV):
    case kOpHitObjectTraceRayEXT:
    case kOpHitObjectTraceRayMotionEXT:
    case kOpHitObjectTraceReorderExecuteEXT:
    case kOpHitObjectTraceMotionReorderExecuteEXT:
      return {2, true};
    default:
      return {};
  }
}

bool makes_untraced(Word op) {
  switch (op) {
    case number(Op::OpHitObjectRecordHitMotionNV):
    case number(Op::OpHitObjectRecordHitWithIndexMotionNV):
    case number(Op::OpHitObjectRecordMissMotionNV):
    case number(Op::OpHitObjectRecordEmptyNV):
    case number(Op::OpHitObjectRecordHitNV):
    case number(Op::OpHitObjectRecordHitWithIndexNV):
    case number(Op::OpHitObjectRecordMissNV):
    case kOpHitObjectRecordFromQueryEXT:
    case kOpHitObjectRecordMissEXT:
    case kOpHitObjectRecordMissMotionEXT:
    case kOpHitObjectRecordEmptyEXT:
      return true;
    default:
      return false;
  }
}

}  // namespace rayreplay::spirv
