// rayreplay bvh: acceleration structures over a traced scene: size and quality level by level, boxes as a picture in
// space.
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/report/bvh_table.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "bvh/vtp.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kDefaultLayout = "wide-8";

struct Options {
  std::string path;
  std::optional<std::uint32_t> launch;
  std::optional<std::uint32_t> tlas;
  std::vector<std::string> layouts;
  bool compare_layouts = false;
  bvh::BvhOptions build;
  std::size_t lcv_rays = 10'000;
  std::string vtp;
  std::uint32_t vtp_depth = 3;
  std::string vtp_shape = "edges";
  FormatOption format;
  OutputOption output;
};

/// Resolved specs of the layouts asked for; unknown ones are found before any work.
std::vector<std::string> layouts_of(const Options& options) {
  if (options.compare_layouts) {
    return bvh::Layouts::names();
  }
  return options.layouts.empty() ? std::vector<std::string>{kDefaultLayout} : options.layouts;
}

bvh::VtpShape parse_shape(const std::string& name) {
  if (name == "edges") {
    return bvh::VtpShape::Edges;
  }
  if (name == "faces") {
    return bvh::VtpShape::Faces;
  }
  const std::string near = nearest(name, {"edges", "faces"});
  throw Error(ErrorKind::Usage, {"unknown shape of boxes", "--vtp-shape", "'" + name + "'", "edges or faces",
                                 near.empty() ? "" : "did you mean '" + near + "'?"});
}

void check_models(const Options& options, const std::vector<std::string>& layouts) {
  static_cast<void>(bvh::Builders::create(options.build.builder));
  static_cast<void>(bvh::NodeOrders::create(options.build.node_order));
  static_cast<void>(bvh::VertexOrders::create(options.build.vertex_order));
  for (const std::string& layout : layouts) {
    static_cast<void>(bvh::Layouts::create(layout));
  }
  if (!(options.build.enlarge >= 0) || std::isinf(options.build.enlarge)) {
    throw Error(ErrorKind::Usage, {"the enlargement of boxes is out of range", "--enlarge",
                                   fmt::format("{}", options.build.enlarge), "a finite share of at least 0", ""});
  }
  if (!options.vtp.empty() && layouts.size() > 1) {
    throw Error(ErrorKind::Usage, {"boxes of several layouts do not go into one file", "--vtp",
                                   fmt::format("{} layouts", layouts.size()), "one layout", "name it with --layout"});
  }
}

/// What the command line says about the scene, resolved against the trace.
struct Place {
  std::uint32_t tlas = 0;
  std::optional<std::uint32_t> launch;
};

Place resolve_place(const Options& options, const trace::Trace& trace) {
  const auto missing = [](const char* what, const char* option, std::size_t found, std::size_t count) {
    throw Error(ErrorKind::Usage,
                {what, option, fmt::format("{}", found),
                 count == 0 ? std::string("nothing: there are none") : fmt::format("0 to {}", count - 1), ""});
  };
  if (options.tlas) {
    const std::size_t count = std::max<std::size_t>(trace.scene.tlases.size(), trace.scene.instances.empty() ? 0 : 1);
    if (*options.tlas >= count && count > 0) {
      missing("the trace has no top-level structure of this number", "--tlas", *options.tlas, count);
    }
    return {*options.tlas, {}};
  }
  if (!options.launch && trace.launches.empty()) {
    return {};
  }
  const std::uint32_t launch = options.launch.value_or(0);
  if (launch >= trace.launches.size()) {
    missing("the trace has no launch of this number", "--launch", launch, trace.launches.size());
  }
  const std::uint32_t tlas = trace.launches[launch].tlas;
  if (tlas == trace::kNone && !trace.scene.instances.empty()) {
    throw Error(ErrorKind::Missing,
                {"which top-level structure the launch used is not known",
                 fmt::format("{}:/launch/{}", options.path, launch), "", "", "name one with --tlas"});
  }
  return {tlas == trace::kNone ? 0 : tlas, launch};
}

/// A line for people.
std::string write_boxes(const Options& options, const trace::Trace& trace, const bvh::Bvh& structure,
                        bvh::VtpShape shape, Progress* progress) {
  OutputFile file(options.vtp, options.output.force);
  OutputStream out(file);
  bvh::VtpOptions vtp;
  vtp.max_depth = options.vtp_depth;
  vtp.shape = shape;
  vtp.name = options.vtp;
  vtp.comment = fmt::format("rayreplay {}; trace {}; builder {}; layout {}; boxes down to depth {}", RAYREPLAY_VERSION,
                            trace.hash, structure.builder, structure.layout_spec, options.vtp_depth);
  vtp.progress = progress;
  const std::uint64_t boxes = bvh::write_vtp(structure, out, vtp);
  out.finish();
  file.commit();
  return fmt::format("{} in {}", counted(boxes, "box", "boxes"), options.vtp);
}

