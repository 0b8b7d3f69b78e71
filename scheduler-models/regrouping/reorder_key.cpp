#include "scheduler-models/regrouping/reorder_key.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "base/vectors.hpp"
#include "scheduler-models/space_filling.hpp"

namespace rayreplay::scheduler {
namespace {

using trace::EventKind;

constexpr std::uint32_t kShaderBits = 17;
constexpr std::uint32_t kMaxSpatialBits = 16;
constexpr std::size_t kThreadsPerTask = 1024;
constexpr std::size_t kSegmentsPerTask = 65'536;

bool is_pending(EventKind kind) {
  return kind == EventKind::Miss || kind == EventKind::ClosestHit;
}

/// Calls by kind, Miss first, then shader id.
std::uint64_t call_number(const trace::Events& events, std::uint64_t row) {
  return (events.kind[row] == EventKind::ClosestHit ? std::uint64_t{1} << 16 : 0) | events.shader[row];
}

/// Box of finite points; independent of their order.
struct Box {
  Vec3d low = Vec3d::Constant(std::numeric_limits<double>::infinity());
  Vec3d high = Vec3d::Constant(-std::numeric_limits<double>::infinity());
  bool any_hit = false;  ///< one of the points is where a ray hit something

  void add(const Vec3d& point) {
    low = low.cwiseMin(point);
    high = high.cwiseMax(point);
  }
  void add(const Box& other) {
    low = low.cwiseMin(other.low);
    high = high.cwiseMax(other.high);
    any_hit = any_hit || other.any_hit;
  }
};

/// The cell of `point` in a grid of 2^bits cells an axis: cell 0 on an axis without extent, the last cell of all for
/// points that are not finite.
std::uint64_t cell(const Vec3d& point, const Box& box, std::uint32_t bits) {
  const double parts = std::ldexp(1.0, static_cast<int>(bits));
  std::array<std::uint32_t, 3> at{};
  if (!point.allFinite()) {
    at.fill(static_cast<std::uint32_t>(parts) - 1);
    return morton3(at[0], at[1], at[2]);
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    const double extent = box.high[axis] - box.low[axis];
    if (extent > 0) {
      at[axis] = static_cast<std::uint32_t>(std::min((point[axis] - box.low[axis]) / extent * parts, parts - 1));
    }
  }
  return morton3(at[0], at[1], at[2]);
}

/// The places of a launch's pending calls.
class Places {
 public:
  Places(const trace::Launch& launch, const Segments& segments, SpatialKey spatial)
      : data_(launch.data), segments_(segments), spatial_(spatial) {}

  /// Calls `visit(segment, row, point)` for each segment of the thread that opens with a pending call, in order.
  template <class Visitor>
  void visit(std::size_t thread, Visitor visit) const {
    for (std::uint32_t segment = segments_.first[thread]; segment < segments_.first[thread + 1]; ++segment) {
      const std::uint64_t row = segments_.event_offset[segment];
      if (is_pending(data_.events.kind[row])) {
        visit(segment, row, point(ray_of(thread, segment), row));
      }
    }
  }
  /// With `Hit` the place of a miss is a direction, which needs no box.
  [[nodiscard]] bool is_direction(std::uint64_t row) const {
    return spatial_ == SpatialKey::Hit && data_.events.kind[row] == EventKind::Miss;
  }

 private:
  /// The row of the pending ray.
  [[nodiscard]] std::uint64_t ray_of(std::size_t thread, std::uint32_t segment) const {
    std::uint64_t ray = segments_.bounce[segment];
    if (ray == std::numeric_limits<std::uint16_t>::max()) {
      ray = count_rays(thread, segments_.event_offset[segment]);
    }
    return data_.ray_offset[thread] + ray;
  }
  /// The index of the event's ray, of any size.
  [[nodiscard]] std::uint64_t count_rays(std::size_t thread, std::uint64_t event) const {
    if (!data_.events.ray.empty()) {
      return data_.events.ray[event];
    }
    std::uint64_t begun = 0;
    for (std::uint64_t row = data_.event_offset[thread]; row < event; ++row) {
      begun += trace::begins_ray(data_.events.kind[row]) ? 1U : 0U;
    }
    return begun - 1;
  }
  [[nodiscard]] Vec3d point(std::uint64_t ray, std::uint64_t event) const {
    const trace::Rays& rays = data_.rays;
    const Vec3d origin{rays.origin_x[ray], rays.origin_y[ray], rays.origin_z[ray]};
    if (spatial_ == SpatialKey::Ray) {
      return origin;
    }
    const Vec3d direction{rays.direction_x[ray], rays.direction_y[ray], rays.direction_z[ray]};
    const double scale =
        is_direction(event) ? 1 / std::sqrt(dot(direction, direction)) : static_cast<double>(data_.events.t[event]);
    const Vec3d from = is_direction(event) ? Vec3d() : origin;
    return from + scale * direction;
  }

