// Observed traversal: the recorded tests of each ray in the form of a traversal, and shaders that answer as recorded.
//
// Contract: `observe` reads the events of consecutive threads of a launch. One test per Intersection event, and one per
// AnyHit event that follows no report of its ray and candidate: a triangle's, which stands for the test that no shader
// sees. Tests of a ray keep their order, also if events of other rays of the thread lie between them (Events::ray). A
// candidate offered twice makes two tests. Of a test,
// - `candidate`, `procedural` (made by an intersection shader) and `event` are as recorded;
// - `t_max` is the ray's at the test: recorded by an Intersection; for a triangle's any-hit the lowest recorded for the
//   ray so far (opaque hits leave no record, so the true one may be lower);
// - `reports` has one row per report of an intersection shader, in order, and one for a triangle's any-hit;
// - `t` is that of the report that counts: the last accepted one; else the nearest in [t_min, t_max]; else the nearest.
//   `hit`: it lies in [t_min, t_max] or was accepted; always for a triangle. `accepted`: one was.
// A report is accepted if the trace says so and its any-hit shader did not ignore it; a triangle's any-hit unless it
// ignored.
//
// `hits`: for rays with a ClosestHit event that event's hit; for rays that skip the closest hit and never reached Miss
// (ImplicitHit) the last accepted report's if recorded, otherwise an unknown hit. Barycentrics are not recorded: 0.
// Counters: `procedurals` are Intersection events, `any_hits` AnyHit events; the rest is not observable and 0. Memory:
// about 70 bytes a test and 80 a ray; large launches go in batches of threads (`batch_end`). O(events), parallel over
// threads, deterministic. Source: MODELS.md §2 and §8.
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
  bool ended = false;    ///< the any-hit shader ended the ray

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

/// Ray i is row first_ray + i of the launch's rays; for a list of threads, their rays thread by thread.
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
  /// In the form of a traversal's result.
  [[nodiscard]] TraceResult result() const;
};

/// Threads [first_thread, last_thread).
[[nodiscard]] Observed observe(const trace::Launch& launch, std::uint64_t first_thread, std::uint64_t last_thread);
/// A list of threads, each at most once.
[[nodiscard]] Observed observe(const trace::Launch& launch, std::span<const std::uint32_t> threads);

/// The end of the batch of threads from `first_thread` on with at most `rays` rays and `events` events, but at least
/// one thread.
[[nodiscard]] std::uint64_t batch_end(const trace::Launch& launch, std::uint64_t first_thread, std::uint64_t rays,
                                      std::uint64_t events);

/// Shaders that answer as recorded for (ray, candidate), in any order of the replay.
/// - intersect: the nearest report of the candidate's calls in [t_min, t_max] that was not ignored; if all were
///   ignored, the nearest of these; no report for a candidate without a call.
/// - accept: for a report of an intersection shader as recorded (accepted if any-hit never saw it); for a triangle, if
///   any call for it accepted; without a call: accepted.
/// Questions about candidates without a call are counted. `observed` must outlive the shaders.
class ObservedShaders final : public Shaders {
 public:
  /// Index i of the rays given to `trace` is ray rays[i] of `observed`; without a list ray i.
  explicit ObservedShaders(const Observed& observed, std::span<const std::uint64_t> rays = {});

  [[nodiscard]] Report intersect(std::size_t ray, const Candidate& candidate, float t_max) const override;
  [[nodiscard]] bool accept(std::size_t ray, const Candidate& candidate, float t, std::uint8_t hit_kind) const override;

  /// Questions without a recorded answer so far: intersect of boxes, accept of triangles.
  [[nodiscard]] std::uint64_t unobserved() const {
    return unobserved_.load(std::memory_order_relaxed);
  }
  /// Whether the trace has a call for the candidate. O(log tests of the ray).
  [[nodiscard]] bool knows(std::size_t ray, const Candidate& candidate) const {
    return !calls_of(ray, candidate).empty();
  }

  // The data of the answers, for traversals on a device.
  [[nodiscard]] const Observed& observed() const {
    return *observed_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& ray_of_place() const {
    return ray_of_place_;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& by_candidate() const {
    return by_candidate_;
  }
  /// Adds questions that were asked on a device.
  void add_unobserved(std::uint64_t questions) const {
    unobserved_.fetch_add(questions, std::memory_order_relaxed);
  }

 private:
  /// Rows of the tests in `observed`.
  [[nodiscard]] std::span<const std::uint64_t> calls_of(std::size_t ray, const Candidate& candidate) const;

  const Observed* observed_;
  std::vector<std::uint64_t> ray_of_place_;
  std::vector<std::uint64_t> by_candidate_;  ///< rows of tests, of each ray by candidate, then as they happened
  mutable std::atomic<std::uint64_t> unobserved_{0};
};

}  // namespace rayreplay::traversal
