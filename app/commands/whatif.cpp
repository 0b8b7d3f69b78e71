// rayreplay whatif: what would other warp packing, or another scheduler model, do to this workload?
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options.hpp"
#include "app/commands/whatif_models.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/output/output_folder.hpp"
#include "app/pictures/heatmap.hpp"
#include "app/report/observed_table.hpp"
#include "app/report/report.hpp"
#include "app/report/whatif_table.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"

namespace rayreplay::app {
namespace {

constexpr std::uint64_t kMaxPublishedBytes = 1U << 20U;

struct Options : WhatIfCommon {
  ModelsOptions models;
  std::string compare;
};

std::string published_text(const report::Context& context, const experiment::WhatIfResult& result,
                           const report::Published& published) {
  const std::string warning = report::workload_warning(context.trace.header, published);
  return fmt::format("\n{}\n{}\n{}\n{}\n{}", text::printable(published.title), text::printable(published.source),
                     text::printable_lines(published.note),
                     warning.empty() ? "" : "warning: " + text::printable(warning) + "\n",
                     output::to_text(report::compare(result, published)));
}

std::string render(const report::Context& context, const experiment::WhatIfResult& result,
                   const std::optional<report::Published>& published, output::Format format) {
  switch (format) {
    case output::Format::Json:
      return json_text(report::whatif_json(context, result, published), 2) + "\n";
    case output::Format::Csv:
      return output::to_csv(report::with_context(report::whatif_table(result, true), context));
    case output::Format::Table:
      break;
  }
  return report::context_text(context) + "\n" + output::to_text(report::whatif_table(result, true)) +
         report::observed_text(context.trace, context.trace.launches[context.configuration.launch]) +
         (published ? published_text(context, result, *published) : std::string());
}

int compare_packings(const Options& options, const experiment::Configuration& configuration) {
  options.models.require_none();
  // Everything that can be wrong without the trace is found before it is read.
  const output::Format format = options.format.format();
  const pictures::Colormap colormap = pictures::parse_colormap(options.colormap);
  std::vector<NamedPath> inputs = options.experiment.inputs(options.path, configuration);
  inputs.push_back({"--image", options.image});
  inputs.push_back({"--compare", options.compare});
  require_distinct({{"--output", options.output.path}, {"--report", options.report}}, inputs);
  options.output.check();
  if (!options.report.empty()) {
    output::require_folder_writable(options.report, options.output.force, report::report_folder());
  }
  const std::string image = options.image.empty() ? std::string() : read_png(options.image);
  std::optional<report::Published> published;
  if (!options.compare.empty()) {
    published = report::parse_published(read_file(options.compare, kMaxPublishedBytes), options.compare);
  }

  const std::unique_ptr<kernels::Accelerator> accelerator = options.device.open();
  const trace::Trace trace = load_trace(options.path);
  const experiment::Resolved resolved = experiment::resolve(configuration, trace);
  if (options.print_config) {
    options.output.write(experiment::to_toml(resolved, trace));
    return 0;
  }
  if (published) {
    const std::string warning = report::workload_warning(trace.header, *published);
    if (!warning.empty()) {
      console::log("rayreplay: warning: " + warning);
    }
  }
  const std::unique_ptr<Progress> progress = console::make_progress();
  experiment::WhatIfOptions what_if_options;
  what_if_options.progress = progress.get();
  what_if_options.accelerator = accelerator.get();
  // A launch of one row has no picture worth looking at.
  const trace::LaunchSize size = trace.launches[resolved.launch].size;
  what_if_options.pixel_maps = !options.report.empty() && size.height > 1;
  if (what_if_options.pixel_maps) {
    pictures::require_drawable(size.width, size.height, options.path);
  }
  const experiment::WhatIfResult result = experiment::what_if(trace, resolved, what_if_options);

  log_not_captured(trace.header);
  const report::Context context{options.path, trace, resolved, {}, true, accelerator.get()};
  if (!options.report.empty()) {
    report::write_report({options.report, options.output.force, image, colormap}, context, result, published);
  }
  options.output.write(render(context, result, published, format));
  if (!options.report.empty()) {
    console::log(fmt::format("rayreplay: wrote the report {}/index.html", options.report));
  }
  return 0;
}

int act(const Options& options) {
  experiment::Configuration configuration = options.experiment.configuration();
  if (options.models.asked()) {
    for (const auto& [option, given] : {std::pair{"--packing and --swizzle", options.experiment.names_packings()},
                                        std::pair{"--compare, which is about packings", !options.compare.empty()}}) {
      if (given) {
        throw Error(ErrorKind::Usage, {"the option does not go with --models", option, "",
                                       "scheduler models, or packings", "ask for the two in two runs"});
      }
    }
  }
  if (!options.models.asked() && configuration.compared.models.empty()) {
    options.models.require_none();
  }
  options.models.apply_to(configuration.compared);
  // A configuration file may ask for models; packings on the command line win over it.
  return configuration.compared.models.empty() || options.experiment.names_packings()
             ? compare_packings(options, configuration)
             : compare_models(options, options.models, configuration);
}

}  // namespace

void add_whatif_command(CLI::App& root, Session& session) {
  CLI::App* command = root.add_subcommand("whatif", "What would other warp packing, or another scheduler, do?");
  command->group("Experiments");
  auto options = std::make_shared<Options>();
  add_trace_file(*command, options->path)->required();
  options->experiment.add_packings_to(*command);
  options->experiment.add_placement_to(*command);
  options->experiment.add_replay_to(*command);
  options->models.add_to(*command);
  options->device.add_to(*command);
  options->format.add_to(*command);
  options->output.add_to(*command, "Where to write the result; - is standard output");
  command->add_flag("--print-config", options->print_config, "Print the resolved configuration (TOML) and stop")
      ->group("Output");
  command->add_option("--compare", options->compare, "Published figures (TOML) to print beside ours")
      ->type_name("FILE")
      ->group("Output");
  command->add_option("--report", options->report, "Folder to write: one HTML page, pictures, data")
      ->type_name("DIR")
      ->group("Report");
  command->add_option("--image", options->image, "The rendered picture (PNG), to show in the report")
      ->type_name("FILE")
      ->group("Report");
  command->add_option("--colormap", options->colormap, "viridis or plasma")
      ->type_name("NAME")
      ->capture_default_str()
      ->group("Report");
  command->callback([&session, options] { session.action = [options] { return act(*options); }; });
}

}  // namespace rayreplay::app
