// Histograms of distances: one piece of a stream a workgroup, counted in shared memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/reuse/arguments.h"

layout(local_size_x = RR_REUSE_THREADS) in;
layout(push_constant, scalar) uniform Push {
  HistogramArguments arguments;
};

shared uint bins[RR_REUSE_ROW_BINS];

uint bin_of(uint distance) {
  if (distance == RR_REUSE_NONE) {
    return RR_REUSE_BINS;
  }
  if (distance >> RR_REUSE_EXACT_BITS == 0) {
    return distance;
  }
  const uint octave = uint(findMSB(distance));
  const uint inside = distance >> (octave - RR_REUSE_OCTAVE_BITS) & ((1u << RR_REUSE_OCTAVE_BITS) - 1);
  return (1u << RR_REUSE_EXACT_BITS) + (octave - RR_REUSE_EXACT_BITS << RR_REUSE_OCTAVE_BITS) + inside;
}

void main() {
  const uint piece = (gl_WorkGroupID.x + arguments.first_group) * RR_REUSE_PIECE_WORDS;
  const uint row = Words(arguments.pieces).at[piece];
  const uint end = Words(arguments.pieces).at[piece + 2];
  for (uint i = gl_LocalInvocationIndex; i < RR_REUSE_ROW_BINS; i += RR_REUSE_THREADS) {
    bins[i] = 0;
  }
  barrier();
  for (uint i = Words(arguments.pieces).at[piece + 1] + gl_LocalInvocationIndex; i < end; i += RR_REUSE_THREADS) {
    atomicAdd(bins[bin_of(Words(arguments.distances).at[i])], 1);
  }
  barrier();
  for (uint i = gl_LocalInvocationIndex; i < RR_REUSE_ROW_BINS; i += RR_REUSE_THREADS) {
    if (bins[i] != 0) {
      atomicAdd(Words(arguments.histograms).at[row * RR_REUSE_ROW_BINS + i], bins[i]);
    }
  }
}
