#include "tests/classification/twin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace rayreplay::test {
namespace {

using Real = long double;
using Vector = std::array<Real, 3>;

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

struct RaySlowly {
  Vector origin{}, direction{};
  Real t_min = 0, t_max = 0;
  std::uint16_t flags = 0;
  std::uint8_t cull_mask = 0;
  bool good = true;
};

Real dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector minus(const Vector& a, const Vector& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

RaySlowly ray_at(const trace::Rays& rays, std::uint64_t row) {
  RaySlowly ray;
  ray.origin = {rays.origin_x[row], rays.origin_y[row], rays.origin_z[row]};
  ray.direction = {rays.direction_x[row], rays.direction_y[row], rays.direction_z[row]};
  ray.t_min = rays.t_min[row];
  ray.t_max = rays.t_max[row];
  ray.flags = rays.flags[row];
  ray.cull_mask = rays.cull_mask[row];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    ray.good = ray.good && std::isfinite(ray.origin[axis]) && std::isfinite(ray.direction[axis]);
  }
  ray.good = ray.good && dot(ray.direction, ray.direction) > 0 && ray.t_min <= ray.t_max;
  return ray;
}

/// The inverse of an instance's transform; false if it is singular or not finite.
struct Inverse {
  bool good = false;
  std::array<Vector, 3> rows{};
  Vector shift{};
};

Inverse invert(const std::array<float, 12>& m) {
  const Vector a{m[0], m[1], m[2]};
  const Vector b{m[4], m[5], m[6]};
  const Vector c{m[8], m[9], m[10]};
  const Vector at{m[3], m[7], m[11]};
  Inverse inverse;
  const Real determinant = dot(a, cross(b, c));
  inverse.good = determinant != 0;
  for (const float x : m) {
    inverse.good = inverse.good && std::isfinite(x);
  }
  if (!inverse.good) {
    return inverse;
  }
  // Columns of the inverse are b×c, c×a, a×b over the determinant.
  const Vector u = cross(b, c);
  const Vector v = cross(c, a);
  const Vector w = cross(a, b);
  for (std::size_t row = 0; row < 3; ++row) {
    inverse.rows[row] = {u[row] / determinant, v[row] / determinant, w[row] / determinant};
    inverse.shift[row] = -dot(inverse.rows[row], at);
  }
  return inverse;
}

/// The ray in object space with the sums of magnitudes that it was computed from.
struct ObjectRay {
  Vector origin{}, direction{}, origin_terms{}, direction_terms{};
};

ObjectRay into(const RaySlowly& ray, const trace::Instance& instance) {
  const Inverse inverse = invert(instance.transform);
  ObjectRay object;
  for (std::size_t row = 0; row < 3; ++row) {
    object.origin[row] = dot(inverse.rows[row], ray.origin) + inverse.shift[row];
    object.direction[row] = dot(inverse.rows[row], ray.direction);
    object.origin_terms[row] = std::abs(inverse.shift[row]);
    for (std::size_t k = 0; k < 3; ++k) {
      object.origin_terms[row] += std::abs(inverse.rows[row][k] * ray.origin[k]);
      object.direction_terms[row] += std::abs(inverse.rows[row][k] * ray.direction[k]);
    }
  }
  return object;
}

struct Entered {
  bool met = false;
  Real t = 0;
};

Entered enter(const TwinBox& box, const ObjectRay& ray, Real t_min, Real t_max, Real unit) {
  if (box.empty) {
    return {};
  }
  Real reach = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    reach += std::max(std::abs(box.low[axis] - ray.origin[axis]), std::abs(box.high[axis] - ray.origin[axis]));
  }
  const Real speed = std::sqrt(dot(ray.direction, ray.direction));
  Real from = t_min - std::abs(t_min) * unit;
  Real to = t_max + std::abs(t_max) * unit;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto moved = [&](Real plane) {
      const Real farthest = reach / speed;  // in t
      const Real there = ray.direction[axis] == 0
                             ? farthest
                             : std::min(farthest, std::abs((plane - ray.origin[axis]) / ray.direction[axis]));
      return unit * (ray.origin_terms[axis] + std::abs(plane) + there * ray.direction_terms[axis]);
    };
    const Real low = box.low[axis] - ray.origin[axis] - moved(box.low[axis]);
    const Real high = box.high[axis] - ray.origin[axis] + moved(box.high[axis]);
    if (ray.direction[axis] == 0) {
      if (low > 0 || high < 0) {
        return {};
      }
    } else {
      from = std::max(from, std::min(low / ray.direction[axis], high / ray.direction[axis]));
      to = std::min(to, std::max(low / ray.direction[axis], high / ray.direction[axis]));
    }
  }
  return {from <= to, from};
}

