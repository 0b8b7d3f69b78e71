#include "app/report/profile/profile_page.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/page/page.hpp"
#include "app/report/profile/access_charts.hpp"
#include "app/report/profile/agreement_charts.hpp"
#include "app/report/profile/agreement_table.hpp"
#include "app/report/profile/block_histogram.hpp"
#include "app/report/profile/path_table.hpp"
#include "app/report/profile/profile_table.hpp"
#include "app/report/profile/value_charts.hpp"
#include "app/report/profile/value_table.hpp"
#include "app/report/shaders/disassembly.hpp"
#include "base/count_text.hpp"
#include "base/shortened.hpp"
#include "base/text.hpp"

namespace rayreplay::report {
namespace {

using pictures::BarPlot;
using pictures::Chart;
using pictures::Plot;
using pictures::PlotSeries;

constexpr double kPercent = 100;
constexpr std::size_t kMostLabel = 28;

std::string label_of(const ProfileDetails& details, std::uint16_t shader) {
  return bar_label(shader, details.rows[shader].name);
}

double executed_by(const ProfileDetails& details, std::uint16_t shader) {
  return details.executions.at(shader).profile.lane_instructions;
}

/// Shaders with counts, by falling number of executed instructions.
std::vector<std::uint16_t> by_executions(const ProfileDetails& details) {
  std::vector<std::uint16_t> shaders;
  for (const auto& [shader, of] : details.executions) {
    shaders.push_back(shader);
  }
  std::ranges::stable_sort(shaders, std::greater<>(),
                           [&](std::uint16_t shader) { return executed_by(details, shader); });
  return shaders;
}

double percent(double part, double whole) {
  return whole > 0 ? kPercent * part / whole : 0;
}

double unused_percent(const profile::ShaderProfile& shader) {
  return percent(static_cast<double>(shader.unused_instructions), static_cast<double>(shader.instructions));
}

/// Mixes of the shaders that executed most, at most kMostBars.
std::vector<const ShaderMix*> most_executed(const ProfileDetails& details) {
  std::vector<const ShaderMix*> mixes;
  for (const ShaderMix& mix : details.mixes) {
    mixes.push_back(&mix);
  }
  std::ranges::stable_sort(mixes, std::greater<>(), [](const ShaderMix* mix) { return mix->issued(); });
  mixes.resize(std::min(mixes.size(), kMostBars));
  return mixes;
}

BarPlot branch_chart(const ProfileDetails& details) {
  BarPlot chart{.title = "Executed branches by shader",
                .note = "By the level of the condition; empty without branches." + bars_note(details.mixes.size()),
                .value_title = "branches that lanes executed (%)",
                .stacked = true};
  for (std::size_t level = 0; level < kLevels; ++level) {
    chart.series.push_back({level_name(level), level, {}});
  }
  for (const ShaderMix* mix : most_executed(details)) {
    const std::array<double, kLevels>& counts = mix->branches.executed;
    const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
    chart.categories.push_back(label_of(details, mix->shader));
    for (std::size_t level = 0; level < kLevels; ++level) {
      chart.series[level].values.push_back(percent(counts[level], all));
    }
  }
  return chart;
}

Plot size_chart(const ProfileDetails& details) {
  Plot plot{.title = "Unused code by size of the shader",
            .note = "A point is a shader.",
            .x = {.title = "instructions in the shader's code", .logarithmic = true},
            .y = {.title = "unused (% of the instructions)"}};
  PlotSeries points{.name = "", .line = false};
  for (const auto& [shader, of] : details.executions) {
    const double unused = unused_percent(of.profile);
    points.points.push_back({static_cast<double>(of.profile.instructions), unused});
    points.titles.push_back(fmt::format("{}: {:.1f} % of {}", label_of(details, shader), unused,
                                        counted(of.profile.instructions, "instruction")));
  }
  plot.series.push_back(std::move(points));
  pictures::fit_axes(plot, {.high_y = kPercent, .margin = 0.04});
  return plot;
}

/// "5 blocks of 2 shaders, by lane and by group; 8 branches; 12 loads".
std::string counts_text(const ProfileContext& context, const ProfileDetails& details) {
  std::vector<std::string> parts;
  if (context.has_blocks()) {
    parts.push_back(fmt::format("{} of {}, {}", counted(context.trace.block_counts.size(), "block"),
                                counted(details.executions.size(), "shader"),
                                context.trace.block_counts.groups.empty() ? "by lane" : "by lane and by group"));
  }
  if (!context.agreement.branches.empty()) {
    parts.push_back(counted(context.agreement.branches.size(), "branch", "branches"));
  }
  if (!context.agreement.loads.empty()) {
    parts.push_back(counted(context.agreement.loads.size(), "load"));
  }
  if (context.has_paths()) {
    parts.push_back(counted(context.trace.paths.size(), "path") + " of calls");
  }
  if (!context.values.empty()) {
    parts.push_back("values of " + counted(context.values.size(), "loaded number"));
  }
  if (context.has_accesses()) {
    parts.push_back("accesses of " + counted(context.trace.access_sites.size(), "place"));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// What the page lacks because the trace has no counts of it; "" if it has all.
std::string missing_counts(const ProfileContext& context) {
  std::vector<std::string> missing;
  for (const auto& [there, name] :
       {std::pair{context.has_blocks(), "blocks"}, std::pair{!context.agreement.branches.empty(), "branches"},
        std::pair{!context.agreement.loads.empty(), "loads"}, std::pair{context.has_paths(), "paths"},
        std::pair{!context.values.empty(), "values"}, std::pair{context.has_accesses(), "memory"}}) {
    if (!there) {
      missing.emplace_back(name);
    }
  }
  return missing.empty()
             ? ""
             : fmt::format("{0} (capture with --profile {1})", fmt::join(missing, ", "), fmt::join(missing, ","));
}

Facts facts_of(const ProfileContext& context, const ProfileDetails& details) {
  const trace::Header& header = context.trace.header;
  Facts facts = {{"trace", context.file},
                 {"trace hash", context.trace.hash},
                 {"application", header.application + (header.device.empty() ? "" : ", " + header.device)},
                 {"counts", counts_text(context, details)},
                 {"warps", header.warp_size == 0 ? "size not known" : counted(header.warp_size, "lane")},
                 {"computed by", fmt::format("rayreplay {}", RAYREPLAY_VERSION)}};
  if (const std::string missing = missing_counts(context); !missing.empty()) {
    facts.emplace_back("not counted", missing);
  }
  for (const auto& [shader, of] : details.executions) {
    for (const std::string& note : of.notes) {
      facts.emplace_back("note", fmt::format("shader {}: {}", shader, note));
    }
    if (details.rows[shader].facts == nullptr) {
      facts.emplace_back("note", fmt::format("shader {}: {}", shader, details.rows[shader].missing));
    }
  }
  for (const std::string& missing : header.not_captured) {
    facts.emplace_back("not captured", missing);
  }
  return facts;
}

/// The data beside the page.
std::string files_text(const ProfileContext& context, bool has_histogram) {
  std::string files = "profile.json";
  for (const auto& [there, names] :
       {std::pair{context.has_blocks(), ", shaders.csv, blocks.csv, classes.csv, levels.csv"},
        std::pair{has_histogram, ", histogram.csv"}, std::pair{context.has_paths(), ", paths.csv, pixels.csv"},
        std::pair{context.has_agreement(), ", uniformity.csv"},
        std::pair{!context.agreement.branches.empty(), ", branches.csv"},
        std::pair{!context.agreement.loads.empty(), ", loads.csv"},
        std::pair{!context.values.empty(), ", values.csv, uniform-values.csv"},
        std::pair{context.has_accesses(), ", memory.csv, lines.csv, images.csv"},
        std::pair{!context.registers.marks.empty(), ", registers.csv"}}) {
    files += there ? names : "";
  }
  return files;
}

/// A note below a list of which the page shows only the first rows; "" below others.
std::string rest_note(std::size_t all, const char* file) {
  return all <= kMostPageRows
             ? ""
             : fmt::format("The first {} of {} are shown; {} has all", kMostPageRows, counted(all, "row"), file);
}

PageData bounded_table(output::Table table, const char* file, const std::string& bar_key = "") {
  const std::string note = rest_note(table.rows.size(), file);
  table.rows.resize(std::min(table.rows.size(), kMostPageRows));
  PageData data = page_table(table, bar_key);
  data["rest"] = note;
  return data;
}

Facts bounded_facts(Facts facts) {
  if (facts.size() > kMostPageRows) {
    const std::size_t left_out = facts.size() - kMostPageRows;
    facts.resize(kMostPageRows);
    facts.emplace_back("…", fmt::format("and {}; profile.json has all", counted(left_out, "more line")));
  }
  return facts;
}

/// Shaders with counts of blocks, by falling number of executed instructions, then those of branches and loads alone.
std::vector<std::uint16_t> shaders_to_print(const ProfileDetails& details) {
  std::vector<std::uint16_t> shaders = by_executions(details);
  for (const auto& [shader, places] : details.measured) {
    if (!details.executions.contains(shader)) {
      shaders.push_back(shader);
    }
  }
  return shaders;
}

ShaderCounts counts_of(const ProfileDetails& details, std::uint16_t shader) {
  const auto executions = details.executions.find(shader);
  const auto measured = details.measured.find(shader);
  return {executions == details.executions.end() ? nullptr : &executions->second,
          measured == details.measured.end() ? nullptr : &measured->second};
}

/// The instructions of the shaders that executed most, while there is room.
void add_instructions(PageData& data, const ProfileContext& context, const ProfileDetails& details) {
  data["instructions"] = PageData::array();
  std::size_t room = kMostPageText, left_out = 0;
  for (const std::uint16_t shader : shaders_to_print(details)) {
    const ShaderRow& row = details.rows[shader];
    if (row.facts == nullptr) {
      continue;
    }
    if (room == 0) {
      ++left_out;
      continue;
    }
    std::string text = disassembly(row, counts_of(details, shader), std::min(room, kMostShaderText));
    room -= std::min(room, text.size());
    data["instructions"].push_back(
        {{"title", fmt::format("shader {}: {} ({})", shader, text::printable(text::shortened(row.name, 4 * kMostLabel)),
                               row.stage)},
         {"text", std::move(text)}});
  }
  data["shown_by"] = "rayreplay shaders " + text::printable(context.file) + " --disassemble N";
  data["left_out"] = left_out == 0 ? "" : counted(left_out, "shader");
}

void add_memory(PageData& data, const ProfileContext& context) {
  AccessDetails details = context.accesses;
  details.order = by_transactions(details.accesses);
  const trace::AccessSites& sites = context.trace.access_sites;
  data["memory_verdict"] = access_verdict(context.trace.shaders, sites, details);
  data["memory_notes"] = PageData::array();
  for (const std::string& note : details.notes) {
    data["memory_notes"].push_back({{"note", note}});
  }
  if (const std::vector<Chart> charts = access_charts(sites, details); !charts.empty()) {
    data["memory"] = PageData{{"charts", page_charts(charts)}};
  }
  data["memory_rows"] =
      bounded_table(access_table(context.trace.shaders, sites, details), "memory.csv", "sectors_share");
  if (!context.images.rows.empty()) {
    data["image_rows"] = bounded_table(context.images, "images.csv");
    data["image_layout"] = context.image_layout;
  }
}

}  // namespace

std::string bar_label(std::uint16_t shader, const std::string& name) {
  return fmt::format("{} {}", shader, text::shortened(name, kMostLabel));
}

std::string bars_note(std::size_t all) {
  return all <= kMostBars ? "" : fmt::format(" The {} of {} that executed most.", kMostBars, counted(all, "shader"));
}

std::vector<Chart> unused_charts(const ProfileDetails& details) {
  std::vector<std::uint16_t> shaders = by_executions(details);
  BarPlot chart{.title = "Unused code by shader",
                .note = "Instructions of blocks that ran in fewer than 0.001 % of the shader's entries." +
                        bars_note(shaders.size()),
                .value_title = "instructions in the code (%)",
                .stacked = true};
  shaders.resize(std::min(shaders.size(), kMostBars));
  BarPlot::Series used{"used", 0, {}}, unused{"unused", 1, {}};
  for (const std::uint16_t shader : shaders) {
    const double share = unused_percent(details.executions.at(shader).profile);
    chart.categories.push_back(label_of(details, shader));
    used.values.push_back(kPercent - share);
    unused.values.push_back(share);
  }
  chart.series = {std::move(used), std::move(unused)};
  return {chart, size_chart(details)};
}

std::vector<Chart> level_charts(const ProfileDetails& details) {
  BarPlot chart{.title = "Levels of branches and loads",
                .note =
                    "Static levels, of all counted shaders: each place in the code once, or each of its executions "
                    "by a lane.",
                .value_title = "branches, or loads from memory (%)",
                .stacked = true};
  for (std::size_t level = 0; level < kLevels; ++level) {
    chart.series.push_back({level_name(level), level, {}});
  }
  const auto add = [&](const std::string& name, LevelCounts ShaderMix::*subject,
                       std::array<double, kLevels> LevelCounts::*list) {
    std::array<double, kLevels> sums{};
    for (const ShaderMix& mix : details.mixes) {
      for (std::size_t level = 0; level < kLevels; ++level) {
        sums[level] += (mix.*subject.*list)[level];
      }
    }
    const double all = std::accumulate(sums.begin(), sums.end(), 0.0);
    chart.categories.push_back(name);
    for (std::size_t level = 0; level < kLevels; ++level) {
      chart.series[level].values.push_back(percent(sums[level], all));
    }
  };
  for (const auto& [name, subject] :
       {std::pair{"branches", &ShaderMix::branches}, std::pair{"loaded values", &ShaderMix::values},
        std::pair{"load addresses", &ShaderMix::addresses}}) {
    add(std::string(name) + ", in the code", subject, &LevelCounts::code);
    add(std::string(name) + ", executed", subject, &LevelCounts::executed);
  }
  return {chart, branch_chart(details)};
}

std::vector<Chart> class_charts(const ProfileDetails& details) {
  const std::vector<const ShaderMix*> mixes = most_executed(details);
  double all = 0;
  for (const ShaderMix& mix : details.mixes) {
    all += mix.issued();
  }
  BarPlot of_all{.title = "Executed instructions by shader and class",
                 .note = "Of all instructions that lanes executed." + bars_note(details.mixes.size()),
                 .value_title = "executed instructions of all shaders (%)",
                 .stacked = true};
  BarPlot of_own{.title = "Classes of each shader's executed instructions",
                 .note = "Of the instructions that lanes executed in the shader." + bars_note(details.mixes.size()),
                 .value_title = "executed instructions of the shader (%)",
                 .stacked = true};
  for (std::size_t c = 0; c < spirv::kInstructionClasses; ++c) {
    const auto of = static_cast<spirv::InstructionClass>(c);
    if (!spirv::issues(of)) {
      continue;
    }
    BarPlot::Series share_of_all{std::string(to_string(of)), c, {}}, share_of_own = share_of_all;
    for (const ShaderMix* mix : mixes) {
      share_of_all.values.push_back(percent(mix->executed[c], all));
      share_of_own.values.push_back(percent(mix->executed[c], mix->issued()));
    }
    of_all.series.push_back(std::move(share_of_all));
    of_own.series.push_back(std::move(share_of_own));
  }
  for (const ShaderMix* mix : mixes) {
    of_all.categories.push_back(label_of(details, mix->shader));
    of_own.categories.push_back(label_of(details, mix->shader));
  }
  return {of_all, of_own};
}

std::string profile_page(const ProfileContext& context, const ProfileDetails& details) {
  PageData data;
  data["title"] = "Inside the shaders: " + context.file;
  data["facts"] = page_facts(bounded_facts(facts_of(context, details)));
  data["has_blocks"] = context.has_blocks();
  std::vector<Chart> histogram = histogram_charts(block_histogram(context, details));
  const bool has_histogram = !histogram.empty();
  if (context.has_blocks()) {
    data["shaders"] =
        bounded_table(profile_shader_table(context.trace, context.shaders), "shaders.csv", "unused_share");
    std::ranges::move(unused_charts(details), std::back_inserter(histogram));
    data["unused"] = PageData{{"charts", page_charts(histogram)}};
    data["levels"] = PageData{{"charts", page_charts(level_charts(details))}};
    data["level_rows"] = bounded_table(level_table(details.rows, details.mixes), "levels.csv");
    data["classes"] = PageData{{"charts", page_charts(class_charts(details))}};
    data["class_rows"] = bounded_table(class_table(details.rows, details.mixes), "classes.csv");
  }
  data["has_agreement"] = context.has_agreement();
  if (context.has_agreement()) {
    data["measured"] = PageData{{"charts", page_charts(agreement_charts(context.trace.shaders, context.agreement))}};
    data["measured_rows"] =
        bounded_table(agreement_table(context.trace, context.agreement), "uniformity.csv", "uniform_executions_share");
  }
  data["has_paths"] = context.has_paths();
  if (context.has_paths()) {
    data["path_rows"] = bounded_table(path_table(context.trace, context.paths), "paths.csv", "instructions_share");
    data["maps"] = page_figures(context.maps);
    data["maps_launch"] = std::to_string(context.maps_launch);
    if (std::vector<Chart> pixels = pixel_charts(context.pixels); !pixels.empty()) {
      data["pixels"] = PageData{{"charts", page_charts(pixels)}};
    } else {
      data["no_pixels"] = true;
    }
  }
  data["has_memory"] = context.has_accesses();
  if (context.has_accesses()) {
    add_memory(data, context);
  }
  if (const auto registers =
          register_charts(context.trace.shaders, context.registers.marks, context.machine, context.lanes);
      !registers.empty()) {
    data["registers"] = PageData{{"charts", page_charts(registers)}};
    data["register_rows"] =
        bounded_table(register_table(context.trace.shaders, context.registers.marks), "registers.csv");
  }
  data["register_reason"] = context.registers.reason;
  data["has_values"] = !context.values.empty();
  if (!context.values.empty()) {
    const std::vector<profile::ValuePlace> values = by_lanes(context.values);
    data["values"] = PageData{{"charts", page_charts(value_charts(values, context.top_values))}};
    data["value_rows"] =
        bounded_table(value_table(context.trace, values, context.top_values, false), "values.csv", "lanes_share");
    data["uniform_value_rows"] = bounded_table(value_table(context.trace, values, context.top_values, true),
                                               "uniform-values.csv", "uniform_groups_share");
    data["top_values"] = std::to_string(context.top_values);
  }
  data["files"] = files_text(context, has_histogram);
  add_instructions(data, context, details);
  return make_page("profile", std::move(data));
}

}  // namespace rayreplay::report
