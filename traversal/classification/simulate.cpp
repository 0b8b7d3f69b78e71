#include "traversal/classification/simulate.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/report_progress.hpp"
#include "traversal/classification/accumulator.hpp"
#include "traversal/classification/batch_judge.hpp"
#include "traversal/classification/opaque.hpp"
#include "traversal/classification/reported.hpp"
#include "traversal/classification/spec.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::traversal {
namespace {

constexpr std::uint64_t kBatchRays = 1U << 16U;
constexpr std::uint64_t kBatchEvents = 1U << 20U;
constexpr std::size_t kThreadGrain = 64;
constexpr const char* kExactLayout = "wide-8";
constexpr const char* kSplittingBuilder = "high";

bvh::BvhOptions hardware_options(const SimulateOptions& options) {
  bvh::BvhOptions structure = options.structure;
  structure.builder = with_setting(structure.builder, "leaf_size", 1);
  structure.progress = options.classify.progress;
  return structure;
}

/// The same tree in exact boxes: the hardware's builder with the branching of its layout.
bvh::BvhOptions exact_options(const SimulateOptions& options, const bvh::Bvh& hardware) {
  bvh::BvhOptions structure;
  structure.builder = with_setting(options.structure.builder, "branching", hardware.traits.width);
  structure.layout = kExactLayout;
  structure.node_order = options.structure.node_order;
  structure.leaf_size = 1;
  structure.progress = options.classify.progress;
  return structure;
}

/// All traversals clip boxes to t_min (MODELS.md §10).
KnownHardware known_hardware(const SimulateOptions& options) {
  return {.culls = options.classify.culls, .clips = true};
}

EnlargedBoxes enlarged_boxes(const trace::Trace& trace, const trace::Launch& launch, const std::string& name,
                             const SimulateOptions& options, const bvh::Bvh& hardware) {
  const ClassifyOptions& classify = options.classify;
  EnlargedBoxes boxes(trace.scene, launch.tlas, name, {classify.enlarged_layouts, classify.enlarged_builders},
                      classify.enlarge, classify.progress);
  if (!options.blind) {
    boxes.add(hardware);
  }
  return boxes;
}

/// The candidates that one ray tested.
class CandidateSet {
 public:
  void assign(std::span<const PrimitiveTest> tests) {
    candidates_.clear();
    for (const PrimitiveTest& test : tests) {
      candidates_.push_back(test.candidate);
    }
    std::sort(candidates_.begin(), candidates_.end());
  }
  [[nodiscard]] bool has(const Candidate& candidate) const {
    return std::binary_search(candidates_.begin(), candidates_.end(), candidate);
  }

 private:
  std::vector<Candidate> candidates_;
};

class Simulator {
 public:
  Simulator(const trace::Trace& trace, const trace::Launch& launch, const std::string& name,
            const SimulateOptions& options)
      : launch_(&launch),
        options_(&options),
        hardware_(bvh::build_bvh(trace.scene, launch.tlas, name, hardware_options(options))),
        exact_(bvh::build_bvh(trace.scene, launch.tlas, name, exact_options(options, hardware_))),
        order_(Traversals::create(options.traversal)),
        ideal_(Traversals::create("ordered")),
        enlarged_(enlarged_boxes(trace, launch, name, options, hardware_)),
        judge_(exact_.scene, enlarged_, options.classify.slack, options.classify.slack, known_hardware(options)),
        strict_(exact_.scene, enlarged_, 0, options.classify.slack, known_hardware(options)) {
    hardware_.own_boxes = false;
    exact_.own_boxes = false;  // leaves hold one primitive: the leaf's box is its own
  }

  Simulation run() {
    Simulation result;
    judge_twin.run(
        options_->classify.accelerator, [&] { result = run_with(nullptr); }, exact_.scene, enlarged_, judge_,
        [&](BatchJudge* elsewhere) { result = run_with(elsewhere); });
    return result;
  }

 private:
  /// Discards earlier counts. `elsewhere` judges the tests that it can; null: all are judged here.
  Simulation run_with(BatchJudge* elsewhere) {
    begin(elsewhere);
    const std::uint64_t threads = launch_->data.threads();
    Progress* const progress = options_->classify.progress;
    report_start(progress, "simulating", threads);
    for (std::uint64_t first = 0; first < threads;) {
      const std::uint64_t last = batch_end(*launch_, first, kBatchRays, kBatchEvents);
      run_batch(observe(*launch_, first, last), last);
      report_advance(progress, last - first);
      first = last;
    }
    sums_->finish(elsewhere_ != nullptr ? elsewhere_->objects() : std::vector<ObjectCounts>{});
    for (const GroundTruth& part : truths_) {
      result_.truth.add(part);
    }
    report_finish(progress);
    return std::move(result_);
  }

