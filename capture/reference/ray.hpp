// A ray as passed to a trace call, and the payload that the call returns.
#pragma once

#include <cstdint>

#include "capture/reference/vec.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::reference {

struct Ray {
  Vec3 origin;
  Vec3 direction;
  float t_min = 0;
  float t_max = 0;
};

struct Hit {
  float t = 0;
  float u = 0;  ///< triangles: barycentric weight of the second vertex
  float v = 0;  ///< triangles: of the third
  std::uint32_t instance = 0;
  std::uint32_t geometry = 0;  ///< row of RenderScene::geometries
  std::uint32_t primitive = 0;
  std::uint8_t hit_kind = 0;
};

/// The arguments of a trace call beside the ray.
struct TraceCall {
  std::uint16_t flags = 0;
  std::uint8_t sbt_stride = 0;
  std::uint16_t miss_index = 0;
};

}  // namespace rayreplay::reference