class Slowly {
 public:
  Slowly(const trace::Trace& trace, const trace::Launch& launch, const TwinOptions& options)
      : scene_(&trace.scene), launch_(&launch), options_(&options) {
    const auto& tlases = scene_->tlases;
    first_instance_ = tlases.empty() ? 0 : tlases[launch.tlas].first_instance;
    instances_ =
        tlases.empty() ? static_cast<std::uint32_t>(scene_->instances.size()) : tlases[launch.tlas].instance_count;
  }

  std::vector<TwinBase> base_tests(std::uint64_t stride) {
    for (std::uint64_t thread = 0; thread < launch_->data.threads(); ++thread) {
      read(thread);
    }
    std::vector<TwinBase> result;
    for (std::uint64_t row = 0; row < launch_->data.rays.size(); row += stride) {
      const RaySlowly ray = ray_at(launch_->data.rays, row);
      if (ray.good) {
        result.push_back(base_tests_of(row, ray));
      }
    }
    return result;
  }

  TwinResult run() {
    result_.t_star.assign(launch_->data.rays.size(), std::numeric_limits<Real>::quiet_NaN());
    result_.replayed.assign(launch_->data.rays.size(), false);
    for (std::uint64_t thread = 0; thread < launch_->data.threads(); ++thread) {
      read(thread);
    }
    for (std::uint64_t ray = 0; ray < launch_->data.rays.size(); ++ray) {
      if (!tests_of_[ray].empty()) {
        decide(ray);
      }
    }
    return std::move(result_);
  }

 private:
  struct Story {
    bool in_report = false;  ///< the last traversal event was a report
    bool missed = false, closest_hit = false;
    Real t = 0;  ///< of the closest-hit event
    std::size_t last = 0;
    std::pair<std::size_t, std::size_t> verdict_of{0, 0};  ///< test and report that an ignore is about
  };

  void read(std::uint64_t thread) {
    using Kind = trace::EventKind;
    const auto& data = launch_->data;
    const auto& events = data.events;
    std::map<std::uint64_t, Story> stories;
    std::uint64_t begun = 0;
    for (std::uint64_t e = data.event_offset[thread]; e < data.event_offset[thread + 1]; ++e) {
      const Kind kind = events.kind[e];
      if (kind == Kind::Begin || kind == Kind::OcclusionBegin) {
        ++begun;
      }
      const std::uint64_t in_thread = events.ray.empty() ? begun - 1 : events.ray[e];
      if (in_thread >= data.ray_offset[thread + 1] - data.ray_offset[thread]) {
        continue;
      }
      const std::uint64_t ray = data.ray_offset[thread] + in_thread;
      Story& story = stories[ray];
      const Real t = events.t[e];
      if (kind == Kind::Intersection || (kind == Kind::AnyHit && !is_of_report(story, e))) {
        TwinTest test;
        test.event = e;
        test.ray = ray;
        test.thread = thread;
        test.instance = events.instance[e];
        test.geometry = events.geometry.empty() ? 0 : events.geometry[e];
        test.primitive = events.primitive[e];
        test.procedural = kind == Kind::Intersection;
        story.last = result_.tests.size();
        if (!test.procedural) {
          test.reports.emplace_back(t, true);
          story.verdict_of = {story.last, 0};
        }
        tests_of_[ray].push_back(story.last);
        result_.tests.push_back(test);
      } else if (kind == Kind::ReportIntersection) {
        auto& reports = result_.tests[story.last].reports;
        reports.emplace_back(t, events.accepted[e] != 0);
        story.verdict_of = {story.last, reports.size() - 1};
      } else if (kind == Kind::IgnoreIntersection) {
        result_.tests[story.verdict_of.first].reports[story.verdict_of.second].second = false;
      } else if (kind == Kind::TerminateRay) {
        result_.tests[story.verdict_of.first].reports[story.verdict_of.second].second = true;
      } else if (kind == Kind::Miss) {
        story.missed = true;
      } else if (kind == Kind::ClosestHit) {
        story.closest_hit = true;
        story.t = t;
      }
      story.in_report = kind == Kind::ReportIntersection;
    }
    for (const auto& [ray, story] : stories) {
      stories_[ray] = story;
    }
  }

