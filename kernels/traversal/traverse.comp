// Depth-first traversal, near-first or in the order of the slots: one ray per thread (trace.hpp).
//
// A loop over nodes until the thread has a leaf, a loop over primitives until it has none (while-while: Aila and Laine,
// "Understanding the Efficiency of Ray Traversal on GPUs", HPG 2009).
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "kernels/shaders/common.glsl"
#include "kernels/traversal/records.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kThreads = 64;
layout(constant_id = 1) const uint kLayout = 2;
layout(constant_id = 2) const uint kSorted = 1;
layout(constant_id = 3) const uint kCounters = 1;
layout(constant_id = 4) const uint kLog = 0;      // counts rows, or writes them where push.row_at is not 0
layout(constant_id = 5) const uint kAnswers = 0;  // 1: what the trace observed
layout(constant_id = 6) const uint kStack = 64;
layout(constant_id = 7) const uint kCountBits = 2;
layout(constant_id = 8) const uint kFilter = 1;
layout(constant_id = 9) const uint kBackward = 0;

layout(push_constant, scalar) uniform Push { TracePush push; };

#include "kernels/traversal/search.glsl"
#include "kernels/traversal/nodes.glsl"
#include "kernels/traversal/lane.glsl"

void main() {
  const uint ray = (gl_WorkGroupID.x + push.first_group) * kThreads + gl_LocalInvocationIndex;
  if (ray >= push.rays) {
    return;
  }
  log_row = 0ul;
  if (kLog != 0u && push.row_at != 0ul) {
    log_row = Longs(push.row_first_at + uint64_t(ray) * 8ul).at[0];
  }
  begin_lane(ray);
  while (has_node || wants_leaf()) {
    refresh_space();
    while (has_node) {
      step_node();
      settle();
      if (space_is_stale) {
        break;
      }
    }
    while (wants_leaf() && !space_is_stale) {
      step_leaf();
      settle();
    }
  }
  end_search();
  if (kLog != 0u && push.row_at == 0ul) {
    Words(push.row_count_at + uint64_t(ray) * 4ul).at[0] = uint(log_row);
  }
}
