// How long does the classification of ten million observed tests take beside the ordered traversal of their rays?
//
// Two launches: One Weekend as the built-in tracer records it (tests of boxes), repeated until there are enough tests;
// and a generated mesh of a million triangles that are not opaque, whose any-hit calls a traversal in random order
// makes (as a GPU's software does). The ordered traversal runs over a structure that is there already, with the trace's
// answers as shaders and without logs; the classification is the whole call: structures for the enlarged boxes of three
// layouts, events, counts per thread and object. Each round runs both; times are the least of all rounds. `ratio` =
// classification / ordered. RAYREPLAY_BENCH_SCALE (default 1) scales tests and triangles.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <oneapi/tbb/global_control.h>

#include "capture/reference/scene_model.hpp"
#include "capture/reference/tracer.hpp"
#include "tests/support/meshes.hpp"
#include "traversal/classification/classify.hpp"
#include "traversal/observed.hpp"

namespace {

using namespace rayreplay;

constexpr double kTests = 10e6;
constexpr double kTriangles = 1e6;
constexpr int kRounds = 3;

double bench_scale() {
  const char* const text = std::getenv("RAYREPLAY_BENCH_SCALE");
  return text != nullptr ? std::atof(text) : 1.0;
}

class MemorySink final : public reference::ThreadSink {
 public:
  void begin(trace::LaunchSize /*size*/, trace::LaunchColumns /*columns*/) override {}
  void append(const trace::ThreadData& batch) override {
    parts.push_back(batch);
  }
  std::vector<trace::ThreadData> parts;
};

template <class T>
void append(trace::Column<T>& to, const trace::Column<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Adds the threads of `part` behind those of `data`.
void append(trace::ThreadData& data, const trace::ThreadData& part) {
  const std::uint64_t first_ray = data.rays.size();
  const std::uint64_t first_event = data.events.size();
  for (std::size_t thread = 0; thread < part.threads(); ++thread) {
    data.ray_offset.push_back(first_ray + part.ray_offset[thread + 1]);
    data.event_offset.push_back(first_event + part.event_offset[thread + 1]);
  }
  append(data.rays.origin_x, part.rays.origin_x);
  append(data.rays.origin_y, part.rays.origin_y);
  append(data.rays.origin_z, part.rays.origin_z);
  append(data.rays.direction_x, part.rays.direction_x);
  append(data.rays.direction_y, part.rays.direction_y);
  append(data.rays.direction_z, part.rays.direction_z);
  append(data.rays.t_min, part.rays.t_min);
  append(data.rays.t_max, part.rays.t_max);
  append(data.rays.flags, part.rays.flags);
  append(data.rays.cull_mask, part.rays.cull_mask);
  append(data.events.kind, part.events.kind);
  append(data.events.t, part.events.t);
  append(data.events.instance, part.events.instance);
  append(data.events.primitive, part.events.primitive);
  append(data.events.hit_kind, part.events.hit_kind);
  append(data.events.accepted, part.events.accepted);
}

std::uint64_t intersections(const trace::ThreadData& data) {
  return static_cast<std::uint64_t>(
      std::count(data.events.kind.begin(), data.events.kind.end(), trace::EventKind::Intersection));
}

trace::Trace one_weekend() {
  const auto scene = Registry<reference::SceneModel>::create("one-weekend").model->make();
  reference::TracerOptions options;
  options.width = 320;
  options.height = 180;
  options.samples = 2;
  MemorySink sink;
  reference::trace_scene(scene, options, &sink);
  trace::Trace trace;
  trace.scene = reference::describe_capture(scene, options).scene;
  trace::Launch& launch = trace.launches.emplace_back();
  launch.data.ray_offset.push_back(0);
  launch.data.event_offset.push_back(0);
  std::uint32_t copies = 0;
  do {
    for (const trace::ThreadData& part : sink.parts) {
      append(launch.data, part);
    }
    ++copies;
  } while (static_cast<double>(intersections(launch.data)) < kTests * bench_scale());
  launch.size = {options.width, options.height, copies};
  return trace;
}

void add_event(trace::Events& events, trace::EventKind kind, const traversal::Candidate& candidate, float t) {
  events.kind.push_back(kind);
  events.t.push_back(t);
  events.instance.push_back(candidate.instance);
  events.primitive.push_back(candidate.primitive);
  events.hit_kind.push_back(0);
  events.accepted.push_back(0);
}

/// Rays from above in all directions downward, one a thread; any-hit calls as a traversal in random order makes them.
trace::Trace terrain() {
  trace::Trace trace;
  trace.scene.geometries.push_back(
      test::bumpy_terrain(static_cast<std::size_t>(kTriangles * std::min(1.0, bench_scale())), 1));
  trace.scene.geometries[0].opaque = false;
  trace.scene.blases = {{0, 1}};
  trace.scene.instances.resize(1);
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, 0, "terrain");
  const auto hardware = traversal::Traversals::create("any-order");
  trace::Launch& launch = trace.launches.emplace_back();
  trace::ThreadData& data = launch.data;
  data.ray_offset.push_back(0);
  data.event_offset.push_back(0);
  test::Random random(1);
  constexpr std::size_t kBatch = 1U << 16U;
  std::uint64_t tests = 0;
  while (static_cast<double>(tests) < kTests * bench_scale()) {
    std::vector<traversal::Ray> rays(kBatch);
    for (traversal::Ray& ray : rays) {
      ray.origin = {0.5F + 0.5F * random.unit(), 0.3F + 0.2F * random.unit(), 0.5F + 0.5F * random.unit()};
      ray.direction = {random.unit(), -0.05F - 0.3F * std::abs(random.unit()), random.unit()};
    }
    traversal::TraceOptions options;
    options.counters = false;
    options.tests = true;
    const traversal::TraceResult made = hardware.model->trace(structure, rays, options);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const traversal::Ray& ray = rays[i];
      data.rays.origin_x.push_back(ray.origin[0]);
      data.rays.origin_y.push_back(ray.origin[1]);
      data.rays.origin_z.push_back(ray.origin[2]);
      data.rays.direction_x.push_back(ray.direction[0]);
      data.rays.direction_y.push_back(ray.direction[1]);
      data.rays.direction_z.push_back(ray.direction[2]);
      data.rays.t_min.push_back(ray.t_min);
      data.rays.t_max.push_back(ray.t_max);
      data.rays.flags.push_back(0);
      data.rays.cull_mask.push_back(0xFF);
      add_event(data.events, trace::EventKind::Begin, {}, 0);
      for (const traversal::PrimitiveTest& test : made.tests.of(i)) {
        if (test.hit) {
          add_event(data.events, trace::EventKind::AnyHit, test.candidate, test.t);
          ++tests;
        }
      }
      const traversal::Hit& hit = made.hits[i];
      if (hit.found()) {
        add_event(data.events, trace::EventKind::ClosestHit, {hit.instance, hit.geometry, hit.primitive}, hit.t);
      } else {
        add_event(data.events, trace::EventKind::Miss, {}, 0);
      }
      data.ray_offset.push_back(data.rays.size());
      data.event_offset.push_back(data.events.size());
    }
  }
  launch.size = {static_cast<std::uint32_t>(data.rays.size()), 1, 1};
  return trace;
}

