// The file between memory_image.cpp, which makes it, and tracer.cu, which runs on the GPU: little-endian, no padding.
//
//   ImageHeader | rays: 8 arrays of width · height floats (origin x y z, direction x y z, t_min, t_max)
//               | first_hit: width · height uint32, the primitive that each ray hits, 0xFFFFFFFF for none
//               | memory: `bytes` bytes, laid out as bvh::MemoryMap says
#pragma once

#include <cstdint>

struct ImageHeader {
  std::uint64_t magic;
  std::uint32_t width, height;
  std::uint64_t bytes;
  std::uint64_t top_nodes, instances, bottom_nodes, indices, vertices;  // offsets in memory
  std::uint64_t top_bytes, bottom_bytes, triangles, vertex_count;
};
static_assert(sizeof(ImageHeader) == 96);

constexpr std::uint64_t kImageMagic = 0x3130474D49525252;  // "RRRIMG01"
