// rayreplay traverse: all rays of a launch through one or several traversals.
#include <memory>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/device_option.hpp"
#include "app/commands/options.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "app/report/access_file.hpp"
#include "app/report/context.hpp"
#include "app/report/traverse_table.hpp"
#include "base/count_text.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "sim/experiment/traverse.hpp"

namespace rayreplay::app {
namespace {

struct Options {
  std::string path;
  experiment::TraverseOptions traverse;
  std::string accesses;
  ExperimentOptions experiment;
  DeviceOption device;
  FormatOption format;
  OutputOption output;
};

/// Without a choice every model; unknown ones are found before any work.
void choose_models(experiment::TraverseOptions& options) {
  if (options.traversals.empty() && options.warp_traversals.empty()) {
    options.traversals = traversal::Traversals::names();
    options.warp_traversals = traversal::WarpTraversals::names();
  }
  for (const std::string& spec : options.traversals) {
    static_cast<void>(traversal::Traversals::create(spec));
  }
  for (const std::string& spec : options.warp_traversals) {
    static_cast<void>(traversal::WarpTraversals::create(spec));
  }
  static_cast<void>(bvh::Builders::create(options.structure.builder));
  static_cast<void>(bvh::Layouts::create(options.structure.layout));
  static_cast<void>(bvh::NodeOrders::create(options.structure.node_order));
  static_cast<void>(bvh::VertexOrders::create(options.structure.vertex_order));
}

std::vector<std::string> resolved_specs(const std::vector<std::string>& traversals) {
  std::vector<std::string> specs;
  specs.reserve(traversals.size());
  for (const std::string& spec : traversals) {
    specs.push_back(traversal::Traversals::create(spec).spec);
  }
  return specs;
}

void log_speed(const experiment::TraverseResult& result) {
  for (const std::string& line : describe(result.ignored)) {
    console::log("rayreplay: warning: ignored: " + line);
  }
  if (!result.rows.empty() && result.rows.front().ignored > 0) {
    console::log(fmt::format("rayreplay: warning: ignored: {} of {}: no direction, not finite, or t_min above t_max",
                             result.rows.front().ignored, counted(result.rows.front().rays, "ray")));
  }
  for (const experiment::TraverseRow& row : result.rows) {
    if (row.kind != experiment::TraverseKind::Observed && row.seconds > 0) {
      console::log(fmt::format("rayreplay: {}: {:.2f} Mrays/s, accesses logged", row.asked,
                               static_cast<double>(row.rays) / row.seconds / 1e6));
    }
  }
}

int act(const Options& given) {
  experiment::TraverseOptions options = given.traverse;
  const output::Format format = given.format.format();
  experiment::Configuration configuration = given.experiment.configuration();
  require_file_name(given.accesses, "--accesses");
  require_distinct({{"--output", given.output.path}, {"--accesses", given.accesses}},
                   given.experiment.inputs(given.path, configuration));
  given.output.check();
  if (!given.accesses.empty()) {
    require_writable(given.accesses, given.output.force);
  }
  choose_models(options);
  const std::unique_ptr<kernels::Accelerator> accelerator = given.device.open();
  options.accelerator = accelerator.get();
  if (!given.accesses.empty() && options.traversals.empty()) {
    throw Error(ErrorKind::Usage, {"warp traversals' accesses are not written", "--accesses", "no --traversal",
                                   "at least one --traversal", "name one, such as --traversal near-first"});
  }
  options.packing = configuration.packings.empty() ? "identity" : configuration.packings.front();
  configuration.packings = {options.packing};
  const trace::Trace trace = load_trace(given.path);
  const experiment::Resolved resolved = experiment::resolve(configuration, trace);
  const std::unique_ptr<Progress> progress = console::make_progress();
  options.progress = progress.get();
  std::unique_ptr<report::AccessFile> accesses;
  if (!given.accesses.empty()) {
    accesses = std::make_unique<report::AccessFile>(given.accesses, given.output.force, trace, resolved.launch,
                                                    resolved_specs(options.traversals));
    options.accesses = [&accesses](std::size_t row, std::span<const std::uint64_t> ray,
                                   const traversal::RayRows<traversal::Access>& rows) {
      accesses->append(row - 1, ray, rows);  // row 0 is the trace itself
    };
  }
  const experiment::TraverseResult result = experiment::traverse(trace, given.path, resolved, options);
  if (accesses != nullptr) {
    accesses->commit();
  }
  log_not_captured(trace.header);
  log_speed(result);
  const report::Context context{given.path,       trace, resolved, report::traverse_context(result), false,
                                accelerator.get()};
  const output::Table table = report::traverse_table(result, resolved.warp_size);
  switch (format) {
    case output::Format::Table:
      given.output.write(report::context_text(context) + "\n" + report::traverse_text(result, resolved.warp_size));
      break;
    case output::Format::Csv:
      given.output.write(output::to_csv(report::with_context(table, context)));
      break;
    case output::Format::Json: {
      nlohmann::ordered_json document = report::context_json(context, "rayreplay.traverse/1");
      document["rows"] = to_json(table);
      given.output.write(json_text(document, 2) + "\n");
      break;
    }
  }
  return 0;
}

void add_models(CLI::App& command, experiment::TraverseOptions& options) {
  constexpr const char* kModels = "Traversals";
  command
      .add_option("--traversal", options.traversals,
                  "Traversal, may be repeated [without any choice: all of both kinds]")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group(kModels);
  command.add_option("--warp-traversal", options.warp_traversals, "Warp traversal, may be repeated")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->group(kModels);
  constexpr const char* kStructure = "Structure";
  const auto add = [&](const char* name, auto& value, const char* text, const char* type) {
    command.add_option(name, value, text)->type_name(type)->capture_default_str()->group(kStructure);
  };
  add("--builder", options.structure.builder, "Builder", "SPEC");
  add("--layout", options.structure.layout, "Layout", "SPEC");
  add("--node-order", options.structure.node_order, "Order of nodes in memory", "SPEC");
  add("--vertex-order", options.structure.vertex_order, "Order of vertices in memory", "SPEC");
  add("--leaf-size", options.structure.leaf_size, "Most references of a leaf; 0: the builder's", "N");
}

}  // namespace

void add_traverse_command(CLI::App& root, Session& session) {
  CLI::App* command =
      root.add_subcommand("traverse", "All rays of a launch traced again: what each traversal does with them");
  command->group("Experiments");
  auto options = std::make_shared<Options>();
  add_trace_file(*command, options->path)->required();
  add_models(*command, options->traverse);
  options->experiment.add_packing_to(*command);
  options->experiment.add_placement_to(*command);
  options->device.add_to(*command);
  options->format.add_to(*command);
  command->add_option("--accesses", options->accesses, "Also write what each scalar traversal reads (HDF5)")
      ->type_name("FILE")
      ->group("Output");
  options->output.add_to(*command, "Where to write the result; - is standard output");
  command->callback([&session, options] { session.action = [options] { return act(*options); }; });
}

}  // namespace rayreplay::app
