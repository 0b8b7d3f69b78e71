// The kind of one test (MODELS.md §8), of a GPU, the built-in tracer or a simulated traversal.
//
// Contract: a JudgedRay belongs to one thread at a time and caches the ray in the last object space. Inactive
// primitives (bvh/scene.hpp) have no box: their tests are enlargements unless necessary. The box of a hit triangle is
// entered at the hit at the latest, for any rounding; a box primitive's shader may report hits outside the box.
// Comparisons are rounded outward as in classify.hpp. O(1) a test, O(models) where t* < t_enter.
#pragma once

#include <cstdint>

#include "bvh/scene.hpp"
#include "traversal/classification/box_entry.hpp"
#include "traversal/classification/enlarged.hpp"
#include "traversal/classification/test_kind.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {

/// The result for one test.
struct Verdict {
  TestKind kind = TestKind::Necessary;
  float t_enter = 0;      ///< where the ray enters the original box; NaN if it does not
  bool inactive = false;  ///< the primitive or its instance takes no part in the scene
  bool late = false;      ///< R3 or "R2 or R3", made when the ray's t_max lay before the original box already
};

/// Known properties of the hardware that made the tests.
struct KnownHardware {
  bool culls = false;  ///< as in ClassifyOptions
  bool clips = false;  ///< its box tests begin at t_min: a tested box that the ray meets only before t_min was enlarged
};

struct JudgedTest {
  Candidate candidate;
  bool hit = false;  ///< the ray hits the primitive at `t`
  float t = 0;
  float t_max = 0;  ///< the ray's when the test was made, or more
  bool procedural = false;
};

class JudgedRay {
 public:
  explicit JudgedRay(const Ray& ray)
      : ray_(ray), t_min_(static_cast<double>(ray.t_min)), t_max_(static_cast<double>(ray.t_max)) {}

 private:
  friend class Judge;
  Ray ray_;
  double t_min_;
  double t_max_;
  std::uint32_t instance_ = trace::kNone;  ///< whose space slab_ is in
  SlabRay slab_;
};

class Judge {
 public:
  /// Both must outlive the judge. Slacks in units of 2^-24, of the original and of the enlarged boxes; they differ in
  /// experiments only.
  Judge(const bvh::PreparedScene& scene, const EnlargedBoxes& enlarged, double slack, double enlarged_slack,
        const KnownHardware& known);

  [[nodiscard]] Verdict judge(JudgedRay& ray, const JudgedTest& test, float t_star) const;

  /// The slacks as shares of the operands.
  [[nodiscard]] double unit() const {
    return unit_;
  }
  [[nodiscard]] double enlarged_unit() const {
    return enlarged_unit_;
  }
  [[nodiscard]] const KnownHardware& known() const {
    return known_;
  }

  /// Whether a hit at `t` lies beyond t_star by more than rounding.
  [[nodiscard]] bool beyond(float t, float t_star) const;

 private:
  const bvh::PreparedScene* scene_;
  const EnlargedBoxes* enlarged_;
  double unit_;
  double enlarged_unit_;
  KnownHardware known_;
};

}  // namespace rayreplay::traversal
