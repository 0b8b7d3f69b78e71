// The built-in tracer: a Vulkan ray-tracing pipeline on the CPU that records its events.
//
// Contract: `trace_scene` runs one launch of width × height threads, one per pixel, each with its own samples and
// bounces, over a scene that passed `check`, and hands the ray events of MODELS.md §2 to a sink in batches, in order of
// thread id. Same scene, options and seed: same events and same picture, whatever the number of workers and whether
// there is a sink. docs/reference-tracer.md lists the modelled features and the differences between machines. Errors:
// Usage (unknown integrator, size or count out of range), Input (the scene breaks a rule), Resource; what the sink
// throws passes through. Memory: the scene, its acceleration structure, the picture and a few batches. Time:
// proportional to trace calls; recording is to cost no more than tracing (bench/reference).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "capture/reference/image.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/shader_table.hpp"
#include "capture/trace/trace.hpp"
#include "capture/trace/writer.hpp"

namespace rayreplay::reference {

struct TracerOptions {
  std::uint32_t width = 1280;
  std::uint32_t height = 720;
  std::uint32_t samples = 6;  ///< per pixel
  std::uint32_t depth = 16;   ///< most trace calls of one path, shadow rays not counted
  std::uint64_t seed = 1;
  std::string integrator = "path";  ///< a spec (base/parameters.hpp)
  HitGroups hit_groups = HitGroups::Single;
  bool next_event = false;          ///< path: shadow rays to the scene's lights
  float t_min = 0;                  ///< 0: 0.001 with procedural boxes, else 10^-5 of the scene's extent
  float t_max = 0;                  ///< 0: 10000, or the scene's extent if that is more
  std::uint32_t workers = 0;        ///< at most; 0: as many as there are processors
  std::uint32_t batch_threads = 0;  ///< threads of a batch; 0: at most 65536 samples. Events do not depend on it
  bool flatten = true;              ///< accelerator.hpp; the set of events of a ray does not depend on it
  std::string scene_spec;           ///< resolved; only written into the configuration
};

/// Receives a launch's events. Calls come one at a time, not always from the same system thread.
class ThreadSink {
 public:
  ThreadSink() = default;
  ThreadSink(const ThreadSink&) = delete;
  ThreadSink& operator=(const ThreadSink&) = delete;
  virtual ~ThreadSink() = default;
  virtual void begin(trace::LaunchSize size, trace::LaunchColumns columns) = 0;
  /// The next threads, in order of thread id; the batch is only valid during the call.
  virtual void append(const trace::ThreadData& batch) = 0;
};

struct TracerResult {
  Image image;
  std::array<std::uint64_t, trace::kEventKinds> events{};  ///< by kind; all 0 without a sink
  std::uint64_t rays = 0;                                  ///< trace calls, occlusion included
  std::uint64_t occlusion_rays = 0;
  double build_seconds = 0;  ///< of the acceleration structure
  double trace_seconds = 0;  ///< tracing, and handing over the events
};

/// `sink` and `progress` may be null.
TracerResult trace_scene(const RenderScene& scene, const TracerOptions& options, ThreadSink* sink,
                         Progress* progress = nullptr);

/// Header data of a trace file.
struct CaptureDescription {
  trace::Header header;
  std::vector<trace::Shader> shaders;
  trace::Scene scene;
};
[[nodiscard]] CaptureDescription describe_capture(const RenderScene& scene, const TracerOptions& options);

}  // namespace rayreplay::reference
