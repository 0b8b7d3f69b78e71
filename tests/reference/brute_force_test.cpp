// Every event of every ray against a twin that looks at all primitives and knows no acceleration structure.
//
// The twin works in long double with textbook formulas. Where a decision of the twin is within rounding of flipping
// (a grazing box, an edge), either answer is right, and the ray is left out; that must stay rare.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "capture/reference/texture.hpp"
#include "tests/reference/support.hpp"

namespace rayreplay::test {
namespace {

using reference::RenderScene;
using reference::SceneGeometry;
using trace::EventKind;
using Real = long double;
using Triple = std::array<Real, 3>;

constexpr Real kTie = 1e-5L;

struct ObjectRay {
  Triple origin{};
  Triple direction{};
};

Triple minus(const Triple& a, const Triple& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
Triple cross(const Triple& a, const Triple& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Real dot(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Solves M x = v for the linear part of a row-major 3×4 matrix by Cramer's rule.
Triple solve(const std::array<float, 12>& m, const Triple& v) {
  const Triple a{m[0], m[4], m[8]};
  const Triple b{m[1], m[5], m[9]};
  const Triple c{m[2], m[6], m[10]};
  const Real determinant = dot(a, cross(b, c));
  return {dot(v, cross(b, c)) / determinant, dot(a, cross(v, c)) / determinant, dot(a, cross(b, v)) / determinant};
}

ObjectRay to_object(const reference::Ray& ray, const std::array<float, 12>& m) {
  const Triple origin{ray.origin.x(), ray.origin.y(), ray.origin.z()};
  return {solve(m, minus(origin, {m[3], m[7], m[11]})),
          solve(m, {ray.direction.x(), ray.direction.y(), ray.direction.z()})};
}

/// One primitive as one ray sees it.
struct Candidate {
  std::uint32_t instance = 0;
  std::uint32_t geometry = 0;  // in the scene
  std::uint16_t in_blas = 0;
  std::uint32_t primitive = 0;
  bool boxes = false;
  Real enter = 0;  // boxes: where the ray enters, leaves the box (enter > leave: it misses)
  Real leave = 0;
  std::array<Real, 2> roots{};    // where it pierces the surface
  std::array<bool, 2> pierced{};  // whether it does
  std::array<bool, 2> passes{};   // and whether that survives the alpha test
  std::uint8_t triangle_kind = 0;
  bool opaque = true;
  bool unsure = false;
};

class Twin {
 public:
  explicit Twin(const RenderScene& scene) : scene_(&scene) {}

  std::vector<Candidate> all(const reference::Ray& ray) const {
    std::vector<Candidate> result;
    for (std::uint32_t id = 0; id < scene_->instances.size(); ++id) {
      const auto& instance = scene_->instances[id];
      const ObjectRay object = to_object(ray, instance.transform);
      const auto& blas = scene_->blases[instance.blas];
      for (std::uint32_t g = 0; g < blas.geometry_count; ++g) {
        const auto& geometry = scene_->geometries[blas.first_geometry + g];
        for (std::uint32_t primitive = 0; primitive < geometry.geometry.primitives(); ++primitive) {
          Candidate candidate;
          candidate.instance = id;
          candidate.geometry = blas.first_geometry + g;
          candidate.in_blas = static_cast<std::uint16_t>(g);
          candidate.primitive = primitive;
          candidate.boxes = geometry.geometry.type == trace::GeometryType::Boxes;
          candidate.opaque = (instance.flags & 4U) != 0 || ((instance.flags & 8U) == 0 && geometry.geometry.opaque);
          candidate.boxes ? sphere(candidate, geometry, object) : triangle(candidate, geometry, object);
          if ((instance.flags & 2U) != 0) {
            candidate.triangle_kind ^= 1U;  // 0xFE and 0xFF change places
          }
          result.push_back(candidate);
        }
      }
    }
    return result;
  }

 private:
  bool passes(Candidate& c, const SceneGeometry& geometry, reference::TexturePoint point) const {
    if (c.opaque) {
      return true;
    }
    // Near the border of a texel the float coordinates may fall on either side.
    const auto& material = reference::material_of(*scene_, geometry, c.primitive);
    if (material.texture != reference::kNoTexture) {
      const auto& texture = scene_->textures[material.texture];
      const float u = point.u * static_cast<float>(texture.width);
      const float v = point.v * static_cast<float>(texture.height);
      c.unsure |= std::abs(u - std::round(u)) < 1e-3F || std::abs(v - std::round(v)) < 1e-3F;
    }
    return reference::passes_alpha_test(*scene_, geometry, c.primitive, point);
  }

  void sphere(Candidate& c, const SceneGeometry& geometry, const ObjectRay& ray) const {
    const float* box = &geometry.geometry.boxes[std::size_t{c.primitive} * 6];
    c.enter = -1e30L;
    c.leave = 1e30L;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Real a = (Real{box[axis]} - ray.origin.at(axis)) / ray.direction.at(axis);
      const Real b = (Real{box[axis + 3]} - ray.origin.at(axis)) / ray.direction.at(axis);
      c.enter = std::max(c.enter, std::min(a, b));
      c.leave = std::min(c.leave, std::max(a, b));
    }
    c.unsure |= std::abs(c.leave - c.enter) < kTie;
    const float* s = &geometry.spheres[std::size_t{c.primitive} * 4];
    const Triple centre{s[0], s[1], s[2]};
    const Real radius{s[3]};
    // The point nearest to the centre, and half the chord around it.
    const Real length2 = dot(ray.direction, ray.direction);
    const Real middle = dot(minus(centre, ray.origin), ray.direction) / length2;
    Triple nearest{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      nearest.at(axis) = ray.origin.at(axis) + middle * ray.direction.at(axis) - centre.at(axis);
    }
    const Real square = (radius * radius - dot(nearest, nearest)) / length2;
    c.unsure |= std::abs(square) < kTie * kTie;
    if (square < 0) {
      return;
    }
    c.roots = {middle - std::sqrt(square), middle + std::sqrt(square)};
    c.pierced = {true, true};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto normal = [&](std::size_t axis) {
        return static_cast<float>((ray.origin.at(axis) + c.roots.at(i) * ray.direction.at(axis) - centre.at(axis)) /
                                  radius);
      };
      const Vec3 n{normal(0), normal(1), normal(2)};
      c.passes.at(i) = passes(c, geometry, reference::sphere_texture_point(n));
    }
  }

  void triangle(Candidate& c, const SceneGeometry& geometry, const ObjectRay& ray) const {
    const auto corner = [&](std::size_t k) {
      const std::uint32_t index = geometry.geometry.indices[std::size_t{c.primitive} * 3 + k];
      const float* p = &geometry.geometry.vertices[std::size_t{index} * 3];
      return Triple{p[0], p[1], p[2]};
    };
    const Triple a = minus(corner(0), ray.origin);
    const Triple b = minus(corner(1), ray.origin);
    const Triple d = minus(corner(2), ray.origin);
    // Signed volumes over the edges: all of one sign inside.
    const Real w = dot(ray.direction, cross(a, b));
    const Real u = dot(ray.direction, cross(b, d));
    const Real v = dot(ray.direction, cross(d, a));
    const Real sum = u + v + w;
    const Real scale = std::abs(u) + std::abs(v) + std::abs(w);
    c.unsure |= std::min({std::abs(u), std::abs(v), std::abs(w)}) < kTie * scale;
    const bool inside = (u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0);
    if (!inside) {
      return;
    }
    const Triple normal = cross(minus(b, a), minus(d, a));
    c.roots[0] = dot(a, normal) / dot(ray.direction, normal);
    c.pierced[0] = true;
    c.triangle_kind = dot(ray.direction, normal) < 0 ? trace::kHitKindFrontFacing : trace::kHitKindBackFacing;
    c.passes[0] = passes(c, geometry,
                         reference::triangle_texture_point(geometry, c.primitive, static_cast<float>(v / sum),
                                                           static_cast<float>(w / sum)));
  }

  const RenderScene* scene_;
};

/// The root that the sphere's intersection shader reports within [low, high], as an index.
std::optional<std::size_t> reported(const Candidate& c, Real low, Real high) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.pierced.at(i) && c.roots.at(i) >= low && c.roots.at(i) <= high) {
      return i;
    }
  }
  return std::nullopt;
}

