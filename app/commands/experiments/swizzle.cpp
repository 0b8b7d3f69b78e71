// rayreplay swizzle: writes a packing as a file that an application indexes by its thread id.
#include <memory>

#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/opened_trace.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/console.hpp"
#include "base/count_text.hpp"
#include "scheduler-models/swizzle_file.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/assignment.hpp"

namespace rayreplay::app {
namespace {

struct SwizzleArguments {
  std::string path;
  SettingsOptions experiment;
  DeviceOption device;
  OutputOption output;
};

int act(const SwizzleArguments& options) {
  const experiment::Settings settings = options.experiment.settings(options.path);
  require_distinct({{"--output", options.output.path}}, options.experiment.inputs(options.path, settings));
  options.output.check();
  const std::unique_ptr<Accelerator> accelerator = options.device.open();
  OpenedTrace opened(options.path, settings, accelerator.get());
  const trace::Trace& trace = opened.trace();
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, false);
  const std::string& spec = settings.text("packing");
  experiment::Workbench bench = opened.bench();
  const scheduler::Swizzle swizzle = experiment::swizzle_of(bench, opened.open());
  scheduler::write_swizzle(options.output.path, swizzle, trace.launches[resolved.launch].size, spec, trace.hash,
                           options.output.force);
  console::tell("wrote {}: {}, packing {}, order {}", options.output.path, counted(swizzle.size(), "thread"), spec,
                resolved.order);
  return 0;
}

void declare(CLI::App& command, SwizzleArguments& options) {
  add_trace_file(command, options.path)->required();
  options.experiment.add_to(command, {"assignment"});
  options.device.add_to(command);
  options.output.add_required_to(command, "File to write: .h5 or .hdf5 is HDF5, anything else flat uint32");
}

}  // namespace

void add_swizzle_command(CLI::App& root, Session& session) {
  add_command(root, session, {"swizzle", "Experiments", "Write a packing as a file for an application to use"}, declare,
              act);
}

}  // namespace rayreplay::app
