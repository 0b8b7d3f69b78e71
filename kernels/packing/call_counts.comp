// How often each call (kind, shader) happens.
//
// Contract: adds the number of events [first, first + count) with kind k and shader s to to[k · shaders + s] (32-bit:
// count is below 2^32; `to` starts at 0). `groups` workgroups divide the events. Up to 1024 bins are counted in shared
// memory, in several copies to reduce contention between subgroups; more of them in global memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/packing/packing.glsl"

const uint kSharedBins = 1024;
const uint kCopies = 4;

layout(push_constant, scalar) uniform Push {
  EventPush push;
};

shared uint counts[kCopies * kSharedBins];

void count_call(uint copy, uint kind, uint shader) {
  const uint bin = kind * push.shaders + shader;
  if (push.bins <= kSharedBins) {
    atomicAdd(counts[copy + bin], 1);
  } else {
    atomicAdd(word_at(push.to, bin).at[0], 1);
  }
}

void main() {
  for (uint bin = gl_LocalInvocationIndex; bin < kCopies * kSharedBins; bin += gl_WorkGroupSize.x) {
    counts[bin] = 0;
  }
  barrier();
  const uint copy = (gl_LocalInvocationIndex / 32 % kCopies) * kSharedBins;
  const uint64_t step = uint64_t(push.groups) * gl_WorkGroupSize.x;
  for (uint64_t quad = item_number(push.first_group); quad * 4 < push.count; quad += step) {
    const uint64_t i = push.first + quad * 4;
    if (quad * 4 + 4 <= push.count) {
      const uint kinds = word_at(push.kinds, i / 4).at[0];
      const uvec2 shaders = uvec2(word_at(push.shader_of, i / 2).at[0], word_at(push.shader_of, i / 2).at[1]);
      count_call(copy, kinds & 0xFFu, shaders.x & 0xFFFFu);
      count_call(copy, kinds >> 8 & 0xFFu, shaders.x >> 16);
      count_call(copy, kinds >> 16 & 0xFFu, shaders.y & 0xFFFFu);
      count_call(copy, kinds >> 24, shaders.y >> 16);
    } else {
      for (uint64_t last = quad * 4; last < push.count; ++last) {
        count_call(copy, byte_at(push.kinds, push.first + last), half_at(push.shader_of, push.first + last));
      }
    }
  }
  barrier();
  if (push.bins <= kSharedBins) {
    for (uint bin = gl_LocalInvocationIndex; bin < push.bins; bin += gl_WorkGroupSize.x) {
      uint sum = 0;
      for (uint c = 0; c < kCopies; ++c) {
        sum += counts[c * kSharedBins + bin];
      }
      if (sum != 0) {
        atomicAdd(word_at(push.to, bin).at[0], sum);
      }
    }
  }
}
