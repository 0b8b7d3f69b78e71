#include "bvh/scene.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "base/error.hpp"
#include "bvh/geometry/primitive_box.hpp"
#include "bvh/geometry/rounding.hpp"

namespace rayreplay::bvh {
namespace {

[[noreturn]] void fail(ErrorKind kind, std::string what, std::string where, std::string found, std::string expected,
                       std::string fix) {
  throw Error(kind, {std::move(what), std::move(where), std::move(found), std::move(expected), std::move(fix)});
}

/// Result of a pass over some of a structure's primitives.
struct Examined {
  Box bounds;
  std::uint64_t active = 0;
  Ignored ignored;

  void add(const PrimitiveBox& primitive) {
    switch (primitive.state) {
      case PrimitiveState::Active:
        bounds.extend(primitive.box);
        ++active;
        break;
      case PrimitiveState::TriangleNotFinite:
        ++ignored.triangles_not_finite;
        break;
      case PrimitiveState::TriangleBadIndex:
        ++ignored.triangles_bad_index;
        break;
      case PrimitiveState::BoxNotFinite:
        ++ignored.boxes_not_finite;
        break;
      case PrimitiveState::BoxInverted:
        ++ignored.boxes_inverted;
        break;
    }
  }
  void add(const Examined& other) {
    bounds.extend(other.bounds);
    active += other.active;
    ignored.triangles_not_finite += other.ignored.triangles_not_finite;
    ignored.triangles_bad_index += other.ignored.triangles_bad_index;
    ignored.boxes_not_finite += other.ignored.boxes_not_finite;
    ignored.boxes_inverted += other.ignored.boxes_inverted;
  }
};

Examined examine(const trace::Geometry& geometry) {
  constexpr std::size_t kGrain = 16384;
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, geometry.primitives(), kGrain), Examined{},
      [&](const tbb::blocked_range<std::size_t>& range, Examined sum) {
        for (std::size_t primitive = range.begin(); primitive != range.end(); ++primitive) {
          sum.add(box_of(geometry, primitive));
        }
        return sum;
      },
      [](Examined left, const Examined& right) {
        left.add(right);
        return left;
      });
}

/// The inverse of a 3×4 transform; empty for a singular one. A determinant within the rounding error of its own terms
/// counts as zero, because its sign is unknown.
std::optional<Transformd> invert(const Transformd& m) {
  const auto minor = [&](unsigned r0, unsigned c0, unsigned r1, unsigned c1) {
    return m(r0, c0) * m(r1, c1) - m(r0, c1) * m(r1, c0);
  };
  const double determinant = m(0, 0) * minor(1, 1, 2, 2) + m(0, 1) * minor(1, 2, 2, 0) + m(0, 2) * minor(1, 0, 2, 1);
  double terms = 0;
  for (unsigned i = 0; i < 3; ++i) {
    const unsigned j = (i + 1) % 3;
    const unsigned k = (i + 2) % 3;
    terms += std::abs(m(0, i) * m(1, j) * m(2, k)) + std::abs(m(0, i) * m(1, k) * m(2, j));
  }
  if (!(std::abs(determinant) > terms * 0x1p-50)) {
    return std::nullopt;
  }
  Transformd inverse;
  for (unsigned row = 0; row < 3; ++row) {
    for (unsigned column = 0; column < 3; ++column) {
      // Cyclic indices give the cofactor with its sign; the transpose makes it the adjugate.
      inverse(row, column) = minor((column + 1) % 3, (row + 1) % 3, (column + 2) % 3, (row + 2) % 3) / determinant;
    }
    inverse(row, 3) = -dot(inverse.row(row), m.col(3));
  }
  if (!inverse.allFinite()) {
    return std::nullopt;
  }
  return inverse;
}

/// A sum of doubles with a bound of its rounding error; 0 for exact sums.
class BoundedSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    // Knuth's two-sum: the exact error of the addition.
    const double kept = sum - sum_;
    lost_ += std::abs((sum_ - (sum - kept)) + (term - kept));
    sum_ = sum;
  }
  [[nodiscard]] double low() const {
    return beyond(-1);
  }
  [[nodiscard]] double high() const {
    return beyond(1);
  }

 private:
  /// Twice the collected errors plus one step: their sum and this one are rounded too.
  [[nodiscard]] double beyond(double side) const {
    return lost_ > 0 ? std::nextafter(sum_ + side * 2 * lost_, side * std::numeric_limits<double>::infinity()) : sum_;
  }

  double sum_ = 0;
  double lost_ = 0;
};

