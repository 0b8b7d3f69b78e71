// rayreplay swizzle: a packing as a file that an application can index by its thread id.
#include <memory>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/device_option.hpp"
#include "app/commands/options.hpp"
#include "app/commands/settings_options.hpp"
#include "app/console/console.hpp"
#include "base/count_text.hpp"
#include "capture/trace/accelerated_launch.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "scheduler-models/swizzle_file.hpp"
#include "sim/experiment/stages/stage_settings.hpp"

namespace rayreplay::app {
namespace {

struct Options {
  std::string path;
  SettingsOptions experiment;
  DeviceOption device;
  OutputOption output;
};

int act(const Options& options) {
  const experiment::Settings settings = options.experiment.settings(options.path);
  require_distinct({{"--output", options.output.path}}, options.experiment.inputs(options.path, settings));
  options.output.check();
  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  const trace::Trace trace = load_trace(options.path);
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, false);
  const trace::Launch& launch = trace.launches[resolved.launch];
  const std::string& spec = settings.text("packing");
  const scheduler::WarpAssignment order =
      scheduler::LaunchOrders::create(resolved.order).model->assign(launch, resolved.warp_size);
  trace::AcceleratedLaunch on_device(*accelerator, launch);
  const scheduler::Swizzle swizzle = scheduler::Packings::create(spec).model->compute_on(launch, order, &on_device);
  scheduler::write_swizzle(options.output.path, swizzle, launch.size, spec, trace.hash, options.output.force);
  console::log(fmt::format("rayreplay: wrote {}: {}, packing {}, order {}", options.output.path,
                           counted(swizzle.size(), "thread"), spec, resolved.order));
  return 0;
}

}  // namespace

void add_swizzle_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("swizzle", "Write a packing as a file for an application to use");
  command->group("Experiments");
  auto options = std::make_shared<Options>();
  add_trace_file(*command, options->path)->required();
  options->experiment.add_to(*command, {bit(experiment::Stage::Assignment)});
  options->device.add_to(*command);
  options->output.add_required_to(*command, "File to write: .h5 or .hdf5 is HDF5, anything else flat uint32");
  command->callback([&session, options] { session.action = [options] { return act(*options); }; });
}

}  // namespace rayreplay::app