  /// Whether the any-hit call is of the report just before: of the same object.
  bool is_of_report(const Story& story, std::uint64_t e) const {
    if (!story.in_report) {
      return false;
    }
    const trace::Events& events = launch_->data.events;
    const TwinTest& test = result_.tests[story.last];
    return test.instance == events.instance[e] && test.primitive == events.primitive[e] &&
           test.geometry == (events.geometry.empty() ? 0U : events.geometry[e]);
  }

  void decide(std::uint64_t row) {
    const RaySlowly ray = ray_at(launch_->data.rays, row);
    const Story& story = stories_[row];
    const bool first_hit = (ray.flags & trace::kRayFlagTerminateOnFirstHit) != 0;
    Real& t_star = result_.t_star[row];
    if (story.missed) {
      t_star = kInfinity;
    } else if (story.closest_hit && !first_hit) {
      t_star = story.t;
    } else if (ray.good) {
      result_.replayed[row] = true;
      t_star = options_->t_star ? static_cast<Real>(options_->t_star(row)) : replay(row, ray, false);
    }
    for (const std::size_t test : tests_of_[row]) {
      result_.tests[test].kind = ray.good ? kind_of(result_.tests[test], ray, t_star) : TwinKind::Necessary;
    }
  }

  /// Whether an instance takes part; MODELS.md §9 and Vulkan's inactive instances.
  bool active(std::uint32_t instance) const {
    const trace::Instance& source = scene_->instances[first_instance_ + std::size_t{instance}];
    if (source.mask == 0 || !invert(source.transform).good) {
      return false;
    }
    const trace::Blas& blas = scene_->blases[source.blas];
    for (std::uint32_t g = 0; g < blas.geometry_count; ++g) {
      const auto primitives = scene_->geometries[blas.first_geometry + std::size_t{g}].primitives();
      for (std::uint32_t p = 0; p < primitives; ++p) {
        if (!twin_box(*scene_, first_instance_, instance, g, p).empty) {
          return true;
        }
      }
    }
    return false;
  }

  TwinKind kind_of(const TwinTest& test, const RaySlowly& ray, Real t_star) const {
    const Real unit = static_cast<Real>(std::max(options_->slack * 0x1p-24, 0x1p-48));
    const Real last = t_star + std::abs(t_star) * unit;
    bool hit = false;
    Real t_hit = kInfinity;
    for (const auto& [t, accepted] : test.reports) {
      if (!std::isnan(t) && (accepted || !test.procedural || (t >= ray.t_min && t <= ray.t_max))) {
        hit = true;
        t_hit = std::min(t_hit, t);
      }
    }
    if (hit && t_hit <= last) {
      return TwinKind::Necessary;
    }
    if (!active(test.instance)) {
      return TwinKind::Enlargement;
    }
    const ObjectRay object = into(ray, scene_->instances[first_instance_ + std::size_t{test.instance}]);
    const TwinBox box = twin_box(*scene_, first_instance_, test.instance, test.geometry, test.primitive);
    Entered original = enter(box, object, ray.t_min, ray.t_max, unit);
    if (hit && !test.procedural && !box.empty) {
      original = {true, original.met ? std::min(original.t, t_hit) : t_hit};
    }
    if (!original.met) {
      return enter(box, object, 0, ray.t_max, unit).met ? TwinKind::BeforeTMin : TwinKind::Enlargement;
    }
    if (original.t <= last) {
      return hit ? TwinKind::Overlap : TwinKind::BoxMiss;
    }
    if (options_->enlarged) {
      for (const TwinBox& larger : options_->enlarged(test.instance, test.geometry, test.primitive)) {
        const Entered entered = enter(larger, object, ray.t_min, ray.t_max, unit);
        if (entered.met && entered.t <= last) {
          return TwinKind::Either;
        }
      }
    }
    return TwinKind::Order;
  }

  /// Nearest of what all calls for the box reported in [t_min, t_max] or had accepted.
  Real hit_box(std::uint64_t row, const RaySlowly& ray, std::uint32_t instance, std::uint32_t g,
               std::uint32_t p) const {
    Real nearest = kInfinity;
    for (const std::size_t at : tests_of(row)) {
      const TwinTest& test = result_.tests[at];
      if (!test.procedural || test.instance != instance || test.geometry != g || test.primitive != p) {
        continue;
      }
      for (const auto& [t, accepted] : test.reports) {
        if (accepted || (t >= ray.t_min && t <= ray.t_max)) {
          nearest = std::min(nearest, t);
        }
      }
    }
    return nearest;
  }

