// rayreplay traverse: replays all rays of a launch through one or several traversals.
#include <memory>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/device_option.hpp"
#include "app/commands/options/opened_trace.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/settings_options.hpp"
#include "app/console/console.hpp"
#include "app/report/context/context.hpp"
#include "app/report/rays/access_file.hpp"
#include "app/report/rays/traverse_table.hpp"
#include "base/count_text.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "bvh/check_options.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/traversal.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kRay = "traversal.ray";
constexpr const char* kWarp = "traversal.warp";

struct TraverseArguments {
  std::string path;
  std::string accesses;
  SettingsOptions experiment;
  DeviceOption device;
  ResultOption output;
};

/// Traversals of the flags, else of the settings, else every model. Unknown ones are errors before any work.
void choose_models(const TraverseArguments& given, const experiment::Settings& asked,
                   experiment::TraverseOptions& options) {
  static_cast<void>(given.experiment.variants(kRay, asked));
  static_cast<void>(given.experiment.variants(kWarp, asked));
  options.traversals = given.experiment.given_variants(kRay);
  options.warp_traversals = given.experiment.given_variants(kWarp);
  if (!options.traversals.empty() || !options.warp_traversals.empty()) {
    return;
  }
  const experiment::Settings full = experiment::complete(asked, experiment::NamedInput::Elsewhere);
  for (const auto& [key, chosen] : {std::pair{kRay, &options.traversals}, std::pair{kWarp, &options.warp_traversals}}) {
    if (!full.where(key).empty()) {
      chosen->push_back(full.text(key));
    }
  }
  if (options.traversals.empty() && options.warp_traversals.empty()) {
    options.traversals = traversal::Traversals::names();
    options.warp_traversals = traversal::WarpTraversals::names();
  }
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
    console::warn("ignored: {}", line);
  }
  if (!result.rows.empty() && result.rows.front().ignored > 0) {
    console::warn("ignored: {} of {}: no direction, not finite, or t_min above t_max", result.rows.front().ignored,
                  counted(result.rows.front().rays, "ray"));
  }
  for (const experiment::TraverseRow& row : result.rows) {
    if (row.kind != experiment::TraverseKind::Observed && row.seconds > 0) {
      console::tell("{}: {:.2f} Mrays/s, accesses logged", row.asked,
                    static_cast<double>(row.rays) / row.seconds / 1e6);
    }
  }
}

int act(const TraverseArguments& given) {
  const experiment::Settings asked = given.experiment.asked(given.path);
  const experiment::Settings settings = experiment::complete(asked, experiment::NamedInput::Elsewhere);
  experiment::TraverseOptions options;
  choose_models(given, asked, options);
  bvh::check_options(experiment::structure_of(settings));
  require_file_name(given.accesses, "--accesses");
  require_distinct({{"--output", given.output.path}, {"--accesses", given.accesses}},
                   given.experiment.inputs(given.path, settings));
  given.output.check();
  if (!given.accesses.empty()) {
    require_writable(given.accesses, given.output.force);
  }
  const std::unique_ptr<Accelerator> accelerator = given.device.open();
  if (!given.accesses.empty() && options.traversals.empty()) {
    throw Error(ErrorKind::Usage, {"warp traversals' accesses are not written", "--accesses", "no --traversal",
                                   "at least one --traversal", "name one, such as --traversal near-first"});
  }
  OpenedTrace opened(given.path, settings, accelerator.get());
  const trace::Trace& trace = opened.trace();
  const experiment::Resolved resolved = experiment::resolved_of(settings, trace, false);
  std::unique_ptr<report::AccessFile> accesses;
  if (!given.accesses.empty()) {
    accesses = std::make_unique<report::AccessFile>(given.accesses, given.output.force, trace, resolved.launch,
                                                    resolved_specs(options.traversals));
    options.accesses = [&accesses](std::size_t row, std::span<const std::uint64_t> ray,
                                   const traversal::RayRows<traversal::Access>& rows) {
      accesses->append(row - 1, ray, rows);  // row 0 is the trace itself
    };
  }
  experiment::Workbench bench = opened.bench();
  const experiment::TraverseResult result = experiment::traverse_launch(bench, opened.open(), options);
  if (accesses != nullptr) {
    accesses->commit();
  }
  log_not_captured(trace.header);
  log_speed(result);
  const experiment::Settings told = given.experiment.read_of(settings, &resolved);
  const report::Context context{given.path,        trace, resolved, report::traverse_context(result), false,
                                accelerator.get(), &told};
  const output::Table table = report::traverse_table(result, resolved.warp_size);
  given.output.write_result(
      {[&] { return report::context_text(context) + "\n" + report::traverse_text(result, resolved.warp_size); },
       [&] { return report::with_context(table, context); },
       [&] {
         nlohmann::ordered_json document = report::context_json(context, "rayreplay.traverse/1");
         document["rows"] = to_json(table);
         return document;
       }});
  return 0;
}

void declare(CLI::App& command, TraverseArguments& options) {
  add_trace_file(command, options.path)->required();
  using experiment::Stage;
  TakenKeys taken{"structure, assignment, traversal"};
  taken.variants = {{kRay, "all of both kinds"}, {kWarp, "all of both kinds"}};
  options.experiment.add_to(command, std::move(taken));
  options.device.add_to(command);
  add_plain(command, "--accesses", options.accesses, "FILE", "Also write what each scalar traversal reads (HDF5)",
            "Output");
  options.output.add_to(command);
}

}  // namespace

void add_traverse_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"traverse", "Experiments", "All rays of a launch traced again: what each traversal does with them"},
              declare, act);
}

}  // namespace rayreplay::app
