#include "traversal/observed.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

namespace rayreplay::traversal {
namespace {

using trace::EventKind;

constexpr std::size_t kThreadGrain = 1024;

/// State of a ray between its events.
enum class Place : std::uint8_t {
  Outside,       ///< no test open
  Test,          ///< in an intersection shader that has not reported, or whose report's any-hit is over
  Report,        ///< reported; its any-hit may follow
  ReportAnyHit,  ///< in the any-hit of a report
  AnyHit,        ///< in the any-hit of a triangle
};

/// State of a ray among its tests, event by event.
struct RayState {
  Place place = Place::Outside;
  Candidate open;             ///< of the test in progress
  std::uint64_t tests = 0;    ///< next row of Observed::tests
  std::uint64_t reports = 0;  ///< next row of Observed::reports
};

Candidate candidate_of(const trace::Events& events, std::uint64_t event) {
  return {events.instance[event], events.geometry.empty() ? 0U : events.geometry[event], events.primitive[event]};
}

/// Calls visit(ray of the thread, event row) for the events of `thread` that belong to a ray.
template <class Visit>
void for_ray_events(const trace::ThreadData& data, std::uint64_t thread, const Visit& visit) {
  const trace::Events& events = data.events;
  const std::uint64_t rays = data.ray_offset[thread + 1] - data.ray_offset[thread];
  std::uint64_t begun = 0;
  for (std::uint64_t event = data.event_offset[thread]; event < data.event_offset[thread + 1]; ++event) {
    const EventKind kind = events.kind[event];
    if (trace::begins_ray(kind)) {
      ++begun;
    }
    const std::uint64_t ray = events.ray.empty() ? begun - 1 : events.ray[event];
    if (ray < rays) {  // a Callable or Reorder may belong to no ray
      visit(ray, event, kind);
    }
  }
}

struct Step {
  bool test = false;    ///< a new one
  bool report = false;  ///< a new one
};

/// Advances the state by one event. An AnyHit right after a report belongs to it only for the same candidate: a refused
/// report calls no any-hit, and the next event may be a triangle's.
Step advance(RayState& state, const trace::Events& events, std::uint64_t event) {
  switch (events.kind[event]) {
    case EventKind::Intersection:
      state.place = Place::Test;
      state.open = candidate_of(events, event);
      return {true, false};
    case EventKind::ReportIntersection:
      state.place = Place::Report;
      return {false, true};
    case EventKind::AnyHit:
      if (state.place == Place::Report && state.open == candidate_of(events, event)) {
        state.place = Place::ReportAnyHit;
        return {};
      }
      state.place = Place::AnyHit;
      state.open = candidate_of(events, event);
      return {true, true};
    case EventKind::IgnoreIntersection:
    case EventKind::TerminateRay:
      state.place = state.place == Place::ReportAnyHit ? Place::Test : Place::Outside;
      return {};
    default:
      state.place = Place::Outside;
      return {};
  }
}

/// Whether a report at `a` is nearer than one at `b`; any number is nearer than none.
bool nearer(float a, float b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}

class Filler {
 public:
  Filler(const trace::Launch& launch, Observed& observed) : data_(&launch.data), observed_(&observed) {}

  /// `first`: the thread's first ray in `observed`.
  void fill(std::uint64_t thread, std::uint64_t first, std::vector<RayState>& states,
            const std::vector<std::uint64_t>& first_report) {
    states.assign(data_->ray_offset[thread + 1] - data_->ray_offset[thread], {});
    for (std::size_t i = 0; i < states.size(); ++i) {
      states[i].tests = observed_->tests.offset[first + i];
      states[i].reports = first_report[first + i];
    }
    for_ray_events(*data_, thread, [&](std::uint64_t ray, std::uint64_t event, EventKind kind) {
      visit(first + ray, states[ray], event, kind);
    });
    for (std::size_t i = 0; i < states.size(); ++i) {
      finish(first + i);
    }
  }

