#include "traversal/classification/classify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include "base/error.hpp"
#include "base/report_progress.hpp"
#include "capture/trace/launch_scene.hpp"
#include "traversal/classification/accumulator.hpp"
#include "traversal/classification/batch_judge.hpp"
#include "traversal/classification/judge.hpp"
#include "traversal/classification/opaque.hpp"
#include "traversal/classification/reported.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::traversal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
// A batch of this size takes a few hundred MB at most (observed.hpp).
constexpr std::uint64_t kBatchRays = 1U << 19U;
constexpr std::uint64_t kBatchEvents = 1U << 21U;
constexpr std::size_t kThreadGrain = 256;

/// Whether a more distant t* could change the kind of the test.
bool rests_on_t_star(TestKind kind) {
  return kind == TestKind::Overlap || kind == TestKind::Order || kind == TestKind::EnlargementOrOrder;
}

float closest_accepted(const Observed& observed, std::uint64_t ray) {
  float t = kInfinity;
  for (const ObservedTest& test : observed.tests.of(ray)) {
    for (const ObservedReport& report : observed.reports_of(test)) {
      if (report.accepted) {
        t = std::min(t, report.t);
      }
    }
  }
  return t;
}

class Classifier {
 public:
  Classifier(const trace::Trace& trace, const trace::Launch& launch, const std::string& name,
             const ClassifyOptions& options)
      : trace_(&trace),
        launch_(&launch),
        name_(name),
        options_(&options),
        scene_(bvh::prepare_scene(trace.scene, launch.tlas, name)),
        enlarged_(trace.scene, launch.tlas, name, {options.enlarged_layouts, options.enlarged_builders},
                  options.enlarge, options.progress),
        judge_(scene_, enlarged_, options.slack, options.slack, {.culls = options.culls}) {}

  Classification run() {
    Classification result;
    judge_twin.run(
        options_->accelerator, [&] { result = run_with(nullptr); }, scene_, enlarged_, judge_,
        [&](BatchJudge* elsewhere) { result = run_with(elsewhere); });
    return result;
  }

 private:
  /// Discards earlier counts. `elsewhere` judges the tests that it can; null: all are judged here.
  Classification run_with(BatchJudge* elsewhere) {
    begin(elsewhere);
    const std::uint64_t threads = launch_->data.threads();
    report_start(options_->progress, "classifying", threads);
    for (std::uint64_t first = 0; first < threads;) {
      const std::uint64_t last = batch_end(*launch_, first, kBatchRays, kBatchEvents);
      const Observed observed = observe(*launch_, first, last);
      classify_batch(observed, last, closest_hits(observed));
      report_advance(options_->progress, last - first);
      first = last;
    }
    sums_->finish(elsewhere_ != nullptr ? elsewhere_->objects() : std::vector<ObjectCounts>{});
    if (!launch_->data.events.ray.empty()) {
      // A ray's events may be interleaved with those of other rays.
      tbb::parallel_sort(result_.tests.begin(), result_.tests.end(),
                         [](const ClassifiedTest& a, const ClassifiedTest& b) { return a.event < b.event; });
    }
    report_finish(options_->progress);
    return std::move(result_);
  }

  void begin(BatchJudge* elsewhere) {
    result_ = {};
    result_.ignored = scene_.ignored;
    result_.slack = options_->slack;
    result_.enlarged = enlarged_.names();
    sums_.emplace(result_, launch_->data.threads(), launch_->data.rays.size(), options_->per_ray);
    elsewhere_ = elsewhere;
  }

  /// t* of each ray of the batch.
  std::vector<float> closest_hits(const Observed& observed) {
    std::vector<float> t_star(observed.rays.size(), kUnknown);
    assumed_.assign(observed.rays.size(), 0);
    std::vector<std::uint64_t> open;
    for (std::uint64_t ray = 0; ray < observed.rays.size(); ++ray) {
      const RayEnd end = observed.ends[ray];
      if (end == RayEnd::Miss) {
        t_star[ray] = kInfinity;
      } else if (end == RayEnd::ClosestHit && !observed.rays[ray].ends_on_first_hit()) {
        t_star[ray] = observed.hits[ray].t;
      } else if (!observed.tests.of(ray).empty() && is_traversable(observed.rays[ray])) {
        open.push_back(ray);
      }
    }
    if (!open.empty()) {
      replay(observed, open, t_star);
    }
    return t_star;
  }

