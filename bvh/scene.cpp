#include "bvh/scene.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace rayreplay::bvh {
namespace {

bool is_finite(const Box& box) {
  return std::ranges::all_of(box.low, [](float x) { return std::isfinite(x); }) &&
         std::ranges::all_of(box.high, [](float x) { return std::isfinite(x); });
}

}  // namespace

std::pair<std::uint32_t, std::uint32_t> PreparedScene::locate(std::uint32_t blas, std::uint32_t number) const {
  const std::vector<std::uint32_t>& first = blases[blas].first_primitive;
  // Geometries without primitives share their start with the next one: the last of equals holds the number.
  const auto after = std::ranges::upper_bound(first, number);
  const auto geometry = static_cast<std::uint32_t>(after - first.begin() - 1);
  return {geometry, number - first[geometry]};
}

Box PreparedScene::primitive_box(std::uint32_t blas, std::uint32_t number) const {
  const auto [index, primitive] = locate(blas, number);
  const trace::Geometry& part = geometry(blas, index);
  Box box;
  if (part.type == trace::GeometryType::Boxes) {
    const float* row = &part.boxes[std::size_t{primitive} * 6];
    box.low = {row[0], row[1], row[2]};
    box.high = {row[3], row[4], row[5]};
  } else {
    for (std::size_t corner = 0; corner < 3; ++corner) {
      const std::size_t vertex = part.indices[std::size_t{primitive} * 3 + corner];
      if (vertex >= part.vertices.size() / 3) {
        return {};
      }
      const float* at = &part.vertices[vertex * 3];
      if (!std::isfinite(at[0]) || !std::isfinite(at[1]) || !std::isfinite(at[2])) {
        return {};
      }
      const Box point{{at[0], at[1], at[2]}, {at[0], at[1], at[2]}};
      box.extend(point);
    }
  }
  return is_finite(box) && !box.empty() ? box : Box{};
}

std::vector<std::string> describe(const Ignored& ignored) {
  std::vector<std::string> lines;
  const auto add = [&](std::uint64_t count, const char* one, const char* many, const char* why) {
    if (count > 0) {
      lines.push_back(fmt::format("{} {} {}", count, count == 1 ? one : many, why));
    }
  };
  add(ignored.triangles_not_finite, "triangle", "triangles", "with a vertex that is NaN or infinite");
  add(ignored.triangles_bad_index, "triangle", "triangles", "with an index beyond the vertices");
  add(ignored.boxes_not_finite, "box", "boxes", "with a NaN or an infinity");
  add(ignored.boxes_inverted, "box", "boxes", "whose minimum is above its maximum");
  add(ignored.instances_singular, "instance", "instances", "whose transform is singular or not finite");
  add(ignored.instances_masked, "instance", "instances", "whose mask is 0");
  add(ignored.instances_empty, "instance", "instances", "of a structure without active primitives");
  return lines;
}

}  // namespace rayreplay::bvh
