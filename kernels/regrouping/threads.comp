// Histogram of threads by number of segments, and marks for first segments. An invocation takes several threads; a
// workgroup first adds to its own histogram.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/regrouping/access.glsl"

layout(local_size_x = kGroup) in;
layout(push_constant, scalar) uniform Block {
  ThreadsPush push;
};

const uint kBins = 1024;
shared uint bins[kBins];

void main() {
  for (uint i = gl_LocalInvocationID.x; i < kBins; i += kGroup) {
    bins[i] = 0;
  }
  barrier();
  for (uint i = 0; i < kPathsAGroup / kGroup; ++i) {
    const uint thread = GROUP_NUMBER * kPathsAGroup + i * kGroup + gl_LocalInvocationID.x;
    if (thread < push.threads) {
      const uint begin = word_at(push.first, thread);
      const uint count = word_at(push.first, thread + 1) - begin;
      if (count > 0) {
        atomicOr(Words(push.starts + 4ul * (begin >> 5)).at[0], 1u << (begin & 31));
      }
      if (count < kBins) {
        atomicAdd(bins[count], 1);
      } else {
        atomicAdd(Words(push.histogram + 4ul * count).at[0], 1);
      }
    }
  }
  barrier();
  for (uint i = gl_LocalInvocationID.x; i < kBins; i += kGroup) {
    if (bins[i] != 0) {
      atomicAdd(Words(push.histogram + 4ul * i).at[0], bins[i]);
    }
  }
}
