// Simulated observation: a traversal over a layout plays the hardware on a trace's rays, and its tests are classified
// by the same code as a GPU's (classify.hpp). As everything about this hardware is known, so is the cause of every
// test: the ground truth for the classification.
//
// Contract: each ray of the launch is traced by `traversal` over the structure that `structure` describes, with the
// trace's reports and any-hit decisions as shaders (ObservedShaders) and without own-box tests: this hardware calls an
// intersection shader whenever it enters the leaf, as hardware that does not keep the application's boxes must. Every
// triangle and every box primitive it tests is an observed test; with `any_hit_only` of the triangles only those that
// were hit and are not opaque to the ray, which is all that a capture would see. t* is the closest accepted hit that
// the ordered traversal finds over exact boxes. A triangle that is hit beyond the ray's t_max of the moment counts as
// not hit.
//
// Ground truth of a test, by counterfactual replays of its ray: in the ideal order or the hardware's, over exact boxes
// or the hardware's (leaves of one primitive in the exact structure; leaves of several share a box, which is an
// enlargement):
//   BoxBased     ideal order, exact boxes make it
//   Enlargement  not so, but ideal order with the hardware's boxes does, and the hardware's order with exact boxes not
//   Order        the other way round
//   Either       each of the two alone makes it
//   Joint        neither alone does
// The ideal order looks for the closest hit also where a ray ends on its first (classify.hpp).
//
// Simulated tests are no events of the trace: `tests` of the classification stays empty, and so do its any-hit counts.
// Memory: a batch of rays with their tests. Four traversals a ray with ground truth, else two. Deterministic. Errors:
// those of classify; Usage for unknown models. A launch without observed tests can be simulated: its boxes then report
// nothing and its any-hit shaders accept everything.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "bvh/bvh.hpp"
#include "traversal/classification/classify.hpp"

namespace rayreplay::traversal {

enum class Cause : std::uint8_t { BoxBased = 0, Enlargement, Order, Either, Joint };
inline constexpr std::size_t kCauses = 5;
[[nodiscard]] const char* to_string(Cause cause);

/// Whether a class contradicts the truth: base kinds (necessary, box miss, R1) stand for BoxBased, R2 for Enlargement,
/// R3 for Order, "R2 or R3" for any but BoxBased; Either and Joint may be R2 or R3 as well.
[[nodiscard]] bool contradicts(Cause cause, TestKind kind);

struct GroundTruth {
  std::array<KindCounts, kCauses> tests{};  ///< truth, then class
  /// Of the wrong ones: those that are right without slack for the original boxes, so that rounding has decided.
  std::uint64_t rounding = 0;

  [[nodiscard]] std::uint64_t total() const;
  [[nodiscard]] std::uint64_t wrong() const;      ///< contradicts
  [[nodiscard]] std::uint64_t undecided() const;  ///< class "R2 or R3"
};

struct SimulateOptions {
  std::string traversal = "near-first";
  bvh::BvhOptions structure;  ///< of the hardware; leaves of one primitive unless its builder's spec sets leaf_size
  bool any_hit_only = false;
  bool ground_truth = false;
  ClassifyOptions classify;
};

struct Simulation {
  Classification classification;
  GroundTruth truth;                       ///< ground_truth
  std::string traversal, builder, layout;  ///< resolved
};

[[nodiscard]] Simulation simulate(const trace::Trace& trace, std::uint32_t launch, const std::string& name,
                                  const SimulateOptions& options);

}  // namespace rayreplay::traversal
