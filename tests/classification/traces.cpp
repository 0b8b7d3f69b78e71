#include "tests/classification/traces.hpp"

#include "capture/trace/reader.hpp"
#include "tests/reference/support.hpp"

namespace rayreplay::test {
namespace {

trace::Trace traced(const reference::RenderScene& scene, const reference::TracerOptions& options) {
  MemorySink sink;
  reference::trace_scene(scene, options, &sink);
  reference::CaptureDescription description = reference::describe_capture(scene, options);
  trace::Trace trace;
  trace.header = description.header;
  trace.shaders = description.shaders;
  trace.scene = description.scene;
  trace.launches.resize(1);
  trace.launches[0].size = sink.size;
  trace.launches[0].data = sink.data;
  return trace;
}

}  // namespace

trace::Trace mixed_trace(std::uint64_t seed, const std::string& integrator) {
  reference::TracerOptions options = small_options();
  options.integrator = integrator;
  options.next_event = integrator == "path";
  options.seed = seed;
  return traced(mixed_scene(seed), options);
}

trace::Trace sphere_trace(std::uint64_t seed) {
  reference::TracerOptions options = small_options();
  options.seed = seed;
  return traced(sphere_cloud(60, seed), options);
}

const std::vector<std::string>& captures() {
  static const std::vector<std::string> names{"bunny", "one-weekend", "one-weekend-ser", "teapot-alpha"};
  return names;
}

trace::Trace load_capture(const std::string& name) {
  return trace::load(std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/h200/" + name + ".rrt");
}

}  // namespace rayreplay::test
