// What recording costs: the same scene traced with and without events, in turns, in one run.
//
// `ratio` is the time with events over the time without, each the best of the rounds so far; at most 2 is wanted.
// "recording": the events go to a sink that drops them. "writing": they go to a trace file in the temporary folder.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>

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

void recording(benchmark::State& state, const std::string& spec, reference::TracerOptions options,
               Destination destination) {
  const auto path = std::filesystem::temp_directory_path() / "rayreplay_tracer_bench.rrt";
  const reference::RenderScene scene = reference::make_scene(spec, &options.scene_spec);
  double best_with = std::numeric_limits<double>::infinity();
  double best_without = best_with;
  double rays = 0;
  double events = 0;
  for (auto _ : state) {
    DroppingSink sink;
    const auto without = reference::trace_scene(scene, options, nullptr);
    const auto with = destination == Destination::Dropped ? reference::trace_scene(scene, options, &sink)
                                                          : reference::trace_to_file(scene, options, path, true).tracer;
    best_without = std::min(best_without, without.trace_seconds);
    best_with = std::min(best_with, with.trace_seconds);
    rays = static_cast<double>(with.rays);
    events = 0;
    for (const std::uint64_t count : with.events) {
      events += static_cast<double>(count);
    }
    state.SetIterationTime(with.trace_seconds);
  }
  if (destination == Destination::File) {
    state.counters["bytes/event"] = static_cast<double>(std::filesystem::file_size(path)) / events;
    std::filesystem::remove(path);
  }
  state.counters["ratio"] = best_with / best_without;
  state.counters["Mrays/s"] = rays / best_with / 1e6;
  state.counters["Mrays/s_without"] = rays / best_without / 1e6;
  state.counters["Mevents/s"] = events / best_with / 1e6;
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