using Key = std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>;

Key key_of(const Event& e) {
  return {e.instance, e.geometry, e.primitive};
}
Key key_of(const Candidate& c) {
  return {c.instance, c.in_blas, c.primitive};
}

bool close(Real a, Real b) {
  return std::abs(a - b) <= kTie * std::max(Real{1}, std::abs(b));
}

/// Follows one ray's events with the twin's knowledge. Fails the test where they part.
class Follower {
 public:
  Follower(const Twin& twin, const RayStory& story) : story_(&story), candidates_(twin.all(story.ray)) {}

  /// Whether some decision is too close to call.
  bool unsure() const {
    const Real low = story_->ray.t_min;
    const Real high = story_->ray.t_max;
    std::vector<Real> cuts;
    for (const auto& c : candidates_) {
      if (c.unsure) {
        return true;
      }
      for (std::size_t i = 0; i < 2; ++i) {
        if (c.pierced.at(i)) {
          cuts.push_back(c.roots.at(i));
        }
      }
      if (c.boxes && (close(c.enter, high) || close(c.leave, low))) {
        return true;
      }
    }
    cuts.push_back(low);
    cuts.push_back(high);
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      if (close(cuts[i - 1], cuts[i]) && cuts[i] > low - kTie && cuts[i - 1] < high + kTie) {
        return true;
      }
    }
    return false;
  }

  void follow() {
    t_max_ = story_->ray.t_max;
    for (std::size_t i = 1; i < story_->events.size(); ++i) {
      const Event& event = story_->events[i];
      switch (event.kind) {
        case EventKind::Intersection:
          intersection(event, i);
          break;
        case EventKind::AnyHit:
          if (!any_hit_of_report(i - 1)) {
            triangle_any_hit(event, i);
          }
          break;
        case EventKind::ClosestHit:
          closest_hit(event);
          break;
        default:
          break;
      }
    }
    const bool missed = story_->events.back().kind == EventKind::Miss;
    const auto nearest = closest();
    EXPECT_EQ(missed, nearest == nullptr);
    if (!story_->occlusion() || missed) {
      everything_in_front_was_tested(nearest == nullptr ? Real{story_->ray.t_max} : Real{accepted_t(*nearest)});
    }
  }

 private:
  const Candidate& find(const Event& event) const {
    const auto it = std::find_if(candidates_.begin(), candidates_.end(),
                                 [&](const Candidate& c) { return key_of(c) == key_of(event); });
    EXPECT_NE(it, candidates_.end());
    return *it;
  }

  bool follows(std::size_t i, EventKind kind) const {
    return i + 1 < story_->events.size() && story_->events[i + 1].kind == kind;
  }

  /// A report is followed by its own any-hit, or by that of the next triangle.
  bool any_hit_of_report(std::size_t i) const {
    return story_->events[i].kind == EventKind::ReportIntersection && follows(i, EventKind::AnyHit) &&
           key_of(story_->events[i]) == key_of(story_->events[i + 1]);
  }

  void intersection(const Event& event, std::size_t i) {
    const Candidate& c = find(event);
    EXPECT_TRUE(tested_.insert(key_of(event)).second) << "tested twice";
    // The event's t_max is the closest accepted hit so far; opaque triangles leave no event, so it may be nearer.
    EXPECT_LE(Real{event.t}, t_max_ + kTie);
    t_max_ = std::min(t_max_, Real{event.t});
    EXPECT_LE(std::max(c.enter, Real{story_->ray.t_min}), std::min(c.leave, Real{event.t}) + kTie);
    const auto root = reported(c, story_->ray.t_min, event.t);
    ASSERT_EQ(root.has_value(), follows(i, EventKind::ReportIntersection));
    if (!root) {
      return;
    }
    const Event& report = story_->events[i + 1];
    EXPECT_EQ(key_of(report), key_of(event));
    EXPECT_TRUE(close(report.t, c.roots.at(*root)));
    EXPECT_EQ(report.hit_kind, *root);
    EXPECT_EQ(report.accepted == 1, c.passes.at(*root));
    ASSERT_EQ(!c.opaque, any_hit_of_report(i + 1));
    if (!c.opaque) {
      const Event& any_hit = story_->events[i + 2];
      EXPECT_EQ(key_of(any_hit), key_of(event));
      EXPECT_EQ(any_hit.t, report.t);
      EXPECT_EQ(any_hit.hit_kind, report.hit_kind);
      EXPECT_EQ(!c.passes.at(*root), follows(i + 2, EventKind::IgnoreIntersection));
    }
    if (report.accepted == 1) {
      t_max_ = report.t;
    }
  }

  void triangle_any_hit(const Event& event, std::size_t i) {
    const Candidate& c = find(event);
    EXPECT_FALSE(c.opaque);
    EXPECT_TRUE(tested_.insert(key_of(event)).second) << "tested twice";
    ASSERT_TRUE(c.pierced[0]);
    EXPECT_TRUE(close(event.t, c.roots[0]));
    EXPECT_LE(Real{event.t}, t_max_ + kTie);
    EXPECT_EQ(event.hit_kind, c.triangle_kind);
    EXPECT_EQ(!c.passes[0], follows(i, EventKind::IgnoreIntersection));
    if (c.passes[0]) {
      t_max_ = event.t;
    }
  }

  void closest_hit(const Event& event) {
    const Candidate& c = find(event);
    const Candidate* nearest = closest();
    ASSERT_NE(nearest, nullptr);
    EXPECT_EQ(key_of(c), key_of(*nearest));
    EXPECT_TRUE(close(event.t, accepted_t(c)));
    if (!c.boxes) {
      EXPECT_EQ(event.hit_kind, c.triangle_kind);
    }
  }

  /// Where the candidate is accepted, whatever the other candidates: the root that its shader reports, if it passes.
  /// A far root is never reported once something nearer was accepted, so only the first root in the interval counts.
  std::optional<Real> accepted_root(const Candidate& c) const {
    const auto root = reported(c, story_->ray.t_min, story_->ray.t_max);
    if (!root || !c.passes.at(*root)) {
      return std::nullopt;
    }
    return c.roots.at(*root);
  }
  Real accepted_t(const Candidate& c) const {
    return accepted_root(c).value_or(1e30L);
  }

  const Candidate* closest() const {
    const Candidate* best = nullptr;
    for (const auto& c : candidates_) {
      if (accepted_root(c) && (best == nullptr || accepted_t(c) < accepted_t(*best))) {
        best = &c;
      }
    }
    return best;
  }

  /// Any order of traversal must test these.
  void everything_in_front_was_tested(Real limit) const {
    for (const auto& c : candidates_) {
      const bool in_front =
          c.boxes ? std::max(c.enter, Real{story_->ray.t_min}) < std::min(c.leave, limit) - kTie
                  : !c.opaque && c.pierced[0] && c.roots[0] > Real{story_->ray.t_min} && c.roots[0] < limit - kTie;
      if (in_front) {
        EXPECT_TRUE(tested_.contains(key_of(c)))
            << "instance " << c.instance << " primitive " << c.primitive << " enters at "
            << static_cast<double>(c.enter) << ", limit " << static_cast<double>(limit);
      }
    }
  }

  const RayStory* story_;
  std::vector<Candidate> candidates_;
  std::set<Key> tested_;
  Real t_max_ = 0;
};

