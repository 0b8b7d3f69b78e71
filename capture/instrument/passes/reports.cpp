#include <array>

#include "capture/instrument/passes/passes.hpp"

namespace rayreplay::instrument {

using spv::Op;

void record_before(const Place& place, const Instruction& instruction) {
  Rewriter& r = place.rewriter;
  switch (static_cast<Op>(instruction.op())) {
    case Op::OpReportIntersectionKHR: {
      const std::array<Id, 2> arguments = {instruction[3], r.as_uint(place.out, instruction[4])};
      r.probe(place.out, "rr_report", place.shaders, arguments);
      break;
    }
    case Op::OpIgnoreIntersectionKHR:
    case Op::OpIgnoreIntersectionNV:
      r.probe(place.out, "rr_ignore", place.shaders, {});
      break;
    case Op::OpTerminateRayKHR:
    case Op::OpTerminateRayNV:
      r.probe(place.out, "rr_terminate", place.shaders, {});
      break;
    default:
      break;
  }
}

void record_after(const Place& place, const Instruction& instruction) {
  // The probe reads the result, so the block stays whole. Some drivers run nothing after an accepted report under
  // terminate-on-first-hit; so only rejections are recorded here.
  if (instruction.is(Op::OpReportIntersectionKHR)) {
    const std::array<Id, 1> arguments = {instruction[2]};
    place.rewriter.probe(place.out, "rr_report_result", place.shaders, arguments);
  }
}

}  // namespace rayreplay::instrument
