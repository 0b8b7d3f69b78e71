// The arbiter: what exact arithmetic says of a ray and a scene, as nearly as long double can, with bounds on the
// rounding of whoever computed otherwise.
//
// Contract: `judge` looks at all primitives of a scene (no acceleration structure, no shared code) and says of a
// claimed answer, a hit or none, whether a sound computation of working precision `unit` (2^-53 for double, 2^-24 for
// float) can have come to it:
// - A triangle is surely pierced if its three edge functions, computed here, have the same sign and all exceed their
//   rounding bound; surely missed if two differ in sign by more than their bounds, if it has no area (in double
//   precision), or if the ray passes its box by more than rounding; else it is open. Its t comes with a bound from the
//   condition of the division; in double precision it also has to lie in the triangle's box.
// - A claimed hit is sound if its triangle is pierced or open at the t claimed, within the bounds, and no surely
//   pierced triangle or box lies in front of it by more than the bounds. Claiming none is sound if nothing is surely
//   hit within [t_min, t_max], its ends widened by the bounds.
// - Bounds of edge functions are kSlack · unit · |d| · (|b| + |c|)^2 plus what the errors of a transformed origin and
//   direction do: unit times the sums of the magnitudes that enter the transform.
// Boxes are hit where `box_report` says (below), which everybody shares: exact, no bounds.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "bvh/scene.hpp"
#include "capture/trace/trace.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::test {

using Real = long double;
using Triple = std::array<Real, 3>;

/// By this share of its largest coordinate a box is larger for Embree than for its shader.
inline constexpr float kBoxPad = 1e-3F;