/// Contains the image of the box: interval arithmetic in double, rounded outward.
Box transformed(const Box& box, const Transformd& transform) {
  Box result;
  for (unsigned row = 0; row < 3; ++row) {
    BoundedSum low;
    BoundedSum high;
    for (unsigned column = 0; column < 3; ++column) {
      const double factor = transform(row, column);
      const double a = factor * static_cast<double>(box.low[column]);  // exact: 48 bits
      const double b = factor * static_cast<double>(box.high[column]);
      low.add(std::min(a, b));
      high.add(std::max(a, b));
    }
    low.add(transform(row, 3));
    high.add(transform(row, 3));
    result.low[row] = round_down(low.low());
    result.high[row] = round_up(high.high());
  }
  return result;
}

bool is_scale(const Transformd& transform) {
  return (transform.leftCols<3>().array().abs() <= kLargestScale).all();
}

bool is_corner(const Vec3& corner) {
  return (corner.array().abs() < std::numeric_limits<float>::max()).all();
}

/// The products of a ray-triangle test stay in the range of doubles, and corners in that of floats (scene.hpp).
bool is_in_range(const Transformd& transform, const Transformd& inverse, const Box& world) {
  return is_scale(transform) && is_scale(inverse) && is_corner(world.low) && is_corner(world.high);
}

SceneInstance prepare_instance(const trace::Instance& source, const SceneBlas& blas, Ignored& ignored) {
  SceneInstance instance;
  instance.blas = source.blas;
  if (source.mask == 0) {
    ++ignored.instances_masked;
    return instance;
  }
  const Transformd transform = as_transform(source.transform).cast<double>();
  const std::optional<Transformd> inverse = transform.allFinite() ? invert(transform) : std::nullopt;
  if (!inverse) {
    ++ignored.instances_singular;
    return instance;
  }
  if (blas.active == 0) {
    ++ignored.instances_empty;
    return instance;
  }
  instance.identity = source.transform == trace::Instance{}.transform;
  instance.to_object = *inverse;
  instance.world = instance.identity ? blas.bounds : transformed(blas.bounds, transform);
  instance.active = instance.identity || is_in_range(transform, *inverse, instance.world);
  ignored.instances_out_of_range += instance.active ? 0U : 1U;
  return instance;
}

void number_primitives(const trace::Scene& scene, const std::string& name, std::uint32_t index, SceneBlas& blas) {
  blas.first_primitive.assign(1, 0);
  std::uint64_t count = 0;
  for (std::uint32_t g = 0; g < blas.geometry_count; ++g) {
    count += scene.geometries[blas.first_geometry + std::size_t{g}].primitives();
    if (count >= trace::kNone) {
      fail(ErrorKind::Resource, "a bottom-level structure has too many primitives",
           fmt::format("{}:/scene/blas[{}]", name, index), fmt::format("{} or more", count),
           fmt::format("less than {}", trace::kNone), "split its geometry over several structures");
    }
    blas.first_primitive.push_back(static_cast<std::uint32_t>(count));
  }
}

trace::Tlas top_level(const trace::Scene& scene, std::uint32_t tlas, const std::string& name) {
  if (scene.instances.empty()) {
    fail(ErrorKind::Missing, "the trace has no geometry", name + ":/scene", "0 instances", "a captured scene",
         "capture the trace again with geometry");
  }
  if (scene.tlases.empty() && tlas == 0) {
    return {0, static_cast<std::uint32_t>(scene.instances.size())};
  }
  if (tlas >= scene.tlases.size()) {
    fail(ErrorKind::Input, "there is no such top-level structure", name + ":/scene/tlas",
         tlas == trace::kNone ? "an unknown structure" : std::to_string(tlas),
         fmt::format("less than {}", std::max<std::size_t>(1, scene.tlases.size())),
         "choose a launch whose structure was captured");
  }
  const trace::Tlas range = scene.tlases[tlas];
  if (std::uint64_t{range.first_instance} + range.instance_count > scene.instances.size()) {
    fail(ErrorKind::Input, "the structure's instances are out of range", fmt::format("{}:/scene/tlas[{}]", name, tlas),
         fmt::format("{} from {}", range.instance_count, range.first_instance),
         fmt::format("to end within {}, the number of instances", scene.instances.size()), "capture the trace again");
  }
  return range;
}

