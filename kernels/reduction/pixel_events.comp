// Events of some kinds per pixel (pixel_sums.hpp): an invocation is a pixel, whose threads lie one slice apart.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "kernels/shaders/common.glsl"

layout(local_size_x = 64) in;

const uint kMaxColumns = 4u;

layout(push_constant, scalar) uniform Push {
  uint first_group;
  uint columns;        ///< of the result
  uint kinds_counted[kMaxColumns];  ///< bit k: kind k counts in this column
  uint depth;
  uint64_t pixels;
  uint64_t kinds;      ///< a byte each event
  uint64_t events;
  uint64_t offsets;    ///< of each thread's events
  uint64_t counts;     ///< column after column
};

// The events from a multiple of four on: the column may end within the word.
uint word_at(uint64_t event) {
  if (event + 4ul <= events) {
    return Words(kinds + event).at[0];
  }
  uint four = 0u;
  for (uint k = 0u; k < 3u; ++k) {
    four |= event + k < events ? uint(Bytes(kinds + event + k).at[0]) << (8u * k) : 0u;
  }
  return four;
}

void main() {
  const uint64_t pixel = uint64_t(gl_WorkGroupID.x + first_group) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (pixel >= pixels) {
    return;
  }
  uint found[kMaxColumns] = uint[kMaxColumns](0u, 0u, 0u, 0u);
  for (uint slice = 0u; slice < depth; ++slice) {
    const uint64_t thread = slice * pixels + pixel;
    const uint64_t begin = Longs(offsets + 8ul * thread).at[0];
    const uint64_t end = Longs(offsets + 8ul * thread).at[1];
    // Words of four events; events of other threads in the first and last word are shifted out.
    for (uint64_t word = begin & ~3ul; word < end; word += 4ul) {
      const uint four = word_at(word);
      const uint first = word < begin ? uint(begin - word) : 0u;
      const uint last = min(4u, uint(min(end - word, 4ul)));
      for (uint k = first; k < last; ++k) {
        const uint bit = 1u << ((four >> (8u * k)) & 31u);
        for (uint column = 0u; column < kMaxColumns; ++column) {
          found[column] += (kinds_counted[column] & bit) != 0u ? 1u : 0u;
        }
      }
    }
  }
  for (uint column = 0u; column < columns; ++column) {
    Words(counts + 4ul * (column * pixels + pixel)).at[0] = found[column];
  }
}
