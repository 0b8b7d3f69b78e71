// What is legal in a trace but may surprise: counted, never rejected. Requires a trace without faults.
#include <cmath>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "capture/trace/rules.hpp"

namespace rayreplay::trace {
namespace {

template <class Counts>
std::uint64_t count_rows(std::size_t rows, Counts&& counts) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, rows, std::size_t{1} << 14), std::uint64_t{0},
      [&](const auto& range, std::uint64_t sum) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) {
          sum += counts(i);
        }
        return sum;
      },
      [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

std::uint64_t nan_rays(const Rays& rays) {
  return count_rows(rays.size(), [&](std::size_t r) {
    const bool nan = std::isnan(rays.origin_x[r]) || std::isnan(rays.origin_y[r]) || std::isnan(rays.origin_z[r]) ||
                     std::isnan(rays.direction_x[r]) || std::isnan(rays.direction_y[r]) ||
                     std::isnan(rays.direction_z[r]) || std::isnan(rays.t_min[r]) || std::isnan(rays.t_max[r]);
    return nan ? 1U : 0U;
  });
}

/// Rays of Begin that reached neither ClosestHit nor Miss. A hit on an OcclusionBegin ends in no shader by nature.
std::uint64_t rays_without_end(const ThreadData& data) {
  return count_rows(data.threads(), [&](std::size_t thread) {
    std::uint64_t begun = 0;
    std::uint64_t ended = 0;
    std::vector<bool> occlusion;
    std::uint64_t last_ray = 0;
    for (std::uint64_t e = data.event_offset[thread]; e < data.event_offset[thread + 1]; ++e) {
      const EventKind kind = data.events.kind[e];
      if (begins_ray(kind)) {
        last_ray = occlusion.size();
        occlusion.push_back(kind == EventKind::OcclusionBegin);
        begun += kind == EventKind::Begin ? 1U : 0U;
      } else if (kind == EventKind::ClosestHit || kind == EventKind::Miss) {
        const std::uint64_t ray = data.events.ray.empty() ? last_ray : data.events.ray[e];
        ended += occlusion[ray] ? 0U : 1U;
      }
    }
    return begun - ended;
  });
}

std::uint64_t nan_numbers(const Column<float>& column) {
  return count_rows(column.size(), [&](std::size_t i) { return std::isnan(column[i]) ? 1U : 0U; });
}

}  // namespace

std::vector<std::string> collect_notes(const Trace& trace) {
  std::vector<std::string> notes;
  std::uint64_t in_geometry = 0;
  for (const Geometry& geometry : trace.scene.geometries) {
    in_geometry += nan_numbers(geometry.vertices) + nan_numbers(geometry.boxes);
  }
  if (in_geometry != 0) {
    notes.push_back(fmt::format("/scene/geometries: {} coordinates are NaN; Vulkan takes such primitives as inactive",
                                in_geometry));
  }
  const std::uint64_t in_transforms = count_rows(trace.scene.instances.size(), [&](std::size_t i) {
    for (const float value : trace.scene.instances[i].transform) {
      if (std::isnan(value)) {
        return 1U;
      }
    }
    return 0U;
  });
  if (in_transforms != 0) {
    notes.push_back(fmt::format("/scene/instances: {} transforms hold NaN", in_transforms));
  }
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const ThreadData& data = trace.launches[i].data;
    if (const std::uint64_t rays = nan_rays(data.rays); rays != 0) {
      notes.push_back(fmt::format("/launch/{}: {} of {} rays hold NaN", i, rays, data.rays.size()));
    }
    if (const std::uint64_t rays = rays_without_end(data); rays != 0) {
      notes.push_back(fmt::format("/launch/{}: {} of {} rays ended in no shader", i, rays, data.rays.size()));
    }
  }
  return notes;
}

}  // namespace rayreplay::trace
