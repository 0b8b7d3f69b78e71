// The ground truth of simulated tests: known causes against found classes (MODELS.md §8).
//
// Contract: a test's truth is
//   Necessary, BoxMiss, Overlap   the ideal order over exact boxes makes it, and the ray hits the primitive at or
//                                 before t*, not at all, or behind t*
//   Enlargement  made by the ideal order with the hardware's boxes, not by the hardware's order with exact boxes
//   Order        made by the hardware's order with exact boxes, not by the ideal order with the hardware's boxes
//   Either       made by each of the two alone
//   Joint        made by neither alone
// `brute_force_hit` separates the first three by the ray and the primitive alone: no traversal, no current limit, no
// slack, and no result of the classification.
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
/// Whether the cause is one of the three that every box-based order makes.
[[nodiscard]] bool is_base(Cause cause);

/// Whether a class contradicts the truth. Classes that do not: for a base truth its own kind; for Enlargement R2 or
/// "R2 or R3"; for Order R3 or "R2 or R3"; for Either "R2 or R3"; for Joint R2, R3 or "R2 or R3".
[[nodiscard]] bool contradicts(Cause cause, TestKind kind);

struct GroundTruth {
  std::array<KindCounts, kCauses> tests{};  ///< truth, then class
  /// Wrong classes that would be right without slack for the original boxes: caused by rounding.
  std::uint64_t rounding = 0;

  void add(const GroundTruth& other);
  [[nodiscard]] std::uint64_t total() const;
  [[nodiscard]] std::uint64_t wrong() const;      ///< contradicts
  [[nodiscard]] std::uint64_t undecided() const;  ///< class "R2 or R3"
  [[nodiscard]] std::uint64_t joint() const;      ///< truth Joint
};

/// The hit of ray `ray` of `observed` on the candidate in [t_min, t_max] of its trace call: for a box primitive the
/// nearest report that counts, for a triangle the pierced point, unless its facing is culled. O(tests of the ray).
[[nodiscard]] ReportedHit brute_force_hit(const bvh::PreparedScene& scene, const Observed& observed, std::uint64_t ray,
                                          const Candidate& candidate);

/// The truth of a test that the ideal order over exact boxes makes.
[[nodiscard]] Cause base_cause(const ReportedHit& hit, float t_star);

}  // namespace rayreplay::traversal
