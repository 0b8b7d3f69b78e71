#include "bvh/triangle_pairs.hpp"

#include <utility>

#include <tbb/parallel_for.h>

#include "bvh/geometry/primitive_box.hpp"

namespace rayreplay::bvh {
namespace {

constexpr std::size_t kWindow = 32;
constexpr std::uint8_t kMissing = 3;

/// Pairs the triangles of one geometry; `distance` is by its primitives.
class Window {
 public:
  Window(const trace::Geometry& geometry, std::uint16_t* distance) : geometry_(&geometry), distance_(distance) {
    waiting_.reserve(kWindow);
  }

  void run() {
    const auto triangles = static_cast<std::uint32_t>(geometry_->primitives());
    for (std::uint32_t triangle = 0; triangle < triangles; ++triangle) {
      if (box_of(*geometry_, triangle).state == PrimitiveState::Active) {
        waiting_.push_back(triangle);
      }
      if (waiting_.size() == kWindow) {
        match_first();
      }
    }
    while (!waiting_.empty()) {
      match_first();
    }
  }

 private:
  void match_first() {
    const std::uint32_t first = waiting_.front();
    const Corners corners = corners_of(*geometry_, first);
    std::size_t place = 1;
    while (place < waiting_.size() && !matches(first, corners, waiting_[place])) {
      ++place;
    }
    if (place < waiting_.size()) {
      const std::uint32_t second = waiting_[place];
      distance_[first] = static_cast<std::uint16_t>(second - first);
      distance_[second] = TrianglePairs::kSecond;
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(place));
    }
    waiting_.erase(waiting_.begin());
  }
  [[nodiscard]] bool matches(std::uint32_t first, const Corners& corners, std::uint32_t second) const {
    return second - first < TrianglePairs::kSecond && shared_edge(corners, corners_of(*geometry_, second)).has_value();
  }

  const trace::Geometry* geometry_;
  std::uint16_t* distance_;
  std::vector<std::uint32_t> waiting_;
};

}  // namespace

std::optional<std::array<std::uint8_t, 3>> shared_edge(const Corners& a, const Corners& b) {
  std::array<std::uint8_t, 3> found{kMissing, kMissing, kMissing};
  unsigned corners_of_a = 0;
  unsigned missing = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::uint8_t corner = 0; corner < 3 && found[i] == kMissing; ++corner) {
      found[i] = b[i] == a[corner] ? corner : kMissing;
    }
    missing += found[i] == kMissing ? 1U : 0U;
    corners_of_a |= found[i] == kMissing ? 0U : 1U << found[i];
  }
  const bool two_corners = (corners_of_a & (corners_of_a - 1)) != 0;
  return missing <= 1 && two_corners ? std::optional(found) : std::nullopt;
}

TrianglePairs pair_triangles(const PreparedScene& scene, std::uint32_t blas) {
  const SceneBlas& structure = scene.blases[blas];
  TrianglePairs pairs;
  pairs.distance.assign(structure.primitives(), 0);
  tbb::parallel_for(std::uint32_t{0}, structure.geometry_count, [&](std::uint32_t g) {
    const trace::Geometry& geometry = scene.geometry(blas, g);
    if (geometry.type == trace::GeometryType::Triangles) {
      Window(geometry, pairs.distance.data() + structure.first_primitive[g]).run();
    }
  });
  return pairs;
}

void name_pairs(Tree& tree, const TrianglePairs& pairs) {
  std::vector<std::uint32_t> both;
  both.reserve(tree.references.size() * 2);
  for (TreeChild& child : tree.children) {
    if (!child.is_leaf()) {
      continue;
    }
    const auto first = static_cast<std::uint32_t>(both.size());
    for (std::uint32_t i = 0; i < child.count; ++i) {
      const std::uint32_t number = tree.references[std::size_t{child.index} + i];
      both.push_back(number);
      if (pairs.has_partner(number)) {
        both.push_back(pairs.partner(number));
      }
    }
    child.index = first;
    child.count = static_cast<std::uint32_t>(both.size()) - first;
  }
  tree.references = std::move(both);
}

}  // namespace rayreplay::bvh