  void replay(const Observed& observed, const std::vector<std::uint64_t>& rays, std::vector<float>& t_star) {
    if (!replay_bvh_) {
      bvh::BvhOptions options;
      options.progress = options_->progress;
      replay_bvh_ = bvh::build_bvh(trace_->scene, launch_->tlas, name_, options);
      ordered_ = Traversals::create("ordered").model;
    }
    std::vector<Ray> wanted;
    wanted.reserve(rays.size());
    for (const std::uint64_t ray : rays) {
      wanted.push_back(observed.rays[ray]);
      wanted.back().flags = static_cast<std::uint16_t>(wanted.back().flags & ~trace::kRayFlagTerminateOnFirstHit);
    }
    const ObservedShaders shaders(observed, rays);
    TraceOptions options;
    options.counters = false;
    options.shaders = &shaders;
    options.accelerator = options_->accelerator;
    options.on_device = &replay_on_device_;
    const TraceResult found = ordered_->trace(*replay_bvh_, wanted, options);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const float reported = closest_accepted(observed, rays[i]);
      t_star[rays[i]] = std::min(found.hits[i].t, reported);
      if (found.hits[i].t < reported && is_assumed(shaders, i, wanted[i], found.hits[i])) {
        ++result_.assumed_rays;
        assumed_[rays[i]] = 1;
      }
    }
    result_.replayed_rays += rays.size();
    result_.unobserved += shaders.unobserved();
  }

  /// Whether an any-hit shader would have decided on the hit, had the hardware tested it.
  [[nodiscard]] bool is_assumed(const ObservedShaders& shaders, std::size_t place, const Ray& ray,
                                const Hit& hit) const {
    const trace::Geometry& geometry = scene_.geometry(scene_.instances[hit.instance].blas, hit.geometry);
    return !shaders.knows(place, {hit.instance, hit.geometry, hit.primitive}) &&
           !is_opaque(ray, scene_.source(hit.instance), geometry);
  }

  void classify_batch(const Observed& observed, std::uint64_t last, const std::vector<float>& t_star) {
    const std::size_t first_test = result_.tests.size();
    if (options_->per_test) {
      result_.tests.resize(first_test + observed.tests.rows.size());
    }
    if (elsewhere_ != nullptr) {
      elsewhere_->begin({observed.first_thread, last - observed.first_thread, observed.first_ray, observed.rays.size(),
                         observed.tests.rows.size(), options_->per_test});
    }
    tbb::parallel_for(tbb::blocked_range<std::uint64_t>(observed.first_thread, last, kThreadGrain),
                      [&](const auto& threads) {
                        Accumulator::Worker& worker = sums_->local();
                        for (std::uint64_t thread = threads.begin(); thread < threads.end(); ++thread) {
                          classify_thread(observed, thread, t_star, worker, first_test);
                        }
                      });
    if (elsewhere_ != nullptr) {
      elsewhere_->judge(*sums_);
      if (options_->per_test) {
        take_verdicts(first_test);
      }
    }
    if (options_->per_ray) {
      std::copy(t_star.begin(), t_star.end(), result_.t_star.begin() + static_cast<std::ptrdiff_t>(observed.first_ray));
    }
  }

  /// Takes the verdicts of tests judged elsewhere.
  void take_verdicts(std::size_t first_test) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(first_test, result_.tests.size()), [&](const auto& tests) {
      for (std::size_t i = tests.begin(); i < tests.end(); ++i) {
        if (elsewhere_->judged(i - first_test)) {
          const Verdict verdict = elsewhere_->verdict(i - first_test);
          result_.tests[i].kind = verdict.kind;
          result_.tests[i].t_enter = verdict.t_enter;
        }
      }
    });
  }

  void classify_thread(const Observed& observed, std::uint64_t thread, const std::vector<float>& t_star,
                       Accumulator::Worker& worker, std::size_t first_test) {
    const auto& offset = launch_->data.ray_offset;
    for (std::uint64_t row = offset[thread]; row < offset[thread + 1]; ++row) {
      const std::uint64_t ray = row - observed.first_ray;
      const std::uint64_t first = observed.tests.offset[ray];
      const std::uint64_t end = observed.tests.offset[ray + 1];
      if (first == end) {
        continue;
      }
      const Ray& traced = observed.rays[ray];
      const bool traversable = is_traversable(traced);
      ++worker.tested_rays;
      if (elsewhere_ != nullptr) {
        elsewhere_->set_ray(ray, thread, traced, t_star[ray], assumed_[ray] != 0);
      }
      JudgedRay judged(traced);
      CountedTest counted;
      counted.thread = thread;
      counted.ray = row;
      counted.goal = traced.ends_on_first_hit() ? RayGoal::FirstHit : RayGoal::ClosestHit;
      for (std::uint64_t place = first; place < end; ++place) {
        const ObservedTest& test = observed.tests.rows[place];
        counted.candidate = test.test.candidate;
        counted.type = test.test.procedural ? PrimitiveType::Procedural : PrimitiveType::Triangle;
        count_any_hits(observed, test, traversable, t_star[ray], worker);
        Verdict verdict{TestKind::Necessary, kUnknown, false, false};
        bool done = false;
        if (traversable) {
          const ReportedHit reported = nearest_report(observed, test, traced);
          const JudgedTest made{test.test.candidate, reported.hit, reported.t, test.test.t_max, test.test.procedural};
          done = elsewhere_ != nullptr && elsewhere_->set_test(place, ray, made);
          if (!done) {
            verdict = judge_.judge(judged, made, t_star[ray]);
          }
        }
        if (!done) {
          worker.assumed_tests += assumed_[ray] != 0 && rests_on_t_star(verdict.kind) ? 1U : 0U;
          sums_->count(worker, counted, verdict);
        }
        if (options_->per_test) {
          result_.tests[first_test + place] = {test.event, row, verdict.kind, verdict.t_enter};
        }
      }
    }
  }

  void count_any_hits(const Observed& observed, const ObservedTest& test, bool traversable, float t_star,
                      Accumulator::Worker& worker) const {
    for (const ObservedReport& report : observed.reports_of(test)) {
      if (report.any_hit) {
        ++worker.any_hit_calls;
        worker.any_hits_beyond += traversable && judge_.beyond(report.t, t_star) ? 1U : 0U;
      }
    }
  }

  const trace::Trace* trace_;
  const trace::Launch* launch_;
  std::string name_;
  const ClassifyOptions* options_;
  bvh::PreparedScene scene_;
  EnlargedBoxes enlarged_;
  Judge judge_;
  Classification result_;
  std::optional<Accumulator> sums_;
  BatchJudge* elsewhere_ = nullptr;  ///< null: all tests are judged here
  std::optional<bvh::Bvh> replay_bvh_;
  DeviceSlot replay_on_device_;
  std::unique_ptr<Traversal> ordered_;
  std::vector<std::uint8_t> assumed_;  ///< of the rays of the batch: t* is that of a triangle taken to be accepted
};

}  // namespace

