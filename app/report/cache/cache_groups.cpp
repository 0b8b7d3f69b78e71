#include "app/report/cache/cache_groups.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/report/cache/cache_boxes.hpp"
#include "app/report/cache/cache_table.hpp"
#include "base/vectors.hpp"

namespace rayreplay::report {
namespace {

using memory::DataKind;
using memory::RequestSums;
using output::Cell;
using output::Show;

constexpr const char* kTopDepth = "top depth";
constexpr const char* kBottomDepth = "bottom depth";
constexpr const char* kPixels = "pixels";
constexpr const char* kFacing = "facing";
constexpr const char* kInstanced = "instanced";
constexpr double kSlanted = 0.5;  ///< cosine of 60 degrees
constexpr int kLeastOctave = -6;
constexpr int kMostOctave = 20;
constexpr int kInstancedOrder = 1000;  ///< behind every other group

Vec3d cross_of(const Vec3d& a, const Vec3d& b) {
  Vec3d c;
  c[0] = a[1] * b[2] - a[2] * b[1];
  c[1] = a[2] * b[0] - a[0] * b[2];
  c[2] = a[0] * b[1] - a[1] * b[0];
  return c;
}

double length_of(const Vec3d& a) {
  return std::sqrt(dot(a, a));
}

/// Solid angle of a triangle whose corners are seen at a, b and c.
double solid_angle(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const double la = length_of(a), lb = length_of(b), lc = length_of(c);
  const double volume = std::abs(dot(a, cross_of(b, c)));
  const double below = la * lb * lc + dot(a, b) * lc + dot(a, c) * lb + dot(b, c) * la;
  return 2 * std::atan2(volume, below);
}

struct Camera {
  Vec3d origin;
  double pixel = 0;  ///< solid angle
};

std::optional<Camera> camera_of(const trace::Launch& launch) {
  const std::uint32_t width = launch.size.width, height = launch.size.height;
  const trace::ThreadData& data = launch.data;
  if (width < 2 || height < 2) {
    return std::nullopt;
  }
  Camera camera;
  std::array<Vec3d, 4> directions;
  const std::array<std::uint64_t, 4> corners = {0, width - 1, std::uint64_t{width} * height - 1,
                                                std::uint64_t{width} * (height - 1)};
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const std::uint64_t thread = corners[i];
    if (thread + 1 >= data.ray_offset.size() || data.ray_offset[thread] == data.ray_offset[thread + 1]) {
      return std::nullopt;
    }
    const std::uint64_t ray = data.ray_offset[thread];
    const trace::Rays& rays = data.rays;
    camera.origin += Vec3d(rays.origin_x[ray], rays.origin_y[ray], rays.origin_z[ray]) / 4;
    directions[i] = Vec3d(rays.direction_x[ray], rays.direction_y[ray], rays.direction_z[ray]);
  }
  const double whole = solid_angle(directions[0], directions[1], directions[2]) +
                       solid_angle(directions[0], directions[2], directions[3]);
  camera.pixel = whole / (static_cast<double>(width - 1) * static_cast<double>(height - 1));
  return camera.pixel > 0 && std::isfinite(camera.pixel) ? std::optional(camera) : std::nullopt;
}

std::string octave_name(int octave) {
  if (octave == kLeastOctave) {
    return fmt::format("below {:g}", std::exp2(kLeastOctave + 1));
  }
  return fmt::format("{:g} to {:g}", std::exp2(octave), std::exp2(octave + 1));
}

/// Collects groups in their order.
class GroupSums {
 public:
  explicit GroupSums(const ElementSums& sums) : sums_(&sums) {}

  void add(int division, int order, const char* by, const std::string& group, std::uint32_t element) {
    if (element >= sums_->rows().size() || sums_->rows()[element].requests == 0) {
      return;
    }
    ElementGroup& one = groups_.try_emplace({division, order}, ElementGroup{by, group, 0, {}}).first->second;
    ++one.elements;
    one.sums.merge(sums_->rows()[element]);
  }
  [[nodiscard]] bool touched(std::uint32_t element) const {
    return element < sums_->rows().size() && sums_->rows()[element].requests > 0;
  }
  [[nodiscard]] std::vector<ElementGroup> all() {
    std::vector<ElementGroup> list;
    for (auto& [order, group] : groups_) {
      list.push_back(std::move(group));
    }
    return list;
  }

