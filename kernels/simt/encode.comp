// Calls of events as codes: one pass over the kind and shader columns. With kCodeBytes = 0 it only marks the entries
// that occur in `seen`.
//
// Each invocation takes 16 rows: 16 bytes of kinds and 32 of shaders, 16 or 32 bytes of codes. The table of codes is
// small and stays in the nearest cache. Bytes moved: 3 read, 1 or 2 written an event.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"
#include "kernels/simt/layout.h"

layout(local_size_x = RR_SIMT_THREADS) in;
layout(constant_id = 0) const uint kCodeBytes = 1;
layout(push_constant, scalar) uniform Constants {
  EncodePush push;
};

/// The code, or RR_SIMT_NO_CALL; 0 if nothing is encoded.
uint code_of(uint kind, uint shader) {
  const uint index = shader << 4 | kind;
  if (kCodeBytes != 0) {
    return uint(Halves(push.code_of).at[index]);
  }
  // All writers write the same value, and check first: cache lines rarely change owner.
  if (Words(push.seen).at[index] == 0) {
    Words(push.seen).at[index] = 1;
  }
  return 0;
}

void main() {
  const uint64_t invocation =
      uint64_t(push.first_group + gl_WorkGroupID.x) * RR_SIMT_THREADS + gl_LocalInvocationID.x;
  const uint64_t row = invocation * RR_SIMT_ENCODED_ROWS;
  if (row >= push.rows) {
    return;
  }
  if (push.rows - row < RR_SIMT_ENCODED_ROWS) {
    for (uint64_t i = row; i < push.rows; ++i) {
      const uint code = code_of(uint(Bytes(push.kind + i).at[0]), uint(Halves(push.shader + 2 * i).at[0]));
      if (kCodeBytes == 1) {
        Bytes(push.codes + i).at[0] = uint8_t(code);
      } else if (kCodeBytes == 2) {
        Halves(push.codes + 2 * i).at[0] = uint16_t(code);
      }
    }
    return;
  }
  const uvec4 kinds = Quads(push.kind + row).at[0];
  const uvec4 low_shaders = Quads(push.shader + 2 * row).at[0];
  const uvec4 high_shaders = Quads(push.shader + 2 * row).at[1];
  uint codes[RR_SIMT_ENCODED_ROWS];
  for (uint i = 0; i < RR_SIMT_ENCODED_ROWS; ++i) {
    const uint pair = i < 8 ? low_shaders[i / 2] : high_shaders[(i - 8) / 2];
    codes[i] = code_of(kinds[i / 4] >> 8 * (i % 4) & 0xFF, pair >> 16 * (i % 2) & 0xFFFF);
  }
  if (kCodeBytes == 1) {
    uvec4 narrow;
    for (uint i = 0; i < 4; ++i) {
      narrow[i] = codes[4 * i] & 0xFF | (codes[4 * i + 1] & 0xFF) << 8 | (codes[4 * i + 2] & 0xFF) << 16 |
                  codes[4 * i + 3] << 24;
    }
    Quads(push.codes + row).at[0] = narrow;
  } else if (kCodeBytes == 2) {
    uvec4 low, high;
    for (uint i = 0; i < 4; ++i) {
      low[i] = codes[2 * i] | codes[2 * i + 1] << 16;
      high[i] = codes[8 + 2 * i] | codes[8 + 2 * i + 1] << 16;
    }
    Quads(push.codes + 2 * row).at[0] = low;
    Quads(push.codes + 2 * row).at[1] = high;
  }
}
