// Simulated observation: a traversal over a layout simulates hardware on a trace's rays, and the code for GPUs
// (classify.hpp) classifies its tests. The cause of every simulated test is known: the ground truth of the
// classification.
//
// Contract: `traversal` traces each ray of the launch over the structure of `structure`, with the trace's reports and
// any-hit decisions as shaders (ObservedShaders) and without own-box tests: the intersection shader is called whenever
// a leaf is entered, as by hardware that does not store the application's boxes. Every tested triangle and box
// primitive is an observed test; with `any_hit_only` only triangles that were hit and are not opaque, as a capture
// sees. t* is the closest accepted hit of the ordered traversal over exact boxes. Hits are those of the ray and
// primitive alone, independent of the ray's limit at the test: a triangle pierced in [t_min, t_max] of the trace call,
// a box primitive by all reports for (ray, candidate) (reported.hpp). The base kinds of a test are thus the same for
// every order and layout. The kind "before t_min" does not occur: traversals clip boxes to t_min, so such a box is
// tested only if enlarged.
//
// Ground truth (ground_truth.hpp) comes from counterfactual replays of the ray: ideal order or the hardware's, exact
// boxes or the hardware's (exact leaves hold one primitive; larger leaves share a box, which is an enlargement). The
// ideal order looks for the closest hit also for rays that end on their first (classify.hpp).
//
// Simulated tests are no events of the trace: `tests` and any-hit counts of the classification stay empty. Memory: a
// batch of rays with their tests. Four traversals a ray with ground truth, else two. Deterministic. Errors: those of
// classify; Usage for unknown models, and for a ground truth of the builder `high`, whose split leaves have no exact
// counterpart. A launch without observed tests can be simulated: boxes report nothing, any-hit shaders accept all.
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
  /// The classification does not know the hardware's boxes. Otherwise they are one of the models that separate "R2 or
  /// R3" from R3, in addition to those of `classify`.
  bool blind = false;
  ClassifyOptions classify;  ///< its accelerator, too
};

struct Simulation {
  Classification classification;
  GroundTruth truth;                       ///< ground_truth
  std::string traversal, builder, layout;  ///< resolved
};

/// Throws simulate's error for options without a ground truth.
void require_ground_truth(const SimulateOptions& options);

[[nodiscard]] Simulation simulate(const trace::Trace& trace, std::uint32_t launch, const std::string& name,
                                  const SimulateOptions& options);

}  // namespace rayreplay::traversal