namespace precise {

inline constexpr Real kSlack = 32;
/// Of t where only the box bounds it, rays in a triangle's plane: a little more than what bvh::BoxRay adds.
inline constexpr Real kBoxSlack = 0x1p-20L;

inline Triple cross(const Triple& a, const Triple& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Real dot(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Triple minus(const Triple& a, const Triple& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Real length(const Triple& a) {
  return std::sqrt(dot(a, a));
}

/// A ray in an instance's space, and the magnitudes of what its coordinates were summed from.
struct ObjectRay {
  Triple origin{}, direction{};
  Triple origin_terms{}, direction_terms{};
};

struct Transform {
  bool identity = false;
  std::array<Real, 9> inverse{};  ///< of the linear part
  Triple offset{};

  explicit Transform(const std::array<float, 12>& m) {
    identity = m == trace::Instance{}.transform;
    const auto column = [&](std::size_t c) { return Triple{m[c], m[4 + c], m[8 + c]}; };
    const Triple a = column(0);
    const Triple b = column(1);
    const Triple c = column(2);
    const std::array<Triple, 3> rows{cross(b, c), cross(c, a), cross(a, b)};
    const Real determinant = dot(a, rows[0]);
    for (std::size_t i = 0; i < 9; ++i) {
      inverse[i] = rows[i / 3][i % 3] / determinant;
    }
    offset = column(3);
  }

  [[nodiscard]] ObjectRay apply(const traversal::Ray& ray) const {
    ObjectRay result;
    for (std::size_t row = 0; row < 3; ++row) {
      if (identity) {
        result.origin[row] = static_cast<Real>(ray.origin[row]);
        result.direction[row] = static_cast<Real>(ray.direction[row]);
        continue;
      }
      for (std::size_t i = 0; i < 3; ++i) {
        const Real m = inverse[row * 3 + i];
        const auto o = static_cast<Real>(ray.origin[i]);
        const auto d = static_cast<Real>(ray.direction[i]);
        result.origin[row] += m * (o - offset[i]);
        result.direction[row] += m * d;
        result.origin_terms[row] += std::abs(m) * (std::abs(o) + std::abs(offset[i]));
        result.direction_terms[row] += std::abs(m * d);
      }
    }
    return result;
  }
};

}  // namespace precise

/// The intersection shader of these tests: a box is solid, and is hit where the ray enters it, or where it leaves it if
/// that is the first end in [t_min, t_max]. In long double from the trace's floats, the same for everybody.
inline traversal::Report box_report(const precise::ObjectRay& ray, const float* box, float t_min, float t_max) {
  Real near = -std::numeric_limits<Real>::infinity();
  Real far = std::numeric_limits<Real>::infinity();
  for (unsigned axis = 0; axis < 3; ++axis) {
    const Real low = static_cast<Real>(box[axis]) - ray.origin[axis];
    const Real high = static_cast<Real>(box[axis + 3]) - ray.origin[axis];
    const Real d = ray.direction[axis];
    if (d == 0) {
      if (low > 0 || high < 0) {
        return {};
      }
      continue;
    }
    near = std::max(near, std::min(low / d, high / d));
    far = std::min(far, std::max(low / d, high / d));
  }
  if (near > far) {
    return {};
  }
  for (const Real end : {near, far}) {
    const auto t = static_cast<float>(end);
    if (t >= t_min && t <= t_max) {
      return {true, t, static_cast<std::uint8_t>(end == near ? 1 : 2)};
    }
  }
  return {};
}

/// A quarter of the candidates that are not opaque are ignored, by lot of the candidate's numbers and the ray's place.
inline bool any_hit_accepts(std::size_t ray, const traversal::Candidate& candidate) {
  Random random(ray * 0x1'0001U + candidate.instance * 0x101'0101U + candidate.geometry * 77U + candidate.primitive);
  return !random.one_in(4);
}

class PreciseScene {
 public:
  /// `ordinary`: numbers are near 1, and triangles that the ray passes by more than 1e-4 of their distance are left out
  /// at once. It takes 4 doubles a primitive, and saves most of the time in scenes of very many.
  explicit PreciseScene(const trace::Scene& scene, bool ordinary = false)
      : scene_(&scene), prepared_(bvh::prepare_scene(scene, 0, "test")) {
    for (const trace::Instance& instance : scene.instances) {
      transforms_.emplace_back(instance.transform);
    }
    spheres_.resize(ordinary ? scene.blases.size() : 0);
    for (std::uint32_t blas = 0; blas < spheres_.size(); ++blas) {
      around_.push_back(sphere_around(prepared_.blases[blas].bounds));
      for (std::uint32_t number = 0; number < prepared_.blases[blas].primitives(); ++number) {
        spheres_[blas].push_back(sphere_around(prepared_.primitive_box(blas, number)));
      }
    }
  }

  [[nodiscard]] const bvh::PreparedScene& prepared() const {
    return prepared_;
  }
  [[nodiscard]] precise::ObjectRay in_instance(const traversal::Ray& ray, std::uint32_t instance) const {
    return transforms_[instance].apply(ray);
  }
  [[nodiscard]] const trace::Geometry& geometry(const traversal::Candidate& candidate) const {
    return prepared_.geometry(scene_->instances[candidate.instance].blas, candidate.geometry);
  }

  enum class Verdict { Sound, Wrong };

  /// `row`: the ray's place, for any-hit. `any`: whatever hit ends the ray (occlusion); t of the claim does not count.
  [[nodiscard]] Verdict judge(std::size_t row, const traversal::Ray& ray, const traversal::Hit& claim, bool any,
                              Real unit) const {
    bool claim_possible = !claim.found() && !any;
    bool hit_possible = false;
    bool surely_hit = false;
    Real nearest_sure = std::numeric_limits<Real>::infinity();
    for (std::uint32_t i = 0; i < prepared_.instances.size(); ++i) {
      const bvh::SceneInstance& instance = prepared_.instances[i];
      if (!instance.active || (scene_->instances[i].mask & ray.cull_mask) == 0) {
        continue;
      }
      const precise::ObjectRay object = in_instance(ray, i);
      const bvh::SceneBlas& blas = prepared_.blases[instance.blas];
      if (!around_.empty() && passes_far_from(object, around_[instance.blas])) {
        continue;
      }
      for (std::uint32_t number = 0; number < blas.primitives(); ++number) {
        if (!spheres_.empty() && passes_far_from(object, spheres_[instance.blas][number])) {
          continue;
        }
        if (prepared_.primitive_box(instance.blas, number).empty()) {
          continue;
        }
        const auto [g, primitive] = prepared_.locate(instance.blas, number);
        const traversal::Candidate candidate{i, g, primitive};
        const trace::Geometry& part = prepared_.geometry(instance.blas, g);
        if (!part.opaque && !any_hit_accepts(row, candidate)) {
          continue;
        }
        const Meeting meeting = part.type == trace::GeometryType::Boxes
                                    ? meet_box(object, &part.boxes[std::size_t{primitive} * 6], ray, unit)
                                    : meet_triangle(object, part, primitive, unit);
        if (meeting.state == State::Missed) {
          continue;
        }
        const auto t_min = static_cast<Real>(ray.t_min);
        const auto t_max = static_cast<Real>(std::min(ray.t_max, std::numeric_limits<float>::max()));
        const bool possible = meeting.high >= t_min && meeting.low <= t_max;
        const bool sure = meeting.state == State::Hit && meeting.low >= t_min && meeting.high <= t_max;
        hit_possible |= possible;
        if (sure) {
          surely_hit = true;
          nearest_sure = std::min(nearest_sure, meeting.high);
        }
        if (claim.found() && claim.instance == i && claim.geometry == g && claim.primitive == primitive && possible) {
          const auto t = static_cast<Real>(claim.t);
          claim_possible |= t >= meeting.low && t <= meeting.high;
        }
      }
    }
    if (any) {
      return (claim.found() ? hit_possible : !surely_hit) ? Verdict::Sound : Verdict::Wrong;
    }
    const bool sound = claim.found() ? claim_possible && !(nearest_sure < static_cast<Real>(claim.t)) : !surely_hit;
    return sound ? Verdict::Sound : Verdict::Wrong;
  }

 private:
  struct Sphere {
    std::array<double, 3> centre{};
    double radius = 0;
  };
  static Sphere sphere_around(const bvh::Box& box) {
    Sphere sphere;
    double square = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const auto low = static_cast<double>(box.low[axis]);
      const auto high = static_cast<double>(box.high[axis]);
      sphere.centre[axis] = (low + high) / 2;
      square += (high - low) * (high - low) / 4;
    }
    sphere.radius = std::sqrt(square);
    return sphere;
  }
  static bool passes_far_from(const precise::ObjectRay& ray, const Sphere& sphere) {
    std::array<double, 3> to{};
    std::array<double, 3> d{};
    double distance2 = 0;
    double length2 = 0;
    double along = 0;
    for (unsigned axis = 0; axis < 3; ++axis) {
      to[axis] = sphere.centre[axis] - static_cast<double>(ray.origin[axis]);
      d[axis] = static_cast<double>(ray.direction[axis]);
      distance2 += to[axis] * to[axis];
      length2 += d[axis] * d[axis];
      along += to[axis] * d[axis];
    }
    const double reach = 1.01 * sphere.radius + 1e-4 * (1 + std::sqrt(distance2));
    return distance2 - along * along / length2 > reach * reach;
  }

  enum class State { Missed, Open, Hit };
  struct Meeting {
    State state = State::Missed;
    Real low = 0;   ///< of t
    Real high = 0;  ///< of t
  };

  /// A shader that was called has answered exactly. Embree calls it where its own rounding finds the padded box met.
  static Meeting meet_box(const precise::ObjectRay& ray, const float* box, const traversal::Ray& world, Real unit) {
    const traversal::Report report = box_report(ray, box, world.t_min, world.t_max);
    const auto t = static_cast<Real>(report.t);
    Real reach = 0;
    Real largest = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      reach = std::max(reach, std::abs(static_cast<Real>(box[i]) - ray.origin[i % 3]));
      largest = std::max(largest, std::abs(static_cast<Real>(box[i])));
    }
    const Real error = precise::kSlack * unit *
                       (reach + precise::length(ray.origin_terms) +
                        reach * precise::length(ray.direction_terms) / precise::length(ray.direction));
    const bool called = error < kBoxPad * largest;
    return {report.found ? (called ? State::Hit : State::Open) : State::Missed, t, t};
  }

  static Meeting meet_triangle(const precise::ObjectRay& ray, const trace::Geometry& part, std::uint32_t primitive,
                               Real unit) {
    using namespace precise;
    std::array<Triple, 3> p{};
    for (std::size_t i = 0; i < 3; ++i) {
      const float* vertex = &part.vertices[part.indices[primitive * std::size_t{3} + i] * std::size_t{3}];
      p[i] = minus({vertex[0], vertex[1], vertex[2]}, ray.origin);
    }
    const Triple normal = cross(minus(p[1], p[0]), minus(p[2], p[0]));
    const bool working_in_double = unit < 0x1p-30L;
    const bool flat = normal == Triple{0, 0, 0};
    if (flat && working_in_double) {
      return {};
    }
    const Real d = length(ray.direction);
    const Real error_o = kSlack * unit * length(ray.origin_terms);
    const Real error_d = kSlack * unit * length(ray.direction_terms);
    const auto passes = box_interval(ray, p, unit, error_o, error_d);
    // In single precision a triangle without area may have one, and is then hit anywhere along its line.
    if (passes.state == State::Missed && !flat) {
      return {};
    }
    std::array<Real, 3> edge{};
    bool above = true;
    bool below = true;
    bool low = false;
    bool high = false;
    for (std::size_t i = 0; i < 3; ++i) {
      const Triple& b = p[(i + 1) % 3];
      const Triple& c = p[(i + 2) % 3];
      edge[i] = dot(ray.direction, cross(b, c));
      const Real size = length(b) + length(c);
      const Real bound = kSlack * unit * d * size * size + error_d * length(b) * length(c) + d * error_o * size;
      above &= edge[i] > bound;
      below &= edge[i] < -bound;
      high |= edge[i] > bound;
      low |= edge[i] < -bound;
    }
    if (high && low && !flat) {
      return {};
    }
    // t = normal · p / normal · d. The box gives t where the division does not.
    const Real along = dot(normal, ray.direction);
    const Real far = std::max({length(p[0]), length(p[1]), length(p[2])});
    // The edges are differences of vertices that were rounded when the origin was taken from them.
    const Real first = length(minus(p[1], p[0]));
    const Real second = length(minus(p[2], p[0]));
    const Real e = first * second + far * (first + second);
    const Real error_along = kSlack * unit * e * d + first * second * error_d + (first + second) * error_o * d;
    // Single precision takes t from the division alone, whatever comes out.
    const Real infinity = std::numeric_limits<Real>::infinity();
    Meeting result{above || below ? State::Hit : State::Open, working_in_double ? passes.low : -infinity,
                   working_in_double ? passes.high : infinity};
    if (std::abs(along) > 2 * error_along) {
      const Real t = dot(normal, p[0]) / along;
      const Real error =
          (kSlack * unit * e * far + e * error_o + std::abs(t) * error_along) / (std::abs(along) - error_along) +
          std::abs(t) * 0x1p-23L;
      result.low = std::max(result.low, t - error);
      result.high = std::min(result.high, t + error);
      result.high = std::max(result.high, result.low);
    } else {
      result.state = State::Open;
    }
    return result;
  }

  /// Where the ray is in the triangle's box, widened by rounding: Open, or Missed.
  static Meeting box_interval(const precise::ObjectRay& ray, const std::array<Triple, 3>& p, Real unit, Real error_o,
                              Real error_d) {
    Real near = -std::numeric_limits<Real>::infinity();
    Real far = std::numeric_limits<Real>::infinity();
    // Edge functions mix the axes: the rounding of the largest coordinate displaces the ray along all of them.
    const Real reach = std::max({precise::length(p[0]), precise::length(p[1]), precise::length(p[2])});
    const Real d_length = precise::length(ray.direction);
    for (unsigned axis = 0; axis < 3; ++axis) {
      const Real low = std::min({p[0][axis], p[1][axis], p[2][axis]});
      const Real high = std::max({p[0][axis], p[1][axis], p[2][axis]});
      const Real d = ray.direction[axis];
      // An error in the direction moves the ray, at the distance where it gets there, by that share of the way.
      const Real pad =
          precise::kSlack * unit * reach + error_o +
          (error_d > 0 ? error_d * precise::length({reach, reach, reach}) / precise::length(ray.direction) : Real{0});
      if (d == 0) {
        if (low > pad || high < -pad) {
          return {};
        }
        continue;
      }
      const Real a = (low - pad) / d;
      const Real b = (high + pad) / d;
      near = std::max(near, std::min(a, b) - std::abs(std::min(a, b)) * precise::kBoxSlack);
      far = std::min(far, std::max(a, b) + std::abs(std::max(a, b)) * precise::kBoxSlack);
    }
    const Real along = precise::kSlack * unit * reach / d_length;
    return near <= far ? Meeting{State::Open, near - along, far + along} : Meeting{};
  }

  const trace::Scene* scene_;
  bvh::PreparedScene prepared_;
  std::vector<precise::Transform> transforms_;
  std::vector<Sphere> around_;                ///< around each structure; empty unless ordinary
  std::vector<std::vector<Sphere>> spheres_;  ///< by structure and number; empty unless ordinary
};

/// Boxes report as `box_report`, any-hit accepts as `any_hit_accepts`.
class PreciseShaders final : public traversal::Shaders {
 public:
  PreciseShaders(const PreciseScene& scene, std::span<const traversal::Ray> rays) : scene_(&scene), rays_(rays) {}

  [[nodiscard]] traversal::Report intersect(std::size_t ray, const traversal::Candidate& candidate,
                                            float t_max) const override {
    return box_report(scene_->in_instance(rays_[ray], candidate.instance),
                      &scene_->geometry(candidate).boxes[std::size_t{candidate.primitive} * 6], rays_[ray].t_min,
                      t_max);
  }
  [[nodiscard]] bool accept(std::size_t ray, const traversal::Candidate& candidate, float /*t*/,
                            std::uint8_t /*hit_kind*/) const override {
    return any_hit_accepts(ray, candidate);
  }

 private:
  const PreciseScene* scene_;
  std::span<const traversal::Ray> rays_;
};

}  // namespace rayreplay::test
