// Observed traversal: what the trace recorded of each ray's traversal, as a traversal of its own, and the shaders that
// answer as they did then.
//
// Contract: `observe` reads the events of consecutive threads of a launch. One test for each Intersection event, and
// one for each AnyHit event that follows no report of its ray and of the same candidate: a triangle's, which stands in
// for the test that no shader sees. Tests of a ray keep the order in which they happened, also where events of other
// rays of the thread stand between them (Events::ray). A candidate that the hardware offered twice is two tests. Of a
// test,
// - `candidate`, `procedural` (made by an intersection shader) and `event` are as recorded;
// - `t_max` is the ray's when the test was made: recorded by an Intersection; of a triangle's any-hit the lowest that
//   was recorded for the ray before it (opaque hits leave no record, so the true one may be lower);
// - `reports` has one row for each report of an intersection shader, in order, and one for a triangle's any-hit;
// - `t` is that of the report that counts: the last accepted one; else the nearest that lies in [t_min, t_max]; else
//   the nearest at all. `hit`: it lies in [t_min, t_max] or was accepted; always for a triangle. `accepted`: some was.
// A report is accepted if the trace says so and its any-hit shader did not ignore it; a triangle's any-hit is unless it
// ignored.
//
// `hits`: of rays with a ClosestHit event that event's hit; of rays that skip the closest hit and never reached Miss
// (ImplicitHit) the last accepted report's, if any was recorded: otherwise the ray hit something, but nobody knows
// what. Barycentrics are not recorded: 0. Counters: `procedurals` are Intersection events, `any_hits` AnyHit events;
// the rest is not observable and 0. Memory: about 70 bytes a test and 80 a ray, so callers with large launches go in
// batches of threads (`batch_end`). O(events), parallel over threads, deterministic. Source: MODELS.md §2 and §8.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/trace/trace.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {

struct ObservedReport {
  float t = 0;
  std::uint8_t hit_kind = 0;
  bool accepted = false;
  bool any_hit = false;  ///< its any-hit shader was called
  bool ended = false;    ///< which ended the ray

  [[nodiscard]] bool ignored() const {
    return any_hit && !accepted;
  }
  bool operator==(const ObservedReport&) const = default;
};

struct ObservedTest {
  PrimitiveTest test;
  std::uint32_t reports = 0;
  std::uint64_t first_report = 0;  ///< row of Observed::reports
  std::uint64_t event = 0;         ///< row of the launch's events: the Intersection, or the triangle's AnyHit

  bool operator==(const ObservedTest&) const = default;
};

enum class RayEnd : std::uint8_t {
  None,         ///< neither Miss nor ClosestHit: the shader binding table names no shader there
  Miss,         ///< reached a miss shader
  ClosestHit,   ///< reached a closest-hit shader
  ImplicitHit,  ///< skipped the closest hit and reached no miss shader
};

/// Ray i is row first_ray + i of the launch's rays; of a list of threads, their rays one thread after the other.
struct Observed {
  std::uint64_t first_thread = 0;  ///< 0 for a list
  std::uint64_t first_ray = 0;     ///< 0 for a list
  std::vector<Ray> rays;
  std::vector<Hit> hits;
  std::vector<RayEnd> ends;
  std::vector<RayCounters> counters;
  RayRows<ObservedTest> tests;
  std::vector<ObservedReport> reports;
  std::uint64_t ignored_rays = 0;  ///< not traversable

  [[nodiscard]] std::span<const ObservedReport> reports_of(const ObservedTest& test) const {
    return std::span(reports).subspan(test.first_report, test.reports);
  }
  /// In the form in which traversals answer.
  [[nodiscard]] TraceResult result() const;
};

/// Threads [first_thread, last_thread).
[[nodiscard]] Observed observe(const trace::Launch& launch, std::uint64_t first_thread, std::uint64_t last_thread);
/// A list of threads, each at most once.
[[nodiscard]] Observed observe(const trace::Launch& launch, std::span<const std::uint32_t> threads);

/// The end of the batch of threads that starts at `first_thread`: as many as have at most `rays` rays and `events`
/// events together, but at least one.
[[nodiscard]] std::uint64_t batch_end(const trace::Launch& launch, std::uint64_t first_thread, std::uint64_t rays,
                                      std::uint64_t events);

/// Shaders that answer what the trace recorded for (ray, candidate), whenever the replay comes to the candidate.
/// - intersect: of all that the candidate's calls reported in [t_min, t_max], the nearest that was not ignored; if all
///   were ignored, the nearest of them; a candidate without a call reports nothing.
/// - accept: a report of an intersection shader as it was (one that any-hit never saw: accepted); a triangle, if any
///   call for it accepted; without a call: accepted.
/// Questions about candidates without a call are counted. `observed` must outlive the shaders.
class ObservedShaders final : public Shaders {
 public:
  /// Place i of the rays given to `trace` is ray rays[i] of `observed`; no list: ray i.
  explicit ObservedShaders(const Observed& observed, std::span<const std::uint64_t> rays = {});

  [[nodiscard]] Report intersect(std::size_t ray, const Candidate& candidate, float t_max) const override;
  [[nodiscard]] bool accept(std::size_t ray, const Candidate& candidate, float t, std::uint8_t hit_kind) const override;

  /// Questions so far that the trace has no answer to: intersect of boxes, accept of triangles.
  [[nodiscard]] std::uint64_t unobserved() const {
    return unobserved_.load(std::memory_order_relaxed);
  }
  /// Whether the trace has a call for the candidate. O(log tests of the ray).
  [[nodiscard]] bool knows(std::size_t ray, const Candidate& candidate) const {
    return !calls_of(ray, candidate).empty();
  }

  // What the answers are made of, for traversals that give them on a device.
  [[nodiscard]] const Observed& observed() const {
    return *observed_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& ray_of_place() const {
    return ray_of_place_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& by_candidate() const {
    return by_candidate_;
  }
  /// Questions that were put elsewhere.
  void add_unobserved(std::uint64_t questions) const {
    unobserved_.fetch_add(questions, std::memory_order_relaxed);
  }

 private:
  /// Rows of `observed`'s tests.
  [[nodiscard]] std::span<const std::uint64_t> calls_of(std::size_t ray, const Candidate& candidate) const;

  const Observed* observed_;
  std::vector<std::uint64_t> ray_of_place_;
  std::vector<std::uint64_t> by_candidate_;  ///< rows of tests, of each ray by candidate, then as they happened
  mutable std::atomic<std::uint64_t> unobserved_{0};
};

}  // namespace rayreplay::traversal
