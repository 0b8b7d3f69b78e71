// rayreplay bvh: acceleration structures over a traced scene: size and quality by level, boxes for a 3D viewer.
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/report/rays/bvh_table.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "bvh/check_options.hpp"
#include "bvh/reports/vtp.hpp"
#include "sim/engine/stage_settings.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kLaunch = "launch";
constexpr const char* kLayout = "bvh.layout";

struct BvhArguments {
  std::string path;
  std::optional<std::uint32_t> tlas;
  bool compare_layouts = false;
  SettingsOptions experiment;
  std::size_t lcv_rays = 10'000;
  std::string vtp;
  std::uint32_t vtp_depth = 3;
  std::string vtp_shape = "edges";
  ResultOption output;
};

/// Resolved specs of the requested layouts; unknown ones are errors before any work.
std::vector<std::string> layouts_of(const BvhArguments& options, const experiment::Settings& asked) {
  if (options.compare_layouts) {
    return bvh::Layouts::names();
  }
  std::vector<std::string> layouts = options.experiment.variants(kLayout, asked);
  if (layouts.empty()) {
    layouts.push_back(experiment::complete(asked, experiment::NamedInput::Elsewhere).text(kLayout));
  }
  return layouts;
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

void check_models(const BvhArguments& options, const std::vector<std::string>& layouts, bvh::BvhOptions build) {
  for (const std::string& layout : layouts) {
    build.layout = layout;
    bvh::check_options(build);
  }
  if (!options.vtp.empty() && layouts.size() > 1) {
    throw Error(ErrorKind::Usage, {"one file cannot hold boxes of several layouts", "--vtp",
                                   fmt::format("{} layouts", layouts.size()), "one layout", "name it with --layout"});
  }
}

/// The command line's choice of structure, resolved against the trace.
struct Place {
  std::uint32_t tlas = 0;
  std::optional<std::uint32_t> launch;
};

Place resolve_place(const BvhArguments& options, const experiment::Settings& settings, const trace::Trace& trace) {
  const auto missing = [](const char* what, const std::string& option, std::size_t found, std::size_t count) {
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
  const std::string& where = settings.where(kLaunch);
  if (where.empty() && trace.launches.empty()) {
    return {};
  }
  const auto launch = static_cast<std::uint32_t>(settings.integer(kLaunch));
  if (launch >= trace.launches.size()) {
    missing("the trace has no launch of this number", experiment::place_of(where, kLaunch), launch,
            trace.launches.size());
  }
  const std::uint32_t tlas = trace.launches[launch].tlas;
  if (tlas == trace::kNone && !trace.scene.instances.empty()) {
    throw Error(ErrorKind::Missing,
                {"which top-level structure the launch used is not known",
                 fmt::format("{}:/launch/{}", options.path, launch), "", "", "name one with --tlas"});
  }
  return {tlas == trace::kNone ? 0 : tlas, launch};
}

/// Writes the boxes, and returns the message for the user.
std::string write_boxes(const BvhArguments& options, const trace::Trace& trace, const bvh::Bvh& structure,
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

/// `--set` of a key whose own flag does not go with another option.
void require_no_rival(const BvhArguments& options) {
  for (const auto& [option, is_given, rival] :
       {std::tuple{"--tlas", options.tlas.has_value(), std::string(kLaunch)},
        std::tuple{"--compare-layouts", options.compare_layouts, std::string(kLayout)}}) {
    for (const auto& [flag, key] : options.experiment.given_keys()) {
      if (is_given && flag == "--set" && key.substr(0, key.find(':')) == rival) {
        throw Error(ErrorKind::Usage, {"the key does not go with the option", "--set " + key, std::string(option),
                                       "one of the two", "leave one out"});
      }
    }
  }
}

int act(const BvhArguments& options) {
  require_no_rival(options);
  const bvh::VtpShape shape = parse_shape(options.vtp_shape);
  const experiment::Settings asked = options.experiment.asked(options.path);
  const experiment::Settings settings = experiment::complete(asked, experiment::NamedInput::Elsewhere);
  const bvh::BvhOptions structure_options = experiment::structure_of(settings);
  const std::vector<std::string> layouts = layouts_of(options, asked);
  check_models(options, layouts, structure_options);
  require_file_name(options.vtp, "--vtp");
  require_distinct({{"--output", options.output.path}, {"--vtp", options.vtp}},
                   options.experiment.inputs(options.path, settings));
  options.output.check();
  if (!options.vtp.empty()) {
    require_writable(options.vtp, options.output.force);
  }
  const trace::Trace trace = load_trace(options.path);
  const Place place = resolve_place(options, settings, trace);
  const std::unique_ptr<Progress> progress = console::make_progress();

  report::BvhReport report{options.path,
                           trace,
                           place.tlas,
                           place.launch,
                           {},
                           {},
                           {},
                           structure_options.leaf_size,
                           structure_options.enlarge,
                           options.lcv_rays,
                           {},
                           {},
                           {}};
  std::vector<std::string> messages;  // after every step that can fail
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
    bvh::BvhOptions build = structure_options;
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
        {structure.layout_spec, structure.traits, structure.memory.read, bvh::summarise(structure, trees, summary)});
    if (!options.vtp.empty()) {
      messages.push_back(write_boxes(options, trace, structure, shape, progress.get()));
    }
  }
  for (const std::string& line : describe(report.ignored)) {
    messages.push_back("warning: ignored: " + line);
  }
  for (const std::string& message : messages) {
    console::tell("{}", message);
  }
  options.output.write_result({[&] { return report::bvh_text(report); }, [&] { return report::bvh_rows(report); },
                               [&] { return report::bvh_json(report); }});
  return 0;
}

void add_structure_options(CLI::App& command, BvhArguments& options) {
  constexpr const char* kGroup = "Structure";
  TakenKeys taken{"structure"};
  taken.variants = {{kLayout, "wide-8"}};
  options.experiment.add_to(command, std::move(taken));
  add_plain(command, "--tlas", options.tlas, "N", "Top-level structure of the trace, in place of the launch's", kGroup)
      ->excludes(command.get_option("--launch"));
  command.add_flag("--compare-layouts", options.compare_layouts, "Every layout, one row each")
      ->excludes(command.get_option("--layout"))
      ->group(kGroup);
  add_value(command, "--lcv-rays", options.lcv_rays, "N", "Rays for leaf-count variability; 0: none", kGroup)
      ->check(CLI::NonNegativeNumber);
}

void add_vtp_options(CLI::App& command, BvhArguments& options) {
  constexpr const char* kGroup = "Boxes";
  CLI::Option* file = add_plain(command, "--vtp", options.vtp, "FILE",
                                "Also write the boxes as VTK XML PolyData, for ParaView", kGroup);
  add_value(command, "--vtp-depth", options.vtp_depth, "N", "Down to this depth in each level", kGroup)->needs(file);
  add_value(command, "--vtp-shape", options.vtp_shape, "NAME", "edges or faces", kGroup)->needs(file);
}

void declare(CLI::App& command, BvhArguments& options) {
  add_trace_file(command, options.path)->required();
  add_structure_options(command, options);
  add_vtp_options(command, options);
  options.output.add_to(command);
}

}  // namespace

void add_bvh_command(CLI::App& root, Session& session) {
  add_command(root, session, {"bvh", "Experiments", "Acceleration structures over a traced scene: size and quality"},
              declare, act);
}

}  // namespace rayreplay::app