 private:
  const ElementSums* sums_;
  std::map<std::pair<int, int>, ElementGroup> groups_;
};

void add_triangle(GroupSums& grouping, const Camera& camera, const std::array<Vec3d, 3>& corners,
                  std::uint32_t element) {
  const Vec3d a = corners[0] - camera.origin, b = corners[1] - camera.origin, c = corners[2] - camera.origin;
  const double pixels = solid_angle(a, b, c) / camera.pixel;
  const int octave = pixels > 0 ? std::clamp(static_cast<int>(std::floor(std::log2(pixels))), kLeastOctave, kMostOctave)
                                : kLeastOctave;
  grouping.add(2, octave, kPixels, octave_name(octave), element);
  const Vec3d normal = cross_of(Vec3d(b - a), Vec3d(c - a));
  const Vec3d view = -(a + b + c);
  const double lengths = length_of(normal) * length_of(view);
  const double cosine = lengths > 0 ? dot(normal, view) / lengths : 0;
  const int order = cosine >= kSlanted ? 0 : cosine >= 0 ? 1 : cosine > -kSlanted ? 2 : 3;
  constexpr std::array<const char*, 4> kNames = {"front", "front-slanted", "back-slanted", "back"};
  grouping.add(3, order, kFacing, kNames[static_cast<std::size_t>(order)], element);
}

/// The one active instance of each bottom-level structure; several: kSeveral.
constexpr std::uint32_t kSeveral = 0xFFFF'FFFEU, kNoInstance = 0xFFFF'FFFFU;
std::vector<std::uint32_t> instances_of(const bvh::PreparedScene& scene) {
  std::vector<std::uint32_t> only(scene.blases.size(), kNoInstance);
  for (std::uint32_t i = 0; i < scene.instances.size(); ++i) {
    if (scene.instances[i].active) {
      std::uint32_t& one = only[scene.instances[i].blas];
      one = one == kNoInstance ? i : kSeveral;
    }
  }
  return only;
}

void add_triangles(GroupSums& grouping, const bvh::Bvh& structure, const trace::Trace& trace, const Camera& camera,
                   const memory::Allocations& allocations) {
  const bvh::PreparedScene& scene = structure.scene;
  const std::vector<std::uint32_t> only = instances_of(scene);
  std::vector<std::uint32_t> blas_of(trace.scene.geometries.size(), kNoInstance);
  for (std::uint32_t blas = 0; blas < scene.blases.size(); ++blas) {
    for (std::uint32_t g = 0; g < scene.blases[blas].geometry_count; ++g) {
      blas_of[scene.blases[blas].first_geometry + g] = blas;
    }
  }
  for (const memory::Allocation& row : allocations.rows()) {
    if (row.kind != DataKind::Index || row.subject >= blas_of.size() || blas_of[row.subject] == kNoInstance) {
      continue;
    }
    const std::uint32_t instance = only[blas_of[row.subject]];
    const trace::Geometry& geometry = trace.scene.geometries[row.subject];
    for (std::uint32_t i = 0; i < row.elements(); ++i) {
      const std::uint32_t element = row.first_element + i;
      if (!grouping.touched(element)) {
        continue;
      }
      if (instance >= kSeveral) {
        grouping.add(2, kInstancedOrder, kPixels, kInstanced, element);
        grouping.add(3, kInstancedOrder, kFacing, kInstanced, element);
        continue;
      }
      const Transformd to_world = as_transform(scene.source(instance).transform).cast<double>();
      std::array<Vec3d, 3> corners;
      bool known = true;
      for (std::size_t corner = 0; corner < 3; ++corner) {
        const std::size_t vertex = std::size_t{3} * geometry.indices[3 * std::size_t{i} + corner];
        known = known && vertex + 2 < geometry.vertices.size();
        for (int axis = 0; axis < 3 && known; ++axis) {
          corners[corner][axis] = to_world(axis, 0) * double{geometry.vertices[vertex]} +
                                  to_world(axis, 1) * double{geometry.vertices[vertex + 1]} +
                                  to_world(axis, 2) * double{geometry.vertices[vertex + 2]} + to_world(axis, 3);
        }
      }
      if (known) {
        add_triangle(grouping, camera, corners, element);
      }
    }
  }
}

}  // namespace

