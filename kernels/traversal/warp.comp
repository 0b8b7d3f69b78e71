// Warps of a kernel model: which lanes take each step together (traversal/warp/schedule.hpp), one workgroup per warp.
//
// The model's warp size is independent of the subgroup's, so its lanes are a workgroup's threads: their wishes are
// combined in shared memory, each step between two barriers, and every thread decides for the warp.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "kernels/shaders/common.glsl"
#include "kernels/traversal/records.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint kThreads = 32;  // at least the model's warp size, at most 64
layout(constant_id = 1) const uint kLayout = 2;
layout(constant_id = 2) const uint kLog = 0;  // of accesses: counts rows, or writes them where push.row_at is not 0
layout(constant_id = 3) const uint kAnswers = 0;
layout(constant_id = 4) const uint kStack = 64;
layout(constant_id = 5) const uint kCountBits = 2;
layout(constant_id = 6) const uint kBackward = 0;
const uint kCounters = 1u;
const uint kFilter = 1u;
const uint kSorted = 1u;

layout(push_constant, scalar) uniform Push { WarpPush push; };

#include "kernels/traversal/search.glsl"
#include "kernels/traversal/nodes.glsl"
#include "kernels/traversal/lane.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer TallyRef { WarpTally it; };

const uint kNodeStep = 0u;
const uint kLeafStep = 1u;

// Three buffers: one is filled, one read, one cleared.
shared uint wanted[3][4];
shared uint rows_of_lane[kThreads];
shared uint all_rows;

void publish(uint turn) {
  const uint lane = gl_LocalInvocationIndex;
  const uint bit = 1u << (lane & 31u);
  const bool high = lane >= 32u;
  const bool leaf = wants_leaf();
  const uint node_low = subgroupOr(has_node && !high ? bit : 0u);
  const uint leaf_low = subgroupOr(leaf && !high ? bit : 0u);
  const uint node_high = kThreads > 32u ? subgroupOr(has_node && high ? bit : 0u) : 0u;
  const uint leaf_high = kThreads > 32u ? subgroupOr(leaf && high ? bit : 0u) : 0u;
  if (subgroupElect()) {
    atomicOr(wanted[turn][0], node_low);
    atomicOr(wanted[turn][2], leaf_low);
    if (kThreads > 32u) {
      atomicOr(wanted[turn][1], node_high);
      atomicOr(wanted[turn][3], leaf_high);
    }
  }
}

uint count_of(uvec2 mask) {
  return uint(bitCount(mask.x) + bitCount(mask.y));
}

void main() {
  const uint lane = gl_LocalInvocationIndex;
  const uint warp = gl_WorkGroupID.x + push.first_group;
  if (lane == 0u) {
    for (uint i = 0u; i < 3u; ++i) {
      for (uint j = 0u; j < 4u; ++j) {
        wanted[i][j] = 0u;
      }
    }
    all_rows = 0u;
  }
  const uint64_t first = long_at(push.first_ray_at, uint64_t(warp)) - push.first_place;
  const uint64_t last = long_at(push.first_ray_at, uint64_t(warp) + 1ul) - push.first_place;
  const bool has_ray = first + uint64_t(lane) < last;
  has_node = false;
  in_instance = false;
  leaf_next = 0u;
  leaf_end = 0u;
  log_row = 0ul;
  if (has_ray) {
    begin_lane(uint(first) + lane);
  }
  barrier();

  TallyRef tally = TallyRef(push.tally_at + uint64_t(warp) * 32ul);
  // The next rows; in the counting run, the number of rows so far.
  uint64_t step_row = 0ul;
  uint64_t lane_row = 0ul;
  uint64_t access_row = 0ul;
  const bool writes_steps = push.step_at != 0ul;
  if (writes_steps) {
    step_row = tally.it.node_lanes;  // holds the starts from the host
    lane_row = tally.it.leaf_lanes;
    access_row = tally.it.accesses;
  }
  uint steps[2] = uint[2](0u, 0u);
  uint64_t lanes[2] = uint64_t[2](0ul, 0ul);

  const uvec2 below = lane < 32u ? uvec2((1u << lane) - 1u, 0u) : uvec2(0xFFFFFFFFu, (1u << (lane - 32u)) - 1u);
  const uvec2 own = lane < 32u ? uvec2(1u << lane, 0u) : uvec2(0u, 1u << (lane - 32u));
  bool searching = true;
  bool node_is_next = true;
  uint turn = 0u;
  while (true) {
    publish(turn);
    if (lane == 0u) {
      const uint next = turn == 2u ? 0u : turn + 1u;
      for (uint i = 0u; i < 4u; ++i) {
        wanted[next][i] = 0u;
      }
    }
    barrier();
    const uvec2 node_mask = uvec2(wanted[turn][0], wanted[turn][1]);
    const uvec2 leaf_mask = uvec2(wanted[turn][2], wanted[turn][3]);
    turn = turn == 2u ? 0u : turn + 1u;
    const bool nodes_wanted = (node_mask.x | node_mask.y) != 0u;
    const bool leaves_wanted = (leaf_mask.x | leaf_mask.y) != 0u;
    if (!nodes_wanted && !leaves_wanted) {
      break;
    }
    bool node_step;
    if (push.while_while != 0u) {
      node_step = searching && nodes_wanted;
      if (!node_step) {
        searching = !leaves_wanted;
        node_step = !leaves_wanted;
      }
    } else {
      node_step = node_is_next ? nodes_wanted : !leaves_wanted;
      // A turn without lanes passes too.
      node_is_next = !node_step;
    }
    const uvec2 mask = node_step ? node_mask : leaf_mask;
    const uint kind = node_step ? kNodeStep : kLeafStep;
    const uint active_lanes = count_of(mask);
    const bool is_active = ((mask.x & own.x) | (mask.y & own.y)) != 0u;
    ++steps[kind];
    lanes[kind] += active_lanes;
    if (writes_steps) {
      if (lane == 0u) {
        Quads(push.step_at + step_row * 16ul).at[0] = uvec4(mask, push.first_warp + warp, kind);
      }
      ++step_row;
      const uint64_t at = lane_row + count_of(mask & below);
      if (is_active) {
        Words(push.lane_at + at * 4ul).at[0] = uint(push.first_place) + row;
      }
      if (kLog != 0u) {
        uint mine = 0u;
        if (is_active) {
          mine = node_step || !in_instance ? 1u : rows_of_test(level_items, leaf_next);
        }
        rows_of_lane[lane] = mine;
        barrier();
        uint before = 0u;
        uint all = 0u;
        for (uint i = 0u; i < kThreads; ++i) {
          before += i < lane ? rows_of_lane[i] : 0u;
          all += rows_of_lane[i];
        }
        barrier();
        log_row = access_row + before;
        access_row += all;
        if (is_active) {
          Longs(push.access_end_at + at * 8ul).at[0] = log_row + mine;
        }
      }
      lane_row += active_lanes;
    }
    if (is_active) {
      refresh_space();
      if (node_step) {
        step_node();
      } else {
        step_leaf();
      }
      settle();
    }
  }
  if (has_ray) {
    end_search();
  }
  if (!writes_steps) {
    if (kLog != 0u) {
      atomicAdd(all_rows, uint(log_row));
      barrier();
    }
    if (lane == 0u) {
      tally.it = WarpTally(lanes[0], lanes[1], uint64_t(all_rows), steps[0], steps[1]);
    }
  }
}
