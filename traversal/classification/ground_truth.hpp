// The ground truth of simulated tests: causes that are known, against the classes that were found (MODELS.md §8).
//
// Contract: a test's truth is
//   Necessary, BoxMiss, Overlap   the ideal order over exact boxes makes it, and the ray hits the primitive at or
//                                 before t*, not at all, or behind t*
//   Enlargement  not so, but ideal order with the hardware's boxes does, and the hardware's order with exact boxes not
//   Order        the other way round
//   Either       each of the two alone makes it
//   Joint        neither alone does
// The first three are told apart by `brute_force_hit`, which looks at the ray and the primitive alone: no traversal, no
// limit of the moment, no slack, nothing that the classification is computed from.
#pragma once

#include <array>
#include <cstdint>

#include "bvh/scene.hpp"
#include "traversal/classification/reported.hpp"
#include "traversal/classification/test_kind.hpp"

namespace rayreplay::traversal {

enum class Cause : std::uint8_t { Necessary = 0, BoxMiss, Overlap, Enlargement, Order, Either, Joint };
inline constexpr std::size_t kCauses = 7;
[[nodiscard]] const char* to_string(Cause cause);
/// One of the three that every order which goes by boxes makes.
[[nodiscard]] bool is_base(Cause cause);

/// Whether a class contradicts the truth. Right are: each base kind for itself, R2 for Enlargement, R3 for Order, and
/// "R2 or R3" for any truth that is not base; for Either nothing else; for Joint R2 and R3 too, as it takes both.
[[nodiscard]] bool contradicts(Cause cause, TestKind kind);

struct GroundTruth {
  std::array<KindCounts, kCauses> tests{};  ///< truth, then class
  /// Of the wrong ones: those that are right without slack for the original boxes, so that rounding has decided.
  std::uint64_t rounding = 0;

  void add(const GroundTruth& other);
  [[nodiscard]] std::uint64_t total() const;
  [[nodiscard]] std::uint64_t wrong() const;      ///< contradicts
  [[nodiscard]] std::uint64_t undecided() const;  ///< class "R2 or R3"
  [[nodiscard]] std::uint64_t joint() const;      ///< truth Joint
};

/// Where ray `ray` of `observed` hits the candidate in [t_min, t_max] of its trace call: of a box primitive the nearest
/// of all reports that count, of a triangle where it pierces it, unless its facing is culled. O(tests of the ray).
[[nodiscard]] ReportedHit brute_force_hit(const bvh::PreparedScene& scene, const Observed& observed, std::uint64_t ray,
                                          const Candidate& candidate);

/// The truth of a test that the ideal order over exact boxes makes.
[[nodiscard]] Cause base_cause(const ReportedHit& hit, float t_star);

}  // namespace rayreplay::traversal