double seconds(auto&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double ordered_seconds(const trace::Trace& trace, const bvh::Bvh& structure, const traversal::Traversal& ordered) {
  const trace::Launch& launch = trace.launches[0];
  double total = 0;
  for (std::uint64_t first = 0; first < launch.data.threads();) {
    const std::uint64_t last = traversal::batch_end(launch, first, 1U << 19U, 1U << 21U);
    const traversal::Observed observed = traversal::observe(launch, first, last);
    const traversal::ObservedShaders shaders(observed);
    traversal::TraceOptions options;
    options.counters = false;
    options.shaders = &shaders;
    total += seconds([&] { benchmark::DoNotOptimize(ordered.trace(structure, observed.rays, options).hits.data()); });
    first = last;
  }
  return total;
}

void measure(benchmark::State& state, trace::Trace (*make)(), int threads) {
  const trace::Trace trace = make();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  const bvh::Bvh structure = bvh::build_bvh(trace.scene, 0, "bench");
  const auto ordered = traversal::Traversals::create("ordered");
  double best_ordered = 1e30;
  double best_classify = 1e30;
  std::uint64_t tests = 0;
  for ([[maybe_unused]] auto iteration : state) {
    best_ordered = std::min(best_ordered, ordered_seconds(trace, structure, *ordered.model));
    const double classify = seconds([&] { tests = traversal::sum(traversal::classify(trace, 0, "bench").total); });
    best_classify = std::min(best_classify, classify);
    state.SetIterationTime(classify);
  }
  const auto rays = static_cast<double>(trace.launches[0].data.rays.size());
  state.counters["tests"] = static_cast<double>(tests);
  state.counters["rays"] = rays;
  state.counters["Mtests/s"] = static_cast<double>(tests) / best_classify / 1e6;
  state.counters["ordered_Mrays/s"] = rays / best_ordered / 1e6;
  state.counters["ratio"] = best_classify / best_ordered;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const int threads : {1, 2}) {
    for (const auto& [name, make] : {std::pair{"one-weekend", &one_weekend}, std::pair{"terrain", &terrain}}) {
      benchmark::RegisterBenchmark(fmt::format("{}/threads:{}", name, threads).c_str(),
                                   [make = make, threads](benchmark::State& state) { measure(state, make, threads); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(kRounds);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
