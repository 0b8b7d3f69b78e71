// Simulated observation: a traversal over a layout plays the hardware on a trace's rays, and its tests are classified
// by the same code as a GPU's (classify.hpp). As everything about this hardware is known, so is the cause of every
// test: the ground truth for the classification.
//
// Contract: each ray of the launch is traced by `traversal` over the structure that `structure` describes, with the
// trace's reports and any-hit decisions as shaders (ObservedShaders) and without own-box tests: this hardware calls an
// intersection shader whenever it enters the leaf, as hardware that does not keep the application's boxes must. Every
// triangle and every box primitive it tests is an observed test; with `any_hit_only` of the triangles only those that
// were hit and are not opaque to the ray, which is all that a capture would see. t* is the closest accepted hit that
// the ordered traversal finds over exact boxes. Whether and where the ray hits the primitive is asked of the ray and
// the primitive alone, whatever the ray's limit was when the test was made: a triangle where it is pierced in [t_min,
// t_max] of the trace call, a box primitive by all reports that the trace has for (ray, candidate) (reported.hpp). So
// the base kinds of a test are the same for every order and layout that makes it. No test is of the kind before t_min:
// all traversals clip boxes to t_min, so they test a box left before t_min only if it was enlarged.
//
// Ground truth of a test (ground_truth.hpp), by counterfactual replays of its ray: in the ideal order or the
// hardware's, over exact boxes or the hardware's (leaves of one primitive in the exact structure; leaves of several
// share a box, which is an enlargement).
// The ideal order looks for the closest hit also where a ray ends on its first (classify.hpp).
//
// Simulated tests are no events of the trace: `tests` of the classification stays empty, and so do its any-hit counts.
// Memory: a batch of rays with their tests. Four traversals a ray with ground truth, else two. Deterministic. Errors:
// those of classify; Usage for unknown models, and for a ground truth of the builder `high`, whose spatial splits make
// leaves that have no exact counterpart. A launch without observed tests can be simulated: its boxes then report
// nothing and its any-hit shaders accept everything.
#pragma once

#include <cstdint>
#include <string>

#include "bvh/bvh.hpp"
#include "traversal/classification/classify.hpp"
#include "traversal/classification/ground_truth.hpp"

namespace rayreplay::traversal {

struct SimulateOptions {
  std::string traversal = "near-first";
  bvh::BvhOptions structure;  ///< of the hardware; leaves of one primitive unless its builder's spec sets leaf_size
  bool any_hit_only = false;
  bool ground_truth = false;
  /// The classification is not told what structure the hardware has. Otherwise the hardware's own boxes are one of the
  /// models that separate "R2 or R3" from R3, beside those of `classify`.
  bool blind = false;
  ClassifyOptions classify;  ///< its accelerator, too
};

struct Simulation {
  Classification classification;
  GroundTruth truth;                       ///< ground_truth
  std::string traversal, builder, layout;  ///< resolved
};

/// Throws what simulate does about options that no ground truth exists for.
void require_ground_truth(const SimulateOptions& options);

[[nodiscard]] Simulation simulate(const trace::Trace& trace, std::uint32_t launch, const std::string& name,
                                  const SimulateOptions& options);

}  // namespace rayreplay::traversal
