#include "traversal/traversal.hpp"

#include <algorithm>
#include <cstddef>

#include "traversal/warp_traversal.hpp"

namespace rayreplay::traversal {

std::uint64_t AccessLog::size() const {
  std::uint64_t rows = 0;
  for (const AccessRows& block : blocks) {
    rows += block.size();
  }
  return rows;
}

RayRows<Access> AccessLog::joined() const {
  RayRows<Access> result;
  result.rows.reserve(size());
  result.offset.reserve(end.size() + 1);
  result.offset.push_back(0);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const std::size_t last = std::min(end.size(), (block + 1) * kRays);
    for (std::size_t ray = block * kRays; ray < last; ++ray) {
      result.offset.push_back(result.rows.size() + end[ray]);
    }
    result.rows.insert(result.rows.end(), blocks[block].begin(), blocks[block].end());
  }
  return result;
}

TraceResult Traversal::trace(const bvh::Bvh& bvh, std::span<const Ray> rays, const TraceOptions& options) const {
  return trace_twin.run(
      options.accelerator, [&] { return trace_on_cpu(bvh, rays, options); }, origin(), bvh, rays, options);
}

WarpTraceResult WarpTraversal::trace(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                     std::span<const std::uint64_t> first_ray, const WarpTraceOptions& options) const {
  return trace_warps_twin.run(
      options.accelerator, [&] { return trace_on_cpu(bvh, rays, first_ray, options); }, origin(), bvh, rays, first_ray,
      options);
}

}  // namespace rayreplay::traversal