void check_blas(const trace::Scene& scene, const trace::Instance& instance, std::size_t row, const std::string& name) {
  if (instance.blas >= scene.blases.size()) {
    fail(ErrorKind::Input, "an instance's bottom-level structure does not exist",
         fmt::format("{}:/scene/instances/blas[{}]", name, row), std::to_string(instance.blas),
         fmt::format("less than {}, the number of structures", scene.blases.size()), "capture the trace again");
  }
  const trace::Blas& blas = scene.blases[instance.blas];
  if (std::uint64_t{blas.first_geometry} + blas.geometry_count > scene.geometries.size()) {
    fail(ErrorKind::Input, "a bottom-level structure's geometries are out of range",
         fmt::format("{}:/scene/blas[{}]", name, instance.blas),
         fmt::format("{} from {}", blas.geometry_count, blas.first_geometry),
         fmt::format("to end within {}, the number of geometries", scene.geometries.size()), "capture the trace again");
  }
}

}  // namespace

PreparedScene prepare_scene(const trace::Scene& scene, std::uint32_t tlas, const std::string& name) {
  const trace::Tlas range = top_level(scene, tlas, name);
  PreparedScene prepared;
  prepared.scene = &scene;
  prepared.first_instance = range.first_instance;
  prepared.blases.resize(scene.blases.size());
  for (std::size_t i = 0; i < range.instance_count; ++i) {
    const std::size_t row = range.first_instance + i;
    check_blas(scene, scene.instances[row], row, name);
    prepared.blases[scene.instances[row].blas].used = true;
  }
  std::vector<Examined> examined(scene.blases.size());
  for (std::uint32_t b = 0; b < scene.blases.size(); ++b) {
    SceneBlas& blas = prepared.blases[b];
    blas.first_geometry = scene.blases[b].first_geometry;
    blas.geometry_count = scene.blases[b].geometry_count;
    if (blas.used) {
      number_primitives(scene, name, b, blas);
    }
  }
  tbb::parallel_for(std::size_t{0}, examined.size(), [&](std::size_t b) {
    for (std::uint32_t g = 0; prepared.blases[b].used && g < prepared.blases[b].geometry_count; ++g) {
      examined[b].add(examine(prepared.geometry(static_cast<std::uint32_t>(b), g)));
    }
  });
  Examined all;
  for (std::size_t b = 0; b < examined.size(); ++b) {
    prepared.blases[b].active = examined[b].active;
    prepared.blases[b].bounds = examined[b].bounds;
    all.add(examined[b]);
  }
  prepared.ignored = all.ignored;
  prepared.instances.reserve(range.instance_count);
  for (std::size_t i = 0; i < range.instance_count; ++i) {
    const trace::Instance& source = scene.instances[range.first_instance + i];
    prepared.instances.push_back(prepare_instance(source, prepared.blases[source.blas], prepared.ignored));
  }
  return prepared;
}

std::pair<std::uint32_t, std::uint32_t> PreparedScene::locate(std::uint32_t blas, std::uint32_t number) const {
  const std::vector<std::uint32_t>& first = blases[blas].first_primitive;
  // Empty geometries have the same start as the next one: the last of equals contains the number.
  const auto after = std::ranges::upper_bound(first, number);
  const auto geometry = static_cast<std::uint32_t>(after - first.begin() - 1);
  return {geometry, number - first[geometry]};
}

Box PreparedScene::primitive_box(std::uint32_t blas, std::uint32_t number) const {
  const auto [index, primitive] = locate(blas, number);
  return box_of(geometry(blas, index), primitive).box;
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
  add(ignored.instances_out_of_range, "instance", "instances",
      "whose transform scales by more than 2^72 or leaves the range of floats");
  add(ignored.instances_masked, "instance", "instances", "whose mask is 0");
  add(ignored.instances_empty, "instance", "instances", "of a structure without active primitives");
  return lines;
}

}  // namespace rayreplay::bvh
