// One digit of all elements, highest first: adds to each element's sum the smaller digits before it in its node, and
// moves elements to the nodes of their digits, in order.
//
// A node holds the elements with equal higher digits. As values are a permutation, a node's elements occupy the
// positions of their values: nodes begin at multiples of powers of two, and the sums of `counts` give both the target
// of a tile's elements of a digit and the number of them before the tile in the node.
#version 460
#extension GL_EXT_control_flow_attributes : require
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  DigitArguments arguments;
};
#include "kernels/reuse/tile.glsl"

shared uint begin_of[RR_REUSE_DIGITS];    // where a digit's elements go, less their place in the tile
shared uint local_of[RR_REUSE_DIGITS];    // their first place in the tile
shared uint smaller_of[RR_REUSE_DIGITS];  // elements of earlier tiles with a smaller digit

void main() {
  const uint tile = gl_WorkGroupID.x + arguments.first_group;
  const uint self = gl_LocalInvocationIndex;
  const uint node = tile / arguments.per_node;
  const uint first = tile * RR_REUSE_TILE + self * RR_REUSE_ITEMS;

  uint value[RR_REUSE_ITEMS];
  uint sum[RR_REUSE_ITEMS];
  uint digit[RR_REUSE_ITEMS];
  [[unroll]] for (uint four = 0; four < RR_REUSE_ITEMS / 4; ++four) {
    const uvec4 values = Quads(arguments.values).at[first / 4 + four];
    const uvec4 sums = Quads(arguments.sums).at[first / 4 + four];
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      value[4 * four + i] = values[i];
      sum[4 * four + i] = sums[i];
      digit[4 * four + i] = (values[i] >> arguments.shift) % RR_REUSE_DIGITS;
    }
  }
  uint same[RR_REUSE_ITEMS];
  uint smaller[RR_REUSE_ITEMS];
  count_digit(digit, 0, same, smaller);

  if (self < RR_REUSE_DIGITS) {
    uint local = 0;
    uint smaller_before = 0;
    for (uint d = 0; d < self; ++d) {
      local += totals[d / 2] >> (16 * (d % 2)) & 0xFFFFu;
      const uint row = node * RR_REUSE_DIGITS + d;
      const uint begin = min(row << arguments.shift, arguments.tiles * RR_REUSE_TILE);
      smaller_before += Words(arguments.counts).at[row * arguments.per_node + tile % arguments.per_node] - begin;
    }
    local_of[self] = local;
    smaller_of[self] = smaller_before;
    const uint row = node * RR_REUSE_DIGITS + self;
    begin_of[self] = Words(arguments.counts).at[row * arguments.per_node + tile % arguments.per_node] - local;
  }
  barrier();
  [[unroll]] for (uint k = 0; k < RR_REUSE_ITEMS; ++k) {
    const uint place = slot(local_of[digit[k]] + same[k]);
    words[place] = value[k];
    words[kPadded + place] = sum[k] + smaller_of[digit[k]] + smaller[k];
  }
  barrier();
  for (uint i = self; i < RR_REUSE_TILE; i += RR_REUSE_THREADS) {
    const uint moved = words[slot(i)];
    const uint to = begin_of[(moved >> arguments.shift) % RR_REUSE_DIGITS] + i;
    Words(arguments.values_to).at[to] = moved;
    Words(arguments.sums_to).at[to] = words[kPadded + slot(i)];
  }
}