  TwinBase base_tests_of(std::uint64_t row, const RaySlowly& ray) const {
    const Real unit = static_cast<Real>(std::max(options_->slack * 0x1p-24, 0x1p-48));
    const Real t_star = replay(row, ray, true);
    const Real last = t_star + std::abs(t_star) * unit;
    TwinBase base{row, {}};
    for (std::uint32_t instance = 0; instance < instances_; ++instance) {
      const trace::Instance& source = scene_->instances[first_instance_ + std::size_t{instance}];
      if ((source.mask & ray.cull_mask) == 0 || !active(instance)) {
        continue;
      }
      const ObjectRay object = into(ray, source);
      const trace::Blas& blas = scene_->blases[source.blas];
      for (std::uint32_t g = 0; g < blas.geometry_count; ++g) {
        const trace::Geometry& geometry = scene_->geometries[blas.first_geometry + std::size_t{g}];
        if (is_left_out(ray, source, geometry)) {
          continue;
        }
        const bool triangles = geometry.type == trace::GeometryType::Triangles;
        for (std::uint32_t p = 0; p < geometry.primitives(); ++p) {
          const TwinBox box = twin_box(*scene_, first_instance_, instance, g, p);
          const Entered own = enter(box, object, ray.t_min, ray.t_max, unit);
          if (own.met && own.t <= last) {
            const Real t =
                triangles ? hit_triangle(ray, object, source, geometry, p) : hit_box(row, ray, instance, g, p);
            ++base.counts[t <= last && t < kInfinity ? 0 : t < kInfinity ? 2 : 1];
          }
        }
      }
    }
    return base;
  }

  /// Of a ray without any: none.
  const std::vector<std::size_t>& tests_of(std::uint64_t row) const {
    static const std::vector<std::size_t> kNone;
    const auto found = tests_of_.find(row);
    return found == tests_of_.end() ? kNone : found->second;
  }

  static bool is_opaque(const RaySlowly& ray, const trace::Instance& source, const trace::Geometry& geometry) {
    bool opaque = geometry.opaque;
    opaque = (source.flags & 8U) != 0 ? false : opaque;
    opaque = (source.flags & 4U) != 0 ? true : opaque;
    opaque = (ray.flags & trace::kRayFlagNoOpaque) != 0 ? false : opaque;
    return (ray.flags & trace::kRayFlagOpaque) != 0 ? true : opaque;
  }

  static bool is_left_out(const RaySlowly& ray, const trace::Instance& source, const trace::Geometry& geometry) {
    const bool triangles = geometry.type == trace::GeometryType::Triangles;
    return (ray.flags & (triangles ? trace::kRayFlagSkipTriangles : trace::kRayFlagSkipBoxes)) != 0 ||
           (ray.flags & (is_opaque(ray, source, geometry) ? trace::kRayFlagCullOpaque : trace::kRayFlagCullNoOpaque)) !=
               0;
  }

  /// The closest accepted hit, by trying everything.
  /// `simulated`: triangles are hit where they are pierced here, not where the hardware that was captured had it.
  Real replay(std::uint64_t row, const RaySlowly& ray, bool simulated) const {
    Real closest = kInfinity;
    for (const std::size_t test : tests_of(row)) {
      if (simulated && !result_.tests[test].procedural) {
        continue;
      }
      for (const auto& [t, accepted] : result_.tests[test].reports) {
        closest = accepted ? std::min(closest, t) : closest;
      }
    }
    for (std::uint32_t instance = 0; instance < instances_; ++instance) {
      const trace::Instance& source = scene_->instances[first_instance_ + std::size_t{instance}];
      if ((source.mask & ray.cull_mask) == 0 || !active(instance)) {
        continue;
      }
      const ObjectRay object = into(ray, source);
      const trace::Blas& blas = scene_->blases[source.blas];
      for (std::uint32_t g = 0; g < blas.geometry_count; ++g) {
        const trace::Geometry& geometry = scene_->geometries[blas.first_geometry + std::size_t{g}];
        for (std::uint32_t p = 0; p < geometry.primitives(); ++p) {
          if (geometry.type == trace::GeometryType::Triangles && accepts(row, ray, source, geometry, instance, g, p)) {
            closest = std::min(closest, hit_triangle(ray, object, source, geometry, p));
          }
        }
      }
    }
    return closest;
  }