 private:
  void visit(std::uint64_t ray, RayState& state, std::uint64_t event, EventKind kind) {
    const trace::Events& events = data_->events;
    const Step step = advance(state, events, event);
    if (step.test) {
      if (kind == EventKind::Intersection) {
        ++observed_->counters[ray].procedurals;
      }
      ObservedTest& test = observed_->tests.rows[state.tests++];
      test.test.candidate = state.open;
      test.test.procedural = kind == EventKind::Intersection;
      test.test.t_max = events.t[event];
      test.first_report = state.reports;
      test.event = event;
    }
    if (step.report) {
      ++observed_->tests.rows[state.tests - 1].reports;
      const bool triangle = kind == EventKind::AnyHit;
      observed_->reports[state.reports++] = {events.t[event], events.hit_kind[event],
                                             triangle || events.accepted[event] != 0, triangle, false};
    }
    switch (kind) {
      case EventKind::AnyHit:
        ++observed_->counters[ray].any_hits;
        observed_->reports[state.reports - 1].any_hit = true;
        break;
      case EventKind::IgnoreIntersection:
        observed_->reports[state.reports - 1].accepted = false;
        break;
      case EventKind::TerminateRay:
        observed_->reports[state.reports - 1].accepted = true;
        observed_->reports[state.reports - 1].ended = true;
        break;
      case EventKind::OcclusionBegin:
        observed_->ends[ray] = RayEnd::ImplicitHit;
        break;
      case EventKind::Miss:
        observed_->ends[ray] = RayEnd::Miss;
        break;
      case EventKind::ClosestHit:
        observed_->ends[ray] = RayEnd::ClosestHit;
        observed_->hits[ray] = {.t = events.t[event],
                                .instance = events.instance[event],
                                .geometry = events.geometry.empty() ? 0U : events.geometry[event],
                                .primitive = events.primitive[event],
                                .hit_kind = events.hit_kind[event]};
        break;
      default:
        break;
    }
  }

  /// Decides the results of the ray's tests, with all ignores and accepts known.
  void finish(std::uint64_t ray) {
    const float t_min = observed_->rays[ray].t_min;
    float t_max = observed_->rays[ray].t_max;
    const ObservedReport* last = nullptr;
    Candidate of_last;
    const auto& offset = observed_->tests.offset;
    for (std::uint64_t row = offset[ray]; row < offset[ray + 1]; ++row) {
      ObservedTest& observed = observed_->tests.rows[row];
      PrimitiveTest& test = observed.test;
      if (test.procedural) {
        t_max = test.t_max;
      } else {
        test.t_max = t_max;
      }
      bool found = false;
      for (const ObservedReport& report : observed_->reports_of(observed)) {
        const bool hit = report.accepted || !test.procedural || (report.t >= t_min && report.t <= test.t_max);
        const auto rank = [](bool accepted, bool in_range) { return accepted ? 2 : in_range ? 1 : 0; };
        const int now = rank(report.accepted, hit);
        const int before = found ? rank(test.accepted, test.hit) : -1;
        // The last accepted report counts; without one, the nearest.
        if (now > before || (now == before && (now == 2 || nearer(report.t, test.t)))) {
          test.t = report.t;
          test.hit = hit;
          test.accepted = report.accepted;
          found = true;
        }
        if (report.accepted) {
          t_max = std::min(t_max, report.t);
          last = &report;
          of_last = test.candidate;
        }
      }
    }
    if (observed_->ends[ray] == RayEnd::ImplicitHit && last != nullptr) {
      observed_->hits[ray] = {.t = last->t,
                              .instance = of_last.instance,
                              .geometry = of_last.geometry,
                              .primitive = of_last.primitive,
                              .hit_kind = last->hit_kind};
    }
  }

  const trace::ThreadData* data_;
  Observed* observed_;
};

/// Runs body(first, last) over parts of [0, count).
template <class Body>
void in_parallel(std::uint64_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count, kThreadGrain),
                    [&](const auto& range) { body(range.begin(), range.end()); });
}

}  // namespace

