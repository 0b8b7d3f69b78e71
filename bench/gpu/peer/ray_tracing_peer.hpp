// The peer of the traversal kernels: the driver's own ray-tracing pipeline (VK_KHR_ray_tracing_pipeline) over the same
// triangles, on the same rays.
//
// Contract: one opaque bottom-level structure of the mesh, built by the driver for fast traces and compacted, and one
// instance of it. Ray generation reads a ray, closest-hit and miss write distance and primitive. `trace` traces all
// rays once and returns the seconds between timestamps around the launch. It has a Vulkan device of its own. `device`
// is its number in the loader's list. Errors: Missing where that one has no ray-tracing pipelines.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "capture/trace/trace.hpp"
#include "traversal/ray.hpp"

namespace rayreplay::bench {

struct PeerHit {
  float t = 0;
  std::uint32_t primitive = 0;  ///< trace::kNone: none
};

class RayTracingPeer {
 public:
  RayTracingPeer(std::uint32_t device, const trace::Geometry& mesh, std::span<const traversal::Ray> rays);
  ~RayTracingPeer();
  RayTracingPeer(const RayTracingPeer&) = delete;
  RayTracingPeer& operator=(const RayTracingPeer&) = delete;

  double trace();
  [[nodiscard]] std::vector<PeerHit> hits() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::bench