void ElementSums::add(const std::vector<memory::ElementRow>& rows) {
  if (!rows.empty() && rows.back().element >= rows_.size()) {
    rows_.resize(rows.back().element + std::size_t{1});  // rows ascend
  }
  for (const memory::ElementRow& row : rows) {
    rows_[row.element].merge(row.sums);
  }
}

std::vector<ElementGroup> group_elements(const ElementSums& sums, const bvh::Bvh& structure, const trace::Trace& trace,
                                         const trace::Launch& launch, const memory::Allocations& allocations) {
  GroupSums grouping(sums);
  memory::Allocations::Cursor cursor;
  for (const PlacedBox& placed : place_boxes(structure)) {
    const std::uint32_t allocation = allocations.find(placed.address, cursor);
    if (allocation != memory::kNoAllocation && allocations.rows()[allocation].kind == DataKind::Node) {
      const bool top = placed.blas == kWorldSpace;
      grouping.add(top ? 0 : 1, static_cast<int>(placed.depth), top ? kTopDepth : kBottomDepth,
                   std::to_string(placed.depth), allocations.element(allocation, placed.address));
    }
  }
  if (const std::optional<Camera> camera = camera_of(launch)) {
    add_triangles(grouping, structure, trace, *camera, allocations);
  }
  return grouping.all();
}

output::Table group_table(const std::vector<ElementGroup>& groups) {
  output::Table table;
  table.columns = {{"by", "by"},
                   {"group", "group"},
                   {"elements", "elements"},
                   {"requests", "requests"},
                   {"l1_hit_rate", "L1 hit rate", Show::Percent, 2},
                   {"l2_requests", "L2 requests"},
                   {"l2_hit_rate", "L2 hit rate", Show::Percent, 2}};
  const auto rate = [](std::uint64_t hits, std::uint64_t requests) {
    return requests == 0 ? Cell{} : Cell{from_fixed(hits) / static_cast<double>(requests)};
  };
  for (const ElementGroup& one : groups) {
    const RequestSums& sums = one.sums;
    table.rows.push_back({one.by, one.group, one.elements, sums.requests, rate(sums.l1_hits, sums.requests),
                          sums.l2_requests, rate(sums.l2_hits, sums.l2_requests)});
  }
  return table;
}

std::vector<pictures::Chart> group_charts(const std::vector<ElementGroup>& groups) {
  std::vector<pictures::Chart> charts;
  for (const auto& [by, title] : {std::pair{kTopDepth, "depth in the top-level structure"},
                                  {kBottomDepth, "depth in the bottom-level structures"},
                                  {kPixels, "projected size of triangles (pixels)"},
                                  {kFacing, "facing of triangles"}}) {
    pictures::BarPlot chart{.title = fmt::format("Hit rate by {}", title),
                            .note = "Over requests; at the L2 over those that reached it.",
                            .category_title = title,
                            .value_title = "hit rate (%)",
                            .series = {{"L1", 1}, {"L2", 2}}};
    for (const ElementGroup& one : groups) {
      if (one.by == by) {
        const auto rate = [](std::uint64_t hits, std::uint64_t requests) {
          return requests == 0 ? 0 : 100 * from_fixed(hits) / static_cast<double>(requests);
        };
        chart.categories.push_back(one.group);
        chart.series[0].values.push_back(rate(one.sums.l1_hits, one.sums.requests));
        chart.series[1].values.push_back(rate(one.sums.l2_hits, one.sums.l2_requests));
      }
    }
    if (!chart.categories.empty()) {
      charts.emplace_back(std::move(chart));
    }
  }
  return charts;
}

}  // namespace rayreplay::report