const trace::Launch& launch_with_scene(const trace::Trace& trace, std::uint32_t launch, const std::string& name) {
  if (launch >= trace.launches.size()) {
    throw Error(ErrorKind::Usage, {"there is no such launch", name, fmt::format("{}", launch),
                                   fmt::format("less than {}, the number of launches", trace.launches.size()), ""});
  }
  const trace::Launch& found = trace.launches[launch];
  trace::require_scene(trace.scene, found, fmt::format("{}:/launch/{}", name, launch));
  return found;
}

Classification classify(const trace::Trace& trace, std::uint32_t launch, const std::string& name,
                        const ClassifyOptions& options) {
  const trace::Launch& found = launch_with_scene(trace, launch, name);
  const auto& kinds = found.data.events.kind;
  const bool any = std::any_of(kinds.begin(), kinds.end(), [](trace::EventKind kind) {
    return kind == trace::EventKind::Intersection || kind == trace::EventKind::AnyHit;
  });
  if (!any) {
    throw Error(
        ErrorKind::Missing,
        {"the launch has no intersection test that a shader saw", fmt::format("{}:/launch/{}", name, launch), "",
         "calls of intersection or any-hit shaders", "capture with --observe-all, or simulate with --hardware"});
  }
  Classification result = Classifier(trace, found, name, options).run();
  result.ignored_rays = count_ignored(found.data.rays);
  return result;
}

}  // namespace rayreplay::traversal
