// What is legal in a trace but may surprise: counted, never rejected. Requires a trace without faults.
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "base/count_text.hpp"
#include "capture/trace/rules/rules.hpp"
#include "capture/trace/texel_address.hpp"

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

/// Accesses to images, and how many of them name a descriptor that the launch's table of images lacks.
struct ImageAccesses {
  std::uint64_t all = 0, without_row = 0;
};

ImageAccesses image_accesses(const Launch& launch, const AccessSites& sites) {
  const Accesses& accesses = launch.data.accesses;
  const auto of_image = [&](std::size_t i) { return sites.space[accesses.site[i]] == AccessSpace::Image; };
  ImageAccesses counts;
  counts.all = count_rows(accesses.size(), [&](std::size_t i) { return of_image(i) ? 1U : 0U; });
  if (counts.all != 0) {
    counts.without_row = count_rows(accesses.size(), [&](std::size_t i) {
      const std::uint32_t site = accesses.site[i];
      return of_image(i) && !has_image(launch.images, sites.set[site], sites.binding[site],
                                       unpack_texel(accesses.address[i]).element)
                 ? 1U
                 : 0U;
    });
  }
  return counts;
}

/// "/launch/0: 3 of 10 rays ended in no shader (no closest-hit or miss shader in the table: 3)"
std::string end_note(std::size_t launch, const EventCounts& counts) {
  constexpr std::array kReasons = {"events were dropped", "hit objects, which need not be executed",
                                   "the shader table is not known", "the table has no shader there",
                                   "for no reason: their ends are lost"};
  static_assert(kReasons.size() == kNoEnds);
  std::string reasons;
  for (std::size_t i = 0; i < kNoEnds; ++i) {
    if (counts.no_end.at(i) != 0) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(kReasons.at(i)) +
                 (counts.no_end.at(i) == counts.without_end() ? "" : ": " + with_separators(counts.no_end.at(i)));
    }
  }
  return fmt::format("/launch/{}: {} of {} ended in no shader ({})", launch, with_separators(counts.without_end()),
                     counted(counts.rays, "ray"), reasons);
}

std::uint64_t nan_numbers(const Column<float>& column) {
  return count_rows(column.size(), [&](std::size_t i) { return std::isnan(column[i]) ? 1U : 0U; });
}

}  // namespace

std::vector<std::string> collect_notes(const Trace& trace, const std::vector<EventCounts>& counts) {
  std::vector<std::string> notes;
  std::uint64_t in_geometry = 0;
  for (const Geometry& geometry : trace.scene.geometries) {
    in_geometry += nan_numbers(geometry.vertices) + nan_numbers(geometry.boxes);
  }
  if (in_geometry != 0) {
    notes.push_back(fmt::format("/scene/geometries: NaN in {}; Vulkan takes such primitives as inactive",
                                counted(in_geometry, "coordinate")));
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
    notes.push_back("/scene/instances: NaN in " + counted(in_transforms, "transform"));
  }
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const ThreadData& data = trace.launches[i].data;
    if (const std::uint64_t rays = nan_rays(data.rays); rays != 0) {
      notes.push_back(
          fmt::format("/launch/{}: NaN in {} of {}", i, with_separators(rays), counted(data.rays.size(), "ray")));
    }
    if (const ImageAccesses images = image_accesses(trace.launches[i], trace.access_sites); images.without_row != 0) {
      notes.push_back(fmt::format(
          "/launch/{}: {} of {} to images are of descriptors whose image is not in the trace: caches and time go "
          "without them",
          i, with_separators(images.without_row), counted(images.all, "access", "accesses")));
    }
    if (counts[i].without_end() != 0) {
      notes.push_back(end_note(i, counts[i]));
    }
  }
  return notes;
}

}  // namespace rayreplay::trace
