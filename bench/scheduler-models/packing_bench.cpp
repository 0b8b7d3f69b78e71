// How long each packing takes on one core, for a launch like Ray Tracing in One Weekend at 1280×720 with 6 samples, and
// how many times longer std::stable_sort with a full comparison takes for numrays and objects, all in one run.
//
// The launch is synthetic: about 15 rays and 85 events a thread; neighbouring pixels meet the same spheres first, later
// bounces meet any. Columns that no packing reads are left empty. RAYREPLAY_BENCH_SCALE (default 1) scales the number
// of threads; the full size takes 3 GB.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "scheduler-models/bound.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"

namespace {

using namespace rayreplay;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(((state_ >> 32) * limit) >> 32);
  }
  float unit() {
    return static_cast<float>(below(1U << 24)) / static_cast<float>(1U << 24);
  }

 private:
  std::uint64_t state_;
};

constexpr std::uint32_t kSpheres = 485;
constexpr std::uint32_t kSamples = 6;
enum Shader : std::uint16_t { kRaygen, kIntersection, kClosestHit, kMiss };

void add_event(trace::Events& events, trace::EventKind kind, std::uint16_t shader, std::uint32_t primitive) {
  events.kind.push_back(kind);
  events.shader.push_back(shader);
  events.instance.push_back(0);
  events.primitive.push_back(primitive);
}

void add_ray(trace::ThreadData& data, Random& random, std::uint32_t region, bool primary, bool hits) {
  data.rays.origin_x.push_back(primary ? 13.0F : random.unit() * 22 - 11);
  data.rays.origin_y.push_back(primary ? 2.0F : random.unit());
  data.rays.origin_z.push_back(primary ? 3.0F : random.unit() * 22 - 11);
  data.rays.direction_x.push_back(random.unit() - 0.5F);
  data.rays.direction_y.push_back(random.unit() - 0.5F);
  data.rays.direction_z.push_back(random.unit() - 0.5F);
  add_event(data.events, trace::EventKind::Begin, kRaygen, 0);
  std::uint32_t met = 0;
  for (std::uint32_t tests = 1 + random.below(5); tests > 0; --tests) {
    add_event(data.events, trace::EventKind::Intersection, kIntersection, met);
    if (random.below(3) == 0) {
      add_event(data.events, trace::EventKind::ReportIntersection, kIntersection, met);
    }
    met = primary && random.below(4) != 0 ? (region * 31 + tests) % kSpheres : random.below(kSpheres);
  }
  if (hits) {
    add_event(data.events, trace::EventKind::ClosestHit, kClosestHit, met);
  } else {
    add_event(data.events, trace::EventKind::Miss, kMiss, 0);
  }
}

/// `alike`: every thread has the same path, so that sorting by sequences has to read all of them to the end.
trace::Launch make_launch(bool alike) {
  const char* const text = std::getenv("RAYREPLAY_BENCH_SCALE");
  const double side = std::sqrt(text != nullptr ? std::atof(text) : 1.0);
  trace::Launch launch;
  launch.size = {static_cast<std::uint32_t>(1280 * side), static_cast<std::uint32_t>(720 * side), 1};
  trace::ThreadData& data = launch.data;
  data.ray_offset.push_back(0);
  data.event_offset.push_back(0);
  Random random(1);
  for (std::uint32_t y = 0; y < launch.size.height; ++y) {
    for (std::uint32_t x = 0; x < launch.size.width; ++x) {
      const std::uint32_t region = alike ? 0 : y / 16 * 80 + x / 16;
      if (alike) {
        random = Random(2);
      }
      for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
        std::uint32_t bounces = 0;
        while (bounces < 16 && random.below(5) >= 2) {
          add_ray(data, random, region, bounces == 0, true);
          ++bounces;
        }
        add_ray(data, random, region, bounces == 0, false);
      }
      data.ray_offset.push_back(data.rays.size());
      data.event_offset.push_back(data.events.size());
    }
  }
  return launch;
}

struct Input {
  explicit Input(bool alike) : launch(make_launch(alike)) {}
  trace::Launch launch;
  scheduler::WarpAssignment assignment = scheduler::LaunchOrders::create("z-order").model->assign(launch, 32);
};

const Input& input() {
  static const Input result(false);
  return result;
}

const Input& alike_input() {
  static const Input result(true);
  return result;
}

/// The first event of an object at or after `row`.
std::uint64_t next_object(const trace::Events& events, std::uint64_t row, std::uint64_t end) {
  while (row < end && events.kind[row] != trace::EventKind::Intersection &&
         events.kind[row] != trace::EventKind::AnyHit && events.kind[row] != trace::EventKind::ClosestHit) {
    ++row;
  }
  return row;
}