  const trace::ThreadData& data_;
  const Segments& segments_;
  SpatialKey spatial_;
};

Box box_of(const trace::Launch& launch, const Places& places) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, launch.data.threads(), kThreadsPerTask), Box{},
      [&](const auto& range, Box box) {
        for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
          places.visit(thread, [&](std::uint32_t, std::uint64_t row, const Vec3d& point) {
            if (!places.is_direction(row) && point.allFinite()) {
              box.add(point);
              box.any_hit = box.any_hit || launch.data.events.t[row] > 0;
            }
          });
        }
        return box;
      },
      [](Box a, const Box& b) {
        a.add(b);
        return a;
      });
}

bool any_closest_hit(const trace::Launch& launch) {
  const auto& kinds = launch.data.events.kind;
  return std::find(kinds.begin(), kinds.end(), EventKind::ClosestHit) != kinds.end();
}

[[noreturn]] void no_points(const std::string& found, const std::string& expected) {
  throw Error(ErrorKind::Missing,
              {"the trace has no points to sort by", "spatial", found, expected,
               "capture the launch again with ray and hit columns (the layer and the built-in tracer record them), or "
               "sort without places (spatial=none)"});
}

std::uint64_t low_bits(std::uint64_t value, std::uint32_t bits) {
  return value & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

void check_rays(const trace::Launch& launch) {
  const trace::ThreadData& data = launch.data;
  if (data.events.size() > 0 && (data.rays.size() == 0 || data.ray_offset.size() != data.event_offset.size())) {
    no_points("a launch without its rays", "origin and direction of every ray");
  }
}

void check_hits(const trace::Launch& launch, bool any_hit) {
  if (!any_hit && any_closest_hit(launch)) {
    no_points("closest hits without a finite distance above 0", "the distance of every hit (events.t)");
  }
}

std::uint32_t place_bits(const KeyParts& parts, std::uint32_t hint_bits) {
  if (parts.shader_bits > kShaderBits) {
    throw Error(ErrorKind::Usage, {"too many bits for the shader", "shader_bits", fmt::format("{}", parts.shader_bits),
                                   fmt::format("at most {}", kShaderBits), ""});
  }
  const bool spatial = parts.spatial != SpatialKey::None;
  if (spatial && (parts.spatial_bits < 1 || parts.spatial_bits > kMaxSpatialBits)) {
    throw Error(ErrorKind::Usage, {"bits of the place out of range", "spatial_bits",
                                   fmt::format("{}", parts.spatial_bits), fmt::format("1 to {}", kMaxSpatialBits), ""});
  }
  const std::uint32_t spatial_bits = spatial ? 3 * parts.spatial_bits : 0;
  const std::uint32_t sum = parts.shader_bits + hint_bits + spatial_bits;
  if (sum > 64) {
    throw Error(ErrorKind::Usage,
                {"the parts of the reorder key do not fit into 64 bits", "shader_bits, hint_bits, spatial_bits",
                 fmt::format("{} + {} + 3 · {} = {} bits", parts.shader_bits, hint_bits, parts.spatial_bits, sum),
                 "at most 64", "give one of them fewer bits"});
  }
  return spatial_bits;
}

trace::Column<std::uint64_t> keys_on_cpu(const PlanContext& context, const KeyParts& parts) {
  const trace::Launch& launch = context.launch;
  const Segments& segments = context.segments;
  const trace::Events& events = launch.data.events;
  Hints hints;
  if (parts.hint_bits > 0) {
    hints = make_hints(context.trace, launch, segments, parts.hint, context.hints);
  }
  const std::uint32_t hint_bits = std::min(parts.hint_bits, hints.bits);
  const std::uint32_t spatial_bits = place_bits(parts, hint_bits);
  trace::Column<std::uint64_t> keys(segments.size());
  prefer_huge_pages(keys);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, segments.size(), kSegmentsPerTask), [&](const auto& range) {
    for (std::size_t segment = range.begin(); segment != range.end(); ++segment) {
      const std::uint64_t row = segments.event_offset[segment];
      std::uint64_t key = 0;
      if (is_pending(events.kind[row])) {
        if (parts.shader_bits > 0) {
          key = low_bits(call_number(events, row), parts.shader_bits) << (hint_bits + spatial_bits);
        }
        if (hint_bits > 0) {
          key |= std::uint64_t{hints.value[segment]} >> (hints.bits - hint_bits) << spatial_bits;
        }
      }
      keys[segment] = key;
    }
  });
  if (parts.spatial == SpatialKey::None) {
    return keys;
  }
  check_rays(launch);
  const Places places(launch, segments, parts.spatial);
  const Box box = box_of(launch, places);
  if (parts.spatial == SpatialKey::Hit) {
    check_hits(launch, box.any_hit);
  }
  Box directions;
  directions.low = Vec3d::Constant(-1);
  directions.high = Vec3d::Constant(1);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, launch.data.threads(), kThreadsPerTask), [&](const auto& range) {
    for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
      places.visit(thread, [&](std::uint32_t segment, std::uint64_t row, const Vec3d& point) {
        keys[segment] |= cell(point, places.is_direction(row) ? directions : box, parts.spatial_bits);
      });
    }
  });
  return keys;
}

trace::Column<std::uint64_t> reorder_keys(const PlanContext& context, const KeyParts& parts) {
  return reorder_keys_twin.run(
      accelerator_of(context.on_device), [&] { return keys_on_cpu(context, parts); }, context, parts);
}

}  // namespace rayreplay::scheduler