  void begin(BatchJudge* elsewhere) {
    result_ = {};
    result_.traversal = order_.spec;
    result_.builder = hardware_.builder;
    result_.layout = hardware_.layout_spec;
    result_.classification.ignored = exact_.scene.ignored;
    result_.classification.slack = options_->classify.slack;
    result_.classification.enlarged = enlarged_.names();
    sums_.emplace(result_.classification, launch_->data.threads(), launch_->data.rays.size(),
                  options_->classify.per_ray);
    truths_.clear();
    elsewhere_ = elsewhere;
  }

  struct Batch {
    const Observed* observed = nullptr;
    TraceResult made;                            ///< the hardware's
    TraceResult ideal_exact;                     ///< gives t* as well
    TraceResult ideal_enlarged, hardware_exact;  ///< ground truth
  };

  [[nodiscard]] TraceResult trace(const Traversal& traversal, const bvh::Bvh& structure, const std::vector<Ray>& rays,
                                  const Shaders& shaders, bool tests) const {
    TraceOptions options;
    options.counters = false;
    options.tests = tests;
    options.shaders = &shaders;
    options.accelerator = options_->classify.accelerator;
    return traversal.trace(structure, rays, options);
  }

  void run_batch(const Observed& observed, std::uint64_t last) {
    std::vector<Ray> closest = observed.rays;
    for (Ray& ray : closest) {
      ray.flags = static_cast<std::uint16_t>(ray.flags & ~trace::kRayFlagTerminateOnFirstHit);
    }
    const ObservedShaders shaders(observed);
    Batch batch;
    batch.observed = &observed;
    batch.made = trace(*order_.model, hardware_, observed.rays, shaders, true);
    batch.ideal_exact = trace(*ideal_.model, exact_, closest, shaders, options_->ground_truth);
    if (options_->ground_truth) {
      batch.ideal_enlarged = trace(*ideal_.model, hardware_, closest, shaders, true);
      batch.hardware_exact = trace(*order_.model, exact_, observed.rays, shaders, true);
    }
    if (elsewhere_ != nullptr) {
      elsewhere_->begin({observed.first_thread, last - observed.first_thread, observed.first_ray, observed.rays.size(),
                         batch.made.tests.rows.size(), options_->ground_truth});
    }
    judge_rays(batch, last, Pass::Judge);
    if (elsewhere_ != nullptr) {
      elsewhere_->judge(*sums_);
      if (options_->ground_truth) {
        judge_rays(batch, last, Pass::Verdicts);
      }
    }
    if (options_->classify.per_ray) {
      for (std::size_t i = 0; i < closest.size(); ++i) {
        result_.classification.t_star[observed.first_ray + i] = batch.ideal_exact.hits[i].t;
      }
    }
  }

  enum class Pass {
    Judge,     ///< every test, or the tests that the device refuses
    Verdicts,  ///< verdicts of the device, compared with the ground truth
  };

  void judge_rays(const Batch& batch, std::uint64_t last, Pass pass) {
    tbb::parallel_for(tbb::blocked_range<std::uint64_t>(batch.observed->first_thread, last, kThreadGrain),
                      [&](const auto& threads) {
                        Workspace& workspace = workspaces_.local();
                        for (std::uint64_t thread = threads.begin(); thread < threads.end(); ++thread) {
                          for (std::uint64_t row = launch_->data.ray_offset[thread];
                               row < launch_->data.ray_offset[thread + 1]; ++row) {
                            judge_ray(batch, thread, row, pass, workspace);
                          }
                        }
                      });
  }

  struct Workspace {
    RayReports reports;
    CandidateSet ideal_exact, ideal_enlarged, hardware_exact;
  };

  /// Whether a capture would have seen the test.
  [[nodiscard]] bool is_seen(const PrimitiveTest& test, const Ray& ray) const {
    if (!options_->any_hit_only || test.procedural) {
      return true;
    }
    const trace::Instance& source = exact_.scene.source(test.candidate.instance);
    const trace::Geometry& geometry =
        exact_.scene.geometry(exact_.scene.instances[test.candidate.instance].blas, test.candidate.geometry);
    return test.hit && !is_opaque(ray, source, geometry);
  }

