#include "app/commands/experiments/whatif_memory.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/commands/options/opened_trace.hpp"
#include "app/console/console.hpp"
#include "app/report/charts/heatmap.hpp"
#include "app/report/memory/memory_report.hpp"
#include "app/report/memory/memory_table.hpp"
#include "app/report/memory/memory_timeline.hpp"
#include "base/error.hpp"
#include "base/keep_memory.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/memory/results/last_accesses.hpp"
#include "sim/variants/memory_variants.hpp"

namespace rayreplay::app {
namespace {

using experiment::MemoryOutputs;
using experiment::MemoryResult;
using experiment::MemoryRow;
using experiment::Settings;

/// Results that variants share: structures, packings, the stream that a row's stages read.
constexpr std::uint64_t kKeptBytes = std::uint64_t{2} << 30U;

[[noreturn]] void refuse(std::string what, const std::string& option, std::string expected, std::string fix) {
  throw Error(ErrorKind::Usage, {std::move(what), option, "", std::move(expected), std::move(fix)});
}

void check_options(const ModelsOptions& options, const MemoryOutputs& outputs, const Settings& asked) {
  if (!options.schedule.empty()) {
    refuse("segments are of the output model", "--segments", "--models without --outputs", "use two runs");
  }
  if (options.no_sensitivity) {
    refuse("the option is of the output model", "--no-sensitivity", "--no-break-even", "use --no-break-even");
  }
  for (const auto& [option, given] : {std::pair{"--break-even", !options.break_even.empty()},
                                      {"--no-break-even", options.no_break_even},
                                      {"--timeline", !options.timeline.empty()}}) {
    if (given && !outputs.time) {
      refuse("the option is of memory time", option, "time among --outputs", "add time to --outputs");
    }
  }
  if (options.no_break_even && !options.break_even.empty()) {
    refuse("the options contradict each other", "--break-even, --no-break-even", "one of the two", "leave one out");
  }
  if (outputs.time && asked.has(experiment::kTimeKey) && asked.text(experiment::kTimeKey) != "memory") {
    throw Error(ErrorKind::Usage, {"the output time needs memory time",
                                   experiment::place_of(asked.where(experiment::kTimeKey), experiment::kTimeKey),
                                   "'" + asked.text(experiment::kTimeKey) + "'", "memory", "leave the key out"});
  }
}

std::vector<std::pair<std::string, std::string>> flags_of(const ModelsOptions& options,
                                                          const MemoryVariants& variants) {
  std::vector<std::pair<std::string, std::string>> flags = {
      {"--outputs", options.outputs}, {"--models", fmt::format("{}", fmt::join(variants.models, ","))}};
  for (const auto& [flag, specs] :
       {std::pair{"--packing", &variants.packings}, std::pair{"--node-order", &variants.node_orders}}) {
    for (const std::string& spec : *specs) {
      if (specs->size() > 1) {
        flags.emplace_back(flag, spec);
      }
    }
  }
  return flags;
}

/// The row that the timeline shows: the last one of the model.
const MemoryRow& detailed_row(const MemoryResult& result, const std::string& model) {
  return *std::find_if(result.rows.rbegin(), result.rows.rend(),
                       [&model](const MemoryRow& row) { return row.model == model; });
}

}  // namespace

int compare_in_memory(const WhatIfCommon& common, const ModelsOptions& options, Settings asked,
                      const MemoryVariants& variants) {
  // Reports all errors that do not need the trace before it is read.
  experiment::MemoryWanted wanted{.outputs = options.memory_outputs(),
                                  .models = variants.models,
                                  .packings = variants.packings,
                                  .node_orders = variants.node_orders,
                                  .break_even = !options.no_break_even,
                                  .given_parameters = variants.given};
  // The verdict over models, its numbers and its break-even are those of memory time.
  wanted.outputs.time = wanted.outputs.time || (wanted.outputs.model && wanted.outputs.cache);
  check_options(options, wanted.outputs, asked);
  for (const std::string& model : variants.models) {
    if (is_bound(model) && !wanted.outputs.model) {
      throw Error(ErrorKind::Usage, {"the model is a bound: it has no warps", "--models", "'" + model + "'",
                                     "models that form warps", "add model to --outputs for its row, or leave it out"});
    }
  }
  wanted.numbers = experiment::parse_numbers(options.break_even, "--break-even");
  const auto timed = std::ranges::count_if(variants.models, [](const std::string& one) { return !is_bound(one); });
  const std::size_t rows = static_cast<std::size_t>(timed) * variants.packings.size() * variants.node_orders.size();
  if (!wanted.numbers.empty() && rows < 2) {
    refuse("there is nothing to compare: the baseline is the only row with a memory time", "--break-even",
           "another row: a model, packing or order of nodes", "add one, for example --models plain,ser");
  }
  require_owners(options);
  // The report shows the same row over time.
  const std::string& over_time = options.timeline.empty() ? common.report : options.timeline;
  const std::string timeline_model = detailed_model(
      {"--timeline", &over_time, "--timeline-model", &options.timeline_model}, variants.models, variants.models);
  MemoryRow first{.model = variants.models.front(),
                  .packing = variants.packings.front(),
                  .node_order = variants.node_orders.front()};
  Settings settings = experiment::settings_of(asked, wanted.outputs, first);
  const pictures::Colormap colormap = pictures::parse_colormap(common.colormap);
  auto inputs = common.experiment.inputs(common.path, settings);
  inputs.push_back({"--image", common.image});
  require_distinct({{"--output", common.output.path}, {"--report", common.report}, {"--timeline", options.timeline}},
                   inputs);
  const bool force = common.output.force;
  common.output.check();
  if (!options.timeline.empty()) {
    require_file_name(options.timeline, "--timeline");
    OutputOption{options.timeline, force}.check();
  }
  if (!common.report.empty()) {
    output::require_folder_writable(common.report, force, report::memory_folder());
  }
  const std::string image = common.image.empty() ? std::string() : read_png(common.image);
  const std::unique_ptr<Accelerator> accelerator = common.device.open();

  keep_freed_memory();
  OpenedTrace opened(common.path, std::move(settings), accelerator.get(), kKeptBytes);
  const trace::Trace& trace = opened.trace();
  const experiment::Resolved resolved = experiment::resolved_of(opened.settings(), trace, true);
  const Settings told = common.experiment.read_of(opened.settings(), &resolved);
  const auto flags = flags_of(options, variants);
  if (common.print_config) {
    common.output.write(report::memory_toml(told, flags));
    return 0;
  }
  const trace::LaunchSize size = trace.launches[resolved.launch].size;
  if (!common.report.empty() && wanted.outputs.time && size.height > 1) {
    pictures::require_drawable(size.width, size.height, common.path);
  }
  note_machine(trace, resolved, opened.settings(), variants.models);
  const experiment::VariantBench bench{
      .open = [&](const Settings& complete) { return opened.open(complete); },
      .bench = [&](bool alone) { return alone ? opened.bench_alone() : opened.bench(); },
      .asked = asked,
      .progress = opened.progress()};
  const MemoryResult result = experiment::compare_memory(bench, wanted);
  for (const auto& notes : {experiment::notes_on(experiment::stage("stream"), opened.open()), result.notes}) {
    for (const std::string& note : notes) {
      console::note("{}", note);
    }
  }

  // The timeline shows one row, the report that one and the baseline over time, and maps of all.
  std::vector<std::pair<std::string, machine::TimeHistory>> histories;
  std::vector<report::RowMap> maps;
  const MemoryRow* const detailed =
      wanted.outputs.time && !over_time.empty() ? &detailed_row(result, timeline_model) : nullptr;
  for (std::size_t i = 0; i < result.rows.size() && detailed != nullptr; ++i) {
    const MemoryRow& row = result.rows[i];
    const bool has_map = !common.report.empty() && row.metrics.contains("time_milliseconds");
    const bool has_history = &row == detailed || (i == 0 && !common.report.empty());
    if (!has_map && !has_history) {
      continue;
    }
    const std::string name = report::variant_name(result, row);
    machine::TimeHistory history(result.machine.sms);
    memory::LastAccesses last(has_map ? size.threads() : 0);
    experiment::Workbench work = opened.bench();
    static_cast<void>(experiment::interleave_launch(work,
                                                    opened.open(experiment::settings_of(asked, wanted.outputs, row)),
                                                    has_history ? &history : nullptr, has_map ? &last : nullptr));
    if (has_history) {
      histories.emplace_back(name, std::move(history));
    }
    if (has_map) {
      maps.push_back({i, name, row.metrics.at("time_milliseconds"),
                      report::last_access_map(size, last.cycles(), result.machine.clock_mhz)});
    }
  }
  log_not_captured(trace.header);
  const report::Context context{common.path, trace, resolved, {}, true, accelerator.get(), &told};
  const report::MemoryContext answer{context, result, told, flags};
  if (!options.timeline.empty()) {
    report::write_memory_timeline(options.timeline, force, histories.back().second, result.machine,
                                  histories.back().first);
  }
  if (!common.report.empty()) {
    std::vector<report::NamedHistory> shown;
    for (const auto& [name, history] : histories) {
      shown.push_back({name, &history});
    }
    report::write_memory_report({common.report, force, image, colormap}, answer, shown, maps);
  }
  common.output.write_result({[&] { return report::memory_text(answer); }, [&] { return report::memory_csv(answer); },
                              [&] { return report::memory_json(answer); }});
  for (const auto& [what, path] : {std::pair{"timeline", options.timeline},
                                   std::pair{"report", common.report.empty() ? "" : common.report + "/index.html"}}) {
    if (!path.empty()) {
      console::tell("wrote the {} {}", what, path);
    }
  }
  return 0;
}

}  // namespace rayreplay::app
