// Depth-first traversal, near-first or in the order of the slots: one ray a thread (traverse.hpp).
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
layout(constant_id = 4) const uint kLog = 0;      // 1: counts rows, 2: writes them
layout(constant_id = 5) const uint kAnswers = 0;  // 1: what the trace observed
layout(constant_id = 6) const uint kStack = 64;
layout(constant_id = 7) const uint kCountBits = 2;
layout(constant_id = 8) const uint kFilter = 1;

layout(push_constant, scalar) uniform Push { TracePush push; };

#include "kernels/traversal/search.glsl"
#include "kernels/traversal/nodes.glsl"
#include "kernels/traversal/lane.glsl"

void main() {
  const uint ray = (gl_WorkGroupID.x + push.first_group) * kThreads + gl_LocalInvocationIndex;
  if (ray >= push.rays) {
    return;
  }
  log_row = kLog == 2u ? Longs(push.row_first_at).at[ray] : 0ul;
  begin_lane(ray);
  while (true) {
    while (has_node) {
      step_node();
      settle();
    }
    if (!wants_leaf()) {
      break;
    }
    while (wants_leaf()) {
      step_leaf();
      settle();
    }
  }
  end_search();
  if (kLog == 1u) {
    Words(push.row_count_at).at[ray] = uint(log_row);
  }
}