  void judge_ray(const Batch& batch, std::uint64_t thread, std::uint64_t row, Pass pass, Workspace& workspace) {
    const std::uint64_t place = row - batch.observed->first_ray;
    const auto tests = batch.made.tests.of(place);
    if (tests.empty()) {
      return;
    }
    const Ray& ray = batch.observed->rays[place];
    const float t_star = batch.ideal_exact.hits[place].t;
    Accumulator::Worker& worker = sums_->local();
    if (pass == Pass::Judge) {
      ++worker.tested_rays;
      if (elsewhere_ != nullptr) {
        elsewhere_->set_ray(place, thread, ray, t_star, false);
      }
    }
    workspace.reports.assign(*batch.observed, place);
    if (options_->ground_truth) {
      workspace.ideal_exact.assign(batch.ideal_exact.tests.of(place));
      workspace.ideal_enlarged.assign(batch.ideal_enlarged.tests.of(place));
      workspace.hardware_exact.assign(batch.hardware_exact.tests.of(place));
    }
    JudgedRay judged(ray);
    CountedTest counted;
    counted.thread = thread;
    counted.ray = row;
    counted.goal = ray.ends_on_first_hit() ? RayGoal::FirstHit : RayGoal::ClosestHit;
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const PrimitiveTest& test = tests[i];
      const std::uint64_t test_row = batch.made.tests.offset[place] + i;
      if (!is_seen(test, ray) || (pass == Pass::Verdicts && !elsewhere_->judged(test_row))) {
        continue;
      }
      counted.candidate = test.candidate;
      counted.type = test.procedural ? PrimitiveType::Procedural : PrimitiveType::Triangle;
      const ReportedHit hit = test.procedural ? workspace.reports.of(test.candidate) : pierced(test, ray);
      const JudgedTest made{test.candidate, hit.hit, hit.t, test.t_max, test.procedural};
      if (pass == Pass::Judge && elsewhere_ != nullptr && elsewhere_->set_test(test_row, place, made)) {
        continue;
      }
      const Verdict verdict =
          pass == Pass::Verdicts ? elsewhere_->verdict(test_row) : judge_.judge(judged, made, t_star);
      if (pass == Pass::Judge) {
        sums_->count(worker, counted, verdict);
      }
      if (options_->ground_truth) {
        const Cause cause =
            workspace.ideal_exact.has(test.candidate)
                ? base_cause(brute_force_hit(exact_.scene, *batch.observed, place, test.candidate), t_star)
                : cause_of(test.candidate, workspace);
        GroundTruth& truth = truths_.local();
        ++truth.tests[static_cast<std::size_t>(cause)][static_cast<std::size_t>(verdict.kind)];
        if (contradicts(cause, verdict.kind) && strict_.judge(judged, made, t_star).kind != verdict.kind) {
          ++truth.rounding;
        }
      }
    }
  }

  /// The ray's crossing of the triangle, within the current limit or beyond.
  [[nodiscard]] static ReportedHit pierced(const PrimitiveTest& test, const Ray& ray) {
    return test.t >= ray.t_min && test.t <= ray.t_max && std::isfinite(test.t) ? ReportedHit{true, test.t}
                                                                               : ReportedHit{};
  }

  /// The cause of a test that the ideal order over exact boxes does not make.
  [[nodiscard]] static Cause cause_of(const Candidate& candidate, const Workspace& workspace) {
    const bool by_boxes = workspace.ideal_enlarged.has(candidate);
    const bool by_order = workspace.hardware_exact.has(candidate);
    if (by_boxes && by_order) {
      return Cause::Either;
    }
    return by_boxes ? Cause::Enlargement : by_order ? Cause::Order : Cause::Joint;
  }

  const trace::Launch* launch_;
  const SimulateOptions* options_;
  bvh::Bvh hardware_;
  bvh::Bvh exact_;
  Traversals::Created order_;
  Traversals::Created ideal_;
  EnlargedBoxes enlarged_;
  Judge judge_;
  Judge strict_;  ///< without slack for the original boxes
  Simulation result_;
  std::optional<Accumulator> sums_;
  BatchJudge* elsewhere_ = nullptr;  ///< null: all tests are judged here
  tbb::enumerable_thread_specific<Workspace> workspaces_;
  tbb::enumerable_thread_specific<GroundTruth> truths_;
};

}  // namespace

void require_ground_truth(const SimulateOptions& options) {
  if (options.ground_truth && parse_spec(options.structure.builder).name == kSplittingBuilder) {
    throw Error(ErrorKind::Usage, {"there is no ground truth for a builder with spatial splits",
                                   "the hardware's builder", options.structure.builder, "low, medium or median",
                                   "leaves of split primitives have no exact counterpart to compare with; without "
                                   "the ground truth this hardware can be simulated"});
  }
}

Simulation simulate(const trace::Trace& trace, std::uint32_t launch, const std::string& name,
                    const SimulateOptions& options) {
  require_ground_truth(options);
  const trace::Launch& found = launch_with_scene(trace, launch, name);
  Simulation simulation = Simulator(trace, found, name, options).run();
  simulation.classification.ignored_rays = count_ignored(found.data.rays);
  return simulation;
}

}  // namespace rayreplay::traversal