TraceResult Observed::result() const {
  TraceResult result;
  result.hits = hits;
  result.counters = counters;
  result.tests.offset = tests.offset;
  result.tests.rows.reserve(tests.rows.size());
  for (const ObservedTest& test : tests.rows) {
    result.tests.rows.push_back(test.test);
  }
  result.accesses.blocks.resize((rays.size() + AccessLog::kRays - 1) / AccessLog::kRays);
  result.accesses.end.assign(rays.size(), 0);
  result.ignored_rays = ignored_rays;
  return result;
}

namespace {

/// thread_at(i) for i in [0, threads); first_at(i): its first ray among `rays`.
template <class ThreadAt, class FirstAt>
void observe_threads(const trace::Launch& launch, std::uint64_t threads, std::uint64_t rays, const ThreadAt& thread_at,
                     const FirstAt& first_at, Observed& observed) {
  const trace::ThreadData& data = launch.data;
  observed.rays.resize(rays);
  observed.hits.resize(rays);
  observed.ends.assign(rays, RayEnd::None);
  observed.counters.resize(rays);
  observed.tests.offset.assign(rays + 1, 0);
  std::vector<std::uint64_t> first_report(rays + 1, 0);
  in_parallel(threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::vector<RayState> states;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t thread = thread_at(i);
      const std::uint64_t first = first_at(i);
      states.assign(data.ray_offset[thread + 1] - data.ray_offset[thread], {});
      for_ray_events(data, thread, [&](std::uint64_t ray, std::uint64_t event, EventKind /*kind*/) {
        const Step step = advance(states[ray], data.events, event);
        observed.tests.offset[first + ray + 1] += step.test ? 1U : 0U;
        first_report[first + ray + 1] += step.report ? 1U : 0U;
      });
      for (std::size_t ray = 0; ray < states.size(); ++ray) {
        observed.rays[first + ray] = ray_of(data.rays, data.ray_offset[thread] + ray);
      }
    }
  });
  for (std::uint64_t ray = 0; ray < rays; ++ray) {
    observed.tests.offset[ray + 1] += observed.tests.offset[ray];
    first_report[ray + 1] += first_report[ray];
    observed.ignored_rays += is_traversable(observed.rays[ray]) ? 0U : 1U;
  }
  observed.tests.rows.resize(observed.tests.offset.back());
  observed.reports.resize(first_report.back());
  in_parallel(threads, [&](std::uint64_t begin, std::uint64_t end) {
    Filler filler(launch, observed);
    std::vector<RayState> states;
    for (std::uint64_t i = begin; i < end; ++i) {
      filler.fill(thread_at(i), first_at(i), states, first_report);
    }
  });
}

}  // namespace

Observed observe(const trace::Launch& launch, std::uint64_t first_thread, std::uint64_t last_thread) {
  const auto& offset = launch.data.ray_offset;
  Observed observed;
  observed.first_thread = first_thread;
  observed.first_ray = offset[first_thread];
  observe_threads(
      launch, last_thread - first_thread, offset[last_thread] - observed.first_ray,
      [&](std::uint64_t i) { return first_thread + i; },
      [&](std::uint64_t i) { return offset[first_thread + i] - observed.first_ray; }, observed);
  return observed;
}

Observed observe(const trace::Launch& launch, std::span<const std::uint32_t> threads) {
  const auto& offset = launch.data.ray_offset;
  std::vector<std::uint64_t> first(threads.size() + 1, 0);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    first[i + 1] = first[i] + offset[std::size_t{threads[i]} + 1] - offset[threads[i]];
  }
  Observed observed;
  observe_threads(
      launch, threads.size(), first.back(), [&](std::uint64_t i) { return std::uint64_t{threads[i]}; },
      [&](std::uint64_t i) { return first[i]; }, observed);
  return observed;
}

