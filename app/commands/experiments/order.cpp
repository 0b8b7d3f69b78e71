// rayreplay order: a picture of the order in which the warps of a launch start.
#include <memory>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/console.hpp"
#include "app/report/charts/heatmap.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/memory.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/launch/warps.hpp"
#include "sim/simt/pixel_map.hpp"

namespace rayreplay::app {
namespace {

struct OrderArguments {
  std::string path;
  std::string size;
  std::string colormap = "viridis";
  SettingsOptions experiment;
  OutputOption output;
};

/// Memory: places, their map with the picture's copy, and eight-bit pixels with their filtered copy; ranks, tiles and
/// sort keys of the warps.
void require_memory_for(trace::LaunchSize size, std::uint32_t warp_size) {
  constexpr std::uint64_t kThreadBytes = 4 + 4 + 4 + 3 + 3;
  constexpr std::uint64_t kWarpBytes = 4 + 4 + 8;
  const std::uint64_t threads = size.threads();
  require_memory(threads * kThreadBytes + threads / warp_size * kWarpBytes,
                 "the launch's order needs more memory than there is", "--size", "draw a smaller launch");
}

int act(const OrderArguments& options) {
  if (options.path.empty() == options.size.empty()) {
    throw Error(ErrorKind::Usage, {"the launch is ambiguous", "order", options.path.empty() ? "neither" : "both",
                                   "either a trace or --size WIDTHxHEIGHT", ""});
  }
  const pictures::Colormap colormap = pictures::parse_colormap(options.colormap);
  const experiment::Settings settings = options.experiment.settings(options.path);
  require_distinct({{"--output", options.output.path}}, options.experiment.inputs(options.path, settings));
  options.output.check();
  trace::Trace trace;
  experiment::Resolved resolved;
  if (options.path.empty()) {
    trace.launches.resize(1);
    trace.launches[0].size = parse_size(options.size, "--size");
    const experiment::TraceDecisions decided = experiment::decisions(settings, {});
    resolved.order = decided.order;
    resolved.warp_size = decided.warp_size;
    require_memory_for(trace.launches[0].size, resolved.warp_size);
  } else {
    trace = load_trace(options.path);
    resolved = experiment::resolved_of(settings, trace, false);
  }
  const trace::Launch& launch = trace.launches[resolved.launch];
  pictures::require_drawable(launch.size.width, launch.size.height, options.path.empty() ? "--size" : options.path);
  const scheduler::WarpAssignment assignment = experiment::in_order(launch, resolved.order, resolved.warp_size);
  const experiment::PixelMap map = experiment::order_map(launch.size, assignment);
  options.output.write(report::order_picture(map, assignment.warps(), resolved.order, colormap));
  console::tell("{} of {}, order {}", counted(assignment.warps(), "warp"), counted(resolved.warp_size, "lane"),
                resolved.order);
  return 0;
}

void declare(CLI::App& command, OrderArguments& options) {
  add_trace_file(command, options.path);
  add_plain(command, "--size", options.size, "WxH", "Launch size, in place of a trace", "Input");
  TakenKeys taken{"assignment"};
  taken.without = {"packing"};
  options.experiment.add_to(command, std::move(taken));
  add_value(command, "--colormap", options.colormap, "NAME", "viridis or plasma", "Output");
  options.output.add_required_to(command, "PNG picture to write");
}

}  // namespace

void add_order_command(CLI::App& root, Session& session) {
  add_command(root, session, {"order", "Experiments", "Picture of the order in which the warps of a launch start"},
              declare, act);
}

}  // namespace rayreplay::app
