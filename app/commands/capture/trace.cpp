// rayreplay trace: renders a scene with the built-in tracer and writes its events.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/output_file.hpp"
#include "base/parameters.hpp"
#include "base/png.hpp"
#include "capture/reference/scene.hpp"
#include "capture/reference/tracer.hpp"
#include "capture/trace/writer.hpp"

namespace rayreplay::app {
namespace {

struct TraceArguments {
  std::string scene;
  std::string size = "1280x720";
  std::string hit_groups = "single";
  std::string image;
  reference::TracerOptions tracer;
  OutputOption output;
};

/// Passes the tracer's batches to the trace file.
class FileSink : public reference::ThreadSink {
 public:
  explicit FileSink(trace::Writer& writer) : writer_(writer) {}
  void begin(trace::LaunchSize size, trace::LaunchColumns columns) override {
    writer_.begin_launch(size, columns);
  }
  void append(const trace::ThreadData& batch) override {
    writer_.append(batch);
  }

 private:
  trace::Writer& writer_;
};

/// CLI11 parses 64-bit numbers with strtoull, which wraps negative ones around.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) {
    throw Error(ErrorKind::Usage,
                {"the value is not a seed", "--seed", "'" + text + "'",
                 fmt::format("a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max()), ""});
  }
  return "";
}

reference::HitGroups parse_hit_groups(const std::string& name) {
  if (name == "single") {
    return reference::HitGroups::Single;
  }
  if (name == "per-material") {
    return reference::HitGroups::PerMaterial;
  }
  const std::string near = nearest(name, {"single", "per-material"});
  throw Error(ErrorKind::Usage, {"unknown grouping of shaders", "--hit-groups", "'" + name + "'",
                                 "single or per-material", near.empty() ? "" : "did you mean '" + near + "'?"});
}

reference::TracerOptions tracer_options(const TraceArguments& options) {
  reference::TracerOptions result = options.tracer;
  const trace::LaunchSize size = parse_size(options.size, "--size");
  if (size.depth != 1) {
    throw Error(ErrorKind::Usage, {"the built-in tracer renders pictures, without depth", "--size",
                                   "'" + options.size + "'", "for example 1280x720", ""});
  }
  for (const auto& [option, count] : {std::pair{"--spp", result.samples}, {"--depth", result.depth}}) {
    constexpr std::uint32_t kMost = 65535;
    if (count == 0 || count > kMost) {
      usage("the value is out of range", option, fmt::format("{}", count), fmt::format("1 to {}", kMost));
    }
  }
  result.width = size.width;
  result.height = size.height;
  result.hit_groups = parse_hit_groups(options.hit_groups);
  return result;
}

/// Refuses a launch whose picture and thread index alone exceed memory; its events are streamed to the file.
void require_memory_for(const reference::TracerOptions& tracer, bool with_image) {
  constexpr std::uint64_t kPictureBytes = 3 * sizeof(float);
  constexpr std::uint64_t kOffsetBytes = 2 * sizeof(std::uint64_t);
  constexpr std::uint64_t kPngBytes = 2 * 3;  // eight-bit pixels and their filtered copy
  const std::uint64_t threads = std::uint64_t{tracer.width} * tracer.height;
  require_memory(threads * (kPictureBytes + kOffsetBytes + (with_image ? kPngBytes : 0)),
                 "the launch needs more memory than there is", "--size", "trace a smaller picture");
}

void log_summary(const reference::TracerResult& result, const TraceArguments& options, const std::string& hash) {
  const std::uint64_t events = std::accumulate(result.events.begin(), result.events.end(), std::uint64_t{0});
  std::string text = "rayreplay: traced " + counted(result.rays, "ray");
  if (result.occlusion_rays > 0) {
    text += fmt::format(" ({} of them for occlusion)", with_separators(result.occlusion_rays));
  }
  text += fmt::format(", {}, in {:.2f} s (structure built in {:.2f} s)", counted(events, "event"), result.trace_seconds,
                      result.build_seconds);
  console::log(text);
  const std::uint64_t bytes = std::filesystem::file_size(options.output.path);
  console::tell("wrote {}: {}, {:.2f} bytes an event, hash {}", options.output.path, output::bytes_text(bytes),
                static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(events, 1)), hash);
  if (!options.image.empty()) {
    console::tell("wrote {}: {}x{}", options.image, result.image.width, result.image.height);
  }
}

/// Errors of the spec itself name the option.
reference::RenderScene make_scene(const std::string& asked, std::string& spec) {
  try {
    return reference::make_scene(asked, &spec);
  } catch (const Error& error) {
    ErrorInfo info = error.info();
    info.where = info.where.empty() ? "--scene" : info.where;
    throw Error(error.kind(), std::move(info));
  }
}

int act(const TraceArguments& options) {
  reference::TracerOptions tracer = tracer_options(options);
  // A registered scene is no file: its name may equal the output's.
  const bool scene_is_file = std::filesystem::path(options.scene).has_extension();
  require_distinct({{"--output", options.output.path}, {"--image", options.image}},
                   {{"--scene", scene_is_file ? options.scene : std::string()}});
  require_writable(options.output.path, options.output.force);
  if (!options.image.empty()) {
    require_png_size(tracer.width, tracer.height, "--size");
    require_writable(options.image, options.output.force);
  }
  require_memory_for(tracer, !options.image.empty());
  const reference::RenderScene scene = make_scene(options.scene, tracer.scene_spec);
  for (const std::string& note : scene.notes) {
    console::note("{}", note);
  }
  const reference::CaptureDescription description = reference::describe_capture(scene, tracer);
  trace::Writer writer(options.output.path, description.header, description.shaders, description.scene,
                       {.overwrite = options.output.force});
  FileSink sink(writer);
  const std::unique_ptr<Progress> progress = console::make_progress();
  const reference::TracerResult result = reference::trace_scene(scene, tracer, &sink, progress.get());
  writer.end_launch();
  const std::string hash = writer.finish();
  if (!options.image.empty()) {
    reference::write_png(result.image, options.image, options.output.force);
  }
  log_summary(result, options, hash);
  return 0;
}

void declare(CLI::App& command, TraceArguments& options) {
  reference::TracerOptions& tracer = options.tracer;
  add_plain(command, "--scene", options.scene, "SPEC|FILE",
            "Scene spec (one-weekend, one-weekend:seed=7, ...; see rayreplay list scene) or an OBJ, PLY, glTF "
            "file",
            "Scene")
      ->required();
  add_value(command, "--size", options.size, "WxH", "Width and height in pixels, one thread each", "Scene");
  add_value(command, "--spp", tracer.samples, "N", "Samples per pixel", "Rendering");
  add_value(command, "--depth", tracer.depth, "N", "Most trace calls of one path", "Rendering");
  add_value(command, "--seed", tracer.seed, "N", "Same seed, same bytes", "Rendering")->check(check_seed);
  add_value(command, "--integrator", tracer.integrator, "SPEC",
            "Integrator spec: path, ao, primary, diffuse; see rayreplay list", "Rendering");
  command.add_flag("--next-event", tracer.next_event, "path: trace shadow rays to the scene's lights")
      ->group("Rendering");
  add_value(command, "--hit-groups", options.hit_groups, "NAME",
            "single: one closest-hit shader; per-material: one for each kind of material", "Rendering");
  options.output.add_required_to(command, "Trace file to write (.rrt)");
  add_plain(command, "--image", options.image, "FILE", "Also write the rendered picture (PNG)", "Output");
}

}  // namespace

void add_trace_command(CLI::App& root, Session& session) {
  add_command(root, session, {"trace", "Traces", "Render a scene with the built-in tracer and write its trace"},
              declare, act);
}

}  // namespace rayreplay::app