  bool accepts(std::uint64_t row, const RaySlowly& ray, const trace::Instance& source, const trace::Geometry& geometry,
               std::uint32_t instance, std::uint32_t g, std::uint32_t p) const {
    if (is_left_out(ray, source, geometry)) {
      return false;
    }
    const bool opaque = is_opaque(ray, source, geometry);
    bool seen = false;
    for (const std::size_t at : tests_of(row)) {
      const TwinTest& test = result_.tests[at];
      if (!opaque && test.instance == instance && test.geometry == g && test.primitive == p) {
        if (test.reports.front().second) {
          return true;
        }
        seen = true;
      }
    }
    return !seen;
  }

  static Real hit_triangle(const RaySlowly& ray, const ObjectRay& object, const trace::Instance& source,
                           const trace::Geometry& geometry, std::uint32_t primitive) {
    std::array<Vector, 3> corner{};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t vertex = geometry.indices[std::size_t{primitive} * 3 + k];
      if (vertex * 3 + 2 >= geometry.vertices.size()) {
        return kInfinity;
      }
      for (std::size_t axis = 0; axis < 3; ++axis) {
        corner[k][axis] = geometry.vertices[vertex * 3 + axis];
        if (!std::isfinite(corner[k][axis])) {
          return kInfinity;
        }
      }
    }
    // Signed volumes: the ray passes the edges on one side.
    const Vector a = minus(corner[0], object.origin);
    const Vector b = minus(corner[1], object.origin);
    const Vector c = minus(corner[2], object.origin);
    const Real u = dot(object.direction, cross(c, b));
    const Real v = dot(object.direction, cross(a, c));
    const Real w = dot(object.direction, cross(b, a));
    const bool inside = (u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0);
    const Real volume = u + v + w;
    if (!inside || volume == 0) {
      return kInfinity;
    }
    const Vector normal = cross(minus(corner[1], corner[0]), minus(corner[2], corner[0]));
    const Real t = dot(normal, a) / dot(normal, object.direction);
    if (!(t >= ray.t_min && t <= ray.t_max)) {
      return kInfinity;
    }
    const bool front = (dot(normal, object.direction) < 0) != ((source.flags & 2U) != 0);
    const bool culled = (source.flags & 1U) == 0 &&
                        (ray.flags & (front ? trace::kRayFlagCullFrontFacing : trace::kRayFlagCullBackFacing)) != 0;
    return culled ? kInfinity : t;
  }

  const trace::Scene* scene_;
  const trace::Launch* launch_;
  const TwinOptions* options_;
  std::uint32_t first_instance_ = 0;
  std::uint32_t instances_ = 0;
  TwinResult result_;
  std::map<std::uint64_t, Story> stories_;
  std::map<std::uint64_t, std::vector<std::size_t>> tests_of_;
};

}  // namespace

TwinBox twin_box(const trace::Scene& scene, std::uint32_t first_instance, std::uint32_t instance,
                 std::uint32_t geometry, std::uint32_t primitive) {
  const trace::Blas& blas = scene.blases[scene.instances[first_instance + std::size_t{instance}].blas];
  const trace::Geometry& source = scene.geometries[blas.first_geometry + std::size_t{geometry}];
  TwinBox box;
  box.low = {kInfinity, kInfinity, kInfinity};
  box.high = {-kInfinity, -kInfinity, -kInfinity};
  const auto add = [&](const float* point, Vector& low, Vector& high) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min<Real>(low[axis], point[axis]);
      high[axis] = std::max<Real>(high[axis], point[axis]);
    }
  };
  std::vector<const float*> points;
  if (source.type == trace::GeometryType::Boxes) {
    const float* row = &source.boxes[std::size_t{primitive} * 6];
    points = {row, row + 3};
    if (!(row[0] <= row[3] && row[1] <= row[4] && row[2] <= row[5])) {
      return box;
    }
  } else {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t vertex = source.indices[std::size_t{primitive} * 3 + k];
      if (vertex * 3 + 2 >= source.vertices.size()) {
        return box;
      }
      points.push_back(&source.vertices[vertex * 3]);
    }
  }
  for (const float* point : points) {
    if (!std::isfinite(point[0]) || !std::isfinite(point[1]) || !std::isfinite(point[2])) {
      return box;
    }
    add(point, box.low, box.high);
  }
  box.empty = false;
  return box;
}

std::vector<TwinBase> base_tests_slowly(const trace::Trace& trace, std::uint32_t launch, double slack,
                                        std::uint64_t stride) {
  TwinOptions options;
  options.slack = slack;
  return Slowly(trace, trace.launches[launch], options).base_tests(stride);
}

TwinResult classify_slowly(const trace::Trace& trace, std::uint32_t launch, const TwinOptions& options) {
  return Slowly(trace, trace.launches[launch], options).run();
}

}  // namespace rayreplay::test