bool objects_less(const trace::Launch& launch, std::uint32_t a, std::uint32_t b) {
  const trace::Events& events = launch.data.events;
  const auto& offset = launch.data.event_offset;
  std::uint64_t i = next_object(events, offset[a], offset[a + 1]);
  std::uint64_t j = next_object(events, offset[b], offset[b + 1]);
  while (i < offset[a + 1] && j < offset[b + 1]) {
    if (events.instance[i] != events.instance[j]) {
      return events.instance[i] < events.instance[j];
    }
    if (events.primitive[i] != events.primitive[j]) {
      return events.primitive[i] < events.primitive[j];
    }
    i = next_object(events, i + 1, offset[a + 1]);
    j = next_object(events, j + 1, offset[b + 1]);
  }
  return i < offset[a + 1];
}

/// The same swizzle by std::stable_sort: threads unpacked, sorted with `less`, ties by start rank.
template <class Less>
scheduler::Swizzle by_stable_sort(const scheduler::WarpAssignment& assignment, const Less& less) {
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> rank(assignment.thread_at.size());
  for (std::size_t place = 0; place < assignment.thread_at.size(); ++place) {
    if (const std::uint32_t thread = assignment.thread_at[place]; thread != scheduler::kNoThread) {
      places.push_back(thread);
      rank[thread] = assignment.start_rank[place / assignment.warp_size];
    }
  }
  std::vector<std::uint32_t> sorted = places;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&rank](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  std::stable_sort(sorted.begin(), sorted.end(), less);
  scheduler::Swizzle swizzle(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    swizzle[places[i]] = sorted[i];
  }
  return swizzle;
}

scheduler::Swizzle peer(const std::string& packing) {
  const trace::Launch& launch = input().launch;
  if (packing == "objects") {
    return by_stable_sort(input().assignment,
                          [&launch](std::uint32_t a, std::uint32_t b) { return objects_less(launch, a, b); });
  }
  const auto& rays = launch.data.ray_offset;
  return by_stable_sort(input().assignment, [&rays](std::uint32_t a, std::uint32_t b) {
    return rays[a + 1] - rays[a] < rays[b + 1] - rays[b];
  });
}

/// Of this program's one working thread, so that neighbours on the machine do not count.
double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void pack(benchmark::State& state, const std::string& packing, const Input& (*get)(), bool has_peer) {
  const Input& in = get();
  const tbb::global_control one_core(tbb::global_control::max_allowed_parallelism, 1);
  const auto model = scheduler::Packings::create(packing).model;
  scheduler::Swizzle swizzle;
  double seconds = 0;
  for (auto round : state) {
    const double start = cpu_seconds();
    swizzle = model->compute(in.launch, in.assignment);
    seconds += cpu_seconds() - start;
  }
  seconds /= static_cast<double>(state.iterations());
  if (has_peer) {
    const double start = cpu_seconds();
    const scheduler::Swizzle expected = peer(packing);
    const double slow = cpu_seconds() - start;
    if (expected != swizzle) {
      state.SkipWithError("the peer's swizzle differs");
    }
    state.counters["stable_sort_ms"] = slow * 1e3;
    state.counters["times_faster"] = slow / seconds;
  }
  state.counters["Mthreads"] = static_cast<double>(swizzle.size()) / 1e6;
  state.counters["Mrays"] = static_cast<double>(in.launch.data.rays.size()) / 1e6;
  state.counters["Mevents"] = static_cast<double>(in.launch.data.events.size()) / 1e6;
}

void bound(benchmark::State& state) {
  const tbb::global_control one_core(tbb::global_control::max_allowed_parallelism, 1);
  for (auto round : state) {
    benchmark::DoNotOptimize(scheduler::lower_bound(input().launch, 32));
  }
  state.counters["Mevents"] = static_cast<double>(input().launch.data.events.size()) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::string& packing : scheduler::Packings::names()) {
    const bool has_peer = packing == "numrays" || packing == "objects";
    benchmark::RegisterBenchmark(("pack/" + packing).c_str(), pack, packing, input, has_peer)
        ->Unit(benchmark::kMillisecond)
        ->Iterations(3);
  }
  for (const char* packing : {"objects", "shader-sequence"}) {
    benchmark::RegisterBenchmark(("pack/" + std::string(packing) + "/paths alike").c_str(), pack, packing, alike_input,
                                 false)
        ->Unit(benchmark::kMillisecond)
        ->Iterations(3);
  }
  benchmark::RegisterBenchmark("lower_bound", bound)->Unit(benchmark::kMillisecond)->Iterations(3);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