std::uint64_t batch_end(const trace::Launch& launch, std::uint64_t first_thread, std::uint64_t rays,
                        std::uint64_t events) {
  const trace::ThreadData& data = launch.data;
  const auto end_of = [&](const trace::Column<std::uint64_t>& offset, std::uint64_t count) {
    const auto begin = offset.begin() + static_cast<std::ptrdiff_t>(first_thread);
    const std::uint64_t limit =
        std::numeric_limits<std::uint64_t>::max() - count < *begin ? offset.back() : *begin + count;
    return static_cast<std::uint64_t>(std::upper_bound(begin, offset.end(), limit) - offset.begin()) - 1;
  };
  return std::max(first_thread + 1, std::min(end_of(data.ray_offset, rays), end_of(data.event_offset, events)));
}

ObservedShaders::ObservedShaders(const Observed& observed, std::span<const std::uint64_t> rays)
    : observed_(&observed), ray_of_place_(rays.begin(), rays.end()) {
  by_candidate_.resize(observed.tests.rows.size());
  in_parallel(observed.rays.size(), [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t ray = begin; ray < end; ++ray) {
      const auto first = by_candidate_.begin() + static_cast<std::ptrdiff_t>(observed.tests.offset[ray]);
      const auto last = by_candidate_.begin() + static_cast<std::ptrdiff_t>(observed.tests.offset[ray + 1]);
      std::uint64_t row = observed.tests.offset[ray];
      for (auto it = first; it != last; ++it) {
        *it = row++;
      }
      std::sort(first, last, [&](std::uint64_t a, std::uint64_t b) {
        const auto order = observed.tests.rows[a].test.candidate <=> observed.tests.rows[b].test.candidate;
        return order != 0 ? order < 0 : a < b;
      });
    }
  });
}

std::span<const std::uint64_t> ObservedShaders::calls_of(std::size_t place, const Candidate& candidate) const {
  const std::uint64_t ray = ray_of_place_.empty() ? place : ray_of_place_[place];
  const auto& offset = observed_->tests.offset;
  const auto rows = std::span(by_candidate_).subspan(offset[ray], offset[ray + 1] - offset[ray]);
  const auto candidate_of = [&](std::uint64_t row) -> const Candidate& {
    return observed_->tests.rows[row].test.candidate;
  };
  // Not std::ranges::equal_range: Clang 14, the preset fuzz's, cannot compile libstdc++ 12's.
  return {std::ranges::lower_bound(rows, candidate, {}, candidate_of),
          std::ranges::upper_bound(rows, candidate, {}, candidate_of)};
}

Report ObservedShaders::intersect(std::size_t place, const Candidate& candidate, float t_max) const {
  const auto calls = calls_of(place, candidate);
  if (calls.empty()) {
    unobserved_.fetch_add(1, std::memory_order_relaxed);
    return {};
  }
  const float t_min = observed_->rays[ray_of_place_.empty() ? place : ray_of_place_[place]].t_min;
  Report best;
  bool best_ignored = true;
  for (const std::uint64_t row : calls) {
    const ObservedTest& call = observed_->tests.rows[row];
    if (!call.test.procedural) {
      continue;
    }
    for (const ObservedReport& report : observed_->reports_of(call)) {
      if (!(report.t >= t_min && report.t <= t_max)) {
        continue;
      }
      const bool better =
          !best.found || (best_ignored && !report.ignored()) || (best_ignored == report.ignored() && report.t < best.t);
      if (better) {
        best = {true, report.t, report.hit_kind};
        best_ignored = report.ignored();
      }
    }
  }
  return best;
}

bool ObservedShaders::accept(std::size_t place, const Candidate& candidate, float t, std::uint8_t hit_kind) const {
  const auto calls = calls_of(place, candidate);
  bool seen = false;
  for (const std::uint64_t row : calls) {
    const ObservedTest& call = observed_->tests.rows[row];
    for (const ObservedReport& report : observed_->reports_of(call)) {
      const bool same = !call.test.procedural || (report.t == t && report.hit_kind == hit_kind);
      if (same && !report.ignored()) {
        return true;
      }
      seen |= same;
    }
  }
  if (calls.empty()) {
    unobserved_.fetch_add(1, std::memory_order_relaxed);
  }
  return !seen;
}

}  // namespace rayreplay::traversal