void compare(const RenderScene& scene, const reference::TracerOptions& options) {
  MemorySink sink;
  reference::trace_scene(scene, options, &sink);
  const Twin twin(scene);
  std::size_t followed = 0;
  std::size_t left_out = 0;
  for (const auto& story : sink.stories()) {
    Follower follower(twin, story);
    if (follower.unsure()) {
      ++left_out;
      continue;
    }
    ++followed;
    follower.follow();
    if (::testing::Test::HasFailure()) {
      FAIL() << "thread " << story.thread << ", ray after " << followed << " others";
    }
  }
  EXPECT_GT(followed, 1500U);
  EXPECT_LT(left_out, followed / 20);
}

TEST(BruteForce, SphereCloud) {
  compare(sphere_cloud(60, 3), small_options());
}

TEST(BruteForce, SphereCloudWithoutFlattening) {
  auto options = small_options();
  options.flatten = false;
  compare(sphere_cloud(60, 4), options);
}

TEST(BruteForce, MixedGeometryUnderTransforms) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    auto options = small_options();
    options.seed = seed;
    compare(mixed_scene(seed), options);
  }
}

TEST(BruteForce, ShadowRays) {
  auto options = small_options();
  options.next_event = true;
  compare(mixed_scene(5), options);
}

TEST(BruteForce, OcclusionRaysOfBoundedLength) {
  auto options = small_options();
  options.integrator = "ao:rays=3,distance=1.5";
  compare(mixed_scene(6), options);
  compare(sphere_cloud(60, 6), options);
}

TEST(BruteForce, ForcedOpacityAndFlippedFacing) {
  RenderScene scene = mixed_scene(8);
  for (std::size_t i = 0; i < scene.instances.size(); ++i) {
    constexpr std::array<std::uint8_t, 4> kFlags{2, 4, 8, 10};
    scene.instances[i].flags = kFlags.at(i % kFlags.size());
  }
  // The same perforated square with and without its holes.
  scene.instances.push_back(scene.instances.at(3));
  scene.instances.at(3).flags = 0;
  scene.instances.back().flags = 4;
  scene.instances.back().transform[11] -= 0.7F;
  compare(scene, small_options());
}

}  // namespace
}  // namespace rayreplay::test
