// What recording costs: the same scene traced with and without events, in turns, in one run.
//
// `ratio` is the time with events over the time without, the median over pairs of runs; at most 2 is wanted. Both are
// whole calls less the building of the tree: "writing" ends when the file is closed, hashed and on the disk.
// "recording": the events go to a sink that drops them. "writing": they go to a trace file in the temporary folder.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/reference/trace_file.hpp"
#include "capture/reference/tracer.hpp"

namespace rayreplay::bench {
namespace {

class DroppingSink final : public reference::ThreadSink {
 public:
  void begin(trace::LaunchSize /*size*/, trace::LaunchColumns /*columns*/) override {}
  void append(const trace::ThreadData& batch) override {
    benchmark::DoNotOptimize(batch.events.kind.data());
    benchmark::ClobberMemory();
  }
};

enum class Destination { Dropped, File };

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// From the first ray to the finished file, so without building the tree.
template <class Run>
double seconds(Run&& run) {
  const auto start = std::chrono::steady_clock::now();
  const reference::TracerResult result = run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() - result.build_seconds;
}

void recording(benchmark::State& state, const std::string& spec, reference::TracerOptions options,
               Destination destination) {
  const auto path = std::filesystem::temp_directory_path() / "rayreplay_tracer_bench.rrt";
  const reference::RenderScene scene = reference::make_scene(spec, &options.scene_spec);
  std::vector<double> with_seconds;
  std::vector<double> without_seconds;
  std::vector<double> ratios;
  double rays = 0;
  double events = 0;
  for (auto _ : state) {
    DroppingSink sink;
    reference::TracerResult with;
    without_seconds.push_back(seconds([&] { return reference::trace_scene(scene, options, nullptr); }));
    with_seconds.push_back(seconds([&] {
      with = destination == Destination::Dropped ? reference::trace_scene(scene, options, &sink)
                                                 : reference::trace_to_file(scene, options, path, true).tracer;
      return with;
    }));
    ratios.push_back(with_seconds.back() / without_seconds.back());
    rays = static_cast<double>(with.rays);
    events = 0;
    for (const std::uint64_t count : with.events) {
      events += static_cast<double>(count);
    }
    state.SetIterationTime(with_seconds.back());
  }
  if (destination == Destination::File) {
    state.counters["bytes/event"] = static_cast<double>(std::filesystem::file_size(path)) / events;
    std::filesystem::remove(path);
  }
  const double median_with = median(with_seconds);
  state.counters["ratio"] = median(ratios);
  state.counters["Mrays/s"] = rays / median_with / 1e6;
  state.counters["Mrays/s_without"] = rays / median(without_seconds) / 1e6;
  state.counters["Mevents/s"] = events / median_with / 1e6;
  state.counters["events/ray"] = events / rays;
}

/// The hall's paths are many times as long as One Weekend's.
reference::TracerOptions options_of(const std::string& scene, const std::string& integrator, std::uint32_t workers) {
  reference::TracerOptions options;
  options.width = scene == "hall" ? 320 : 640;
  options.height = scene == "hall" ? 180 : 360;
  options.samples = scene == "hall" ? 1 : 6;
  options.integrator = integrator;
  options.next_event = true;
  options.workers = workers;
  return options;
}

void add(const std::string& what, const std::string& scene, const std::string& integrator, std::uint32_t workers,
         Destination destination) {
  const std::string name = what + "/" + scene + "/" + integrator + (workers == 1 ? "/one worker" : "/all processors");
  benchmark::RegisterBenchmark(name.c_str(), recording, scene, options_of(scene, integrator, workers), destination)
      ->UseManualTime()
      ->Iterations(5)
      ->Unit(benchmark::kMillisecond);
}

void register_all() {
  for (const std::string scene : {"one-weekend", "hall"}) {
    for (const std::string integrator : {"path", "ao", "primary"}) {
      add("recording", scene, integrator, 1, Destination::Dropped);
      add("recording", scene, integrator, 0, Destination::Dropped);
    }
    add("writing", scene, "path", 1, Destination::File);
    add("writing", scene, "path", 0, Destination::File);
  }
}

}  // namespace
}  // namespace rayreplay::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  rayreplay::bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