int act(const Options& options) {
  const output::Format format = options.format.format();
  const bvh::VtpShape shape = parse_shape(options.vtp_shape);
  const std::vector<std::string> layouts = layouts_of(options);
  check_models(options, layouts);
  require_file_name(options.vtp, "--vtp");
  require_distinct({{"--output", options.output.path}, {"--vtp", options.vtp}}, {{"TRACE", options.path}});
  options.output.check();
  if (!options.vtp.empty()) {
    require_writable(options.vtp, options.output.force);
  }
  const trace::Trace trace = load_trace(options.path);
  const Place place = resolve_place(options, trace);
  const std::unique_ptr<Progress> progress = console::make_progress();

  report::BvhReport report{options.path,
                           trace,
                           place.tlas,
                           place.launch,
                           {},
                           {},
                           {},
                           options.build.leaf_size,
                           options.build.enlarge,
                           options.lcv_rays,
                           {},
                           {},
                           {}};
  std::vector<std::string> messages;  // after all that can fail
  std::vector<bvh::QualityRay> rays;
  bvh::SummaryOptions summary;
  if (place.launch) {
    rays = bvh::rays_of(trace.launches[*place.launch], options.lcv_rays);
    summary.rays = rays;
  } else {
    summary.random_lines = options.lcv_rays;
  }
  summary.costs = report.costs;
  summary.progress = progress.get();
  for (const std::string& layout : layouts) {
    std::vector<bvh::Tree> trees;
    bvh::BvhOptions build = options.build;
    build.layout = layout;
    build.trees = &trees;
    build.progress = progress.get();
    const bvh::Bvh structure = bvh::build_bvh(trace.scene, place.tlas, options.path, build);
    messages.push_back(fmt::format("{}: scene {:.3f} s, trees {:.3f} s, layout {:.3f} s", structure.layout_spec,
                                   structure.times.prepare_s, structure.times.build_s, structure.times.layout_s));
    report.builder = structure.builder;
    report.node_order = structure.node_order;
    report.vertex_order = structure.vertex_order;
    report.ignored = structure.scene.ignored;
    report.layouts.push_back(
        {structure.layout_spec, structure.traits, structure.memory.end, bvh::summarise(structure, trees, summary)});
    if (!options.vtp.empty()) {
      messages.push_back(write_boxes(options, trace, structure, shape, progress.get()));
    }
  }
  for (const std::string& line : describe(report.ignored)) {
    messages.push_back("warning: ignored: " + line);
  }
  for (const std::string& message : messages) {
    console::log("rayreplay: " + message);
  }
  switch (format) {
    case output::Format::Table:
      options.output.write(report::bvh_text(report));
      break;
    case output::Format::Csv:
      options.output.write(report::bvh_csv(report));
      break;
    case output::Format::Json:
      options.output.write(json_text(report::bvh_json(report), 2) + "\n");
      break;
  }
  return 0;
}

void add_structure_options(CLI::App& command, Options& options) {
  constexpr const char* kGroup = "Structure";
  const auto add = [&](const char* name, auto& value, const char* text, const char* type) {
    return command.add_option(name, value, text)->type_name(type)->group(kGroup);
  };
  CLI::Option* launch = add("--launch", options.launch, "Launch whose top-level structure is built (default 0)", "N");
  add("--tlas", options.tlas, "Top-level structure of the trace", "N")->excludes(launch);
  add("--builder", options.build.builder, "Builder", "SPEC")->capture_default_str();
  CLI::Option* layout = add("--layout", options.layouts, "Layout (default wide-8); may be repeated", "SPEC");
  command.add_flag("--compare-layouts", options.compare_layouts, "Every layout, one row each")
      ->excludes(layout)
      ->group(kGroup);
  add("--node-order", options.build.node_order, "Order of nodes in memory", "SPEC")->capture_default_str();
  add("--vertex-order", options.build.vertex_order, "Order of vertices in memory", "SPEC")->capture_default_str();
  add("--leaf-size", options.build.leaf_size, "Most references of a leaf (default 0: the builder's)", "N");
  add("--enlarge", options.build.enlarge, "Push the planes of leaves outward by this share of their boxes' diagonals",
      "X");
  add("--lcv-rays", options.lcv_rays, "Rays for leaf-count variability; 0: none", "N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_vtp_options(CLI::App& command, Options& options) {
  constexpr const char* kGroup = "Boxes";
  CLI::Option* file =
      command.add_option("--vtp", options.vtp, "Also write the boxes as VTK XML PolyData, for ParaView")
          ->type_name("FILE")
          ->group(kGroup);
  command.add_option("--vtp-depth", options.vtp_depth, "Down to this depth in each level")
      ->type_name("N")
      ->needs(file)
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--vtp-shape", options.vtp_shape, "edges or faces")
      ->type_name("NAME")
      ->needs(file)
      ->capture_default_str()
      ->group(kGroup);
}

}  // namespace

void add_bvh_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("bvh", "Acceleration structures over a traced scene: size and quality");
  command->group("Experiments");
  auto options = std::make_shared<Options>();
  add_trace_file(*command, options->path)->required();
  add_structure_options(*command, *options);
  add_vtp_options(*command, *options);
  options->format.add_to(*command);
  options->output.add_to(*command, "Where to write the result; - is standard output");
  command->callback([&session, options] { session.action = [options] { return act(*options); }; });
}

}  // namespace rayreplay::app
