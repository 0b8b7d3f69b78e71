#include "app/report/models/models_page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/report/models/models_notes.hpp"
#include "app/report/models/models_table.hpp"
#include "app/report/models/verdict.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::BreakEvenKind;
using experiment::CompareResult;
using experiment::CompareRow;
using pictures::BarPlot;
using pictures::Chart;
using pictures::Plot;
using pictures::PlotSeries;

constexpr std::size_t kLaneBins = 8;

bool is_scheduled(const CompareRow& row) {
  return row.grouping != scheduler::Grouping::Bound;
}

/// A model has the same colour in every chart.
PlotSeries line_of(const CompareResult& result, std::size_t row) {
  return {.name = short_spec(result.rows[row].model), .color = row, .dots = false};
}

Plot bounce_chart(const CompareResult& result) {
  Plot plot{.title = "SIMT efficiency per bounce",
            .note = "Warp events in which a ray of this bounce takes part.",
            .x = {.title = "bounce (index of the thread's ray)"},
            .y = {.title = "SIMT efficiency (%)"}};
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    PlotSeries one = line_of(result, i);
    for (std::size_t bounce = 0; bounce < row.replay.by_bounce.size(); ++bounce) {
      simt::Tally tally;
      for (const simt::Tally& kind : row.replay.by_bounce[bounce]) {
        tally += kind;
      }
      if (tally.warp_events > 0) {
        one.points.push_back({static_cast<double>(bounce), 100 * tally.efficiency(result.configuration.warp_size)});
      }
    }
    if (is_scheduled(row)) {
      plot.series.push_back(std::move(one));
    }
  }
  fit_axes(plot, {.whole_x = true, .high_y = 100});
  return plot;
}

BarPlot lanes_chart(const CompareResult& result) {
  const std::size_t size = result.configuration.warp_size;
  const std::size_t step = std::max<std::size_t>(1, (size + kLaneBins - 1) / kLaneBins);
  BarPlot chart{.title = "Active lanes",
                .note = "How full the warps are, over all warp events of the launch.",
                .category_title = "active lanes of a warp event",
                .value_title = "warp events (%)"};
  for (std::size_t first = 1; first <= size; first += step) {
    const std::size_t last = std::min(size, first + step - 1);
    chart.categories.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}–{}", first, last));
  }
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    if (!is_scheduled(row)) {
      continue;
    }
    BarPlot::Series series{short_spec(row.model), i, {}};
    const auto all = static_cast<double>(std::max<std::uint64_t>(row.replay.replay.total.warp_events, 1));
    for (std::size_t first = 1; first <= size; first += step) {
      std::uint64_t events = 0;
      for (std::size_t lanes = first; lanes <= std::min(size, first + step - 1); ++lanes) {
        events += row.replay.active_lanes[lanes];
      }
      series.values.push_back(100 * static_cast<double>(events) / all);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Speed-up against shader cost, and against live state; charts without a line are left out.
void add_responses(std::vector<Chart>& charts, const CompareResult& result) {
  Plot cost{
      .title = "Speed-up against shader cost",
      .note = fmt::format("Closest-hit calls cost {:.0f} now; rings mark break-even, or the middle of where it lies.",
                          result.mean_hit_cost),
      .x = {.title = "instructions of a closest-hit call, on average", .logarithmic = true},
      .y = {.title = "speed-up against plain"},
      .rule = 1};
  Plot live{.title = "Speed-up against live state",
            .note =
                "What a thread must carry along when it moves, instead of the model's own figure. Models that form "
                "warps while time passes are not shown.",
            .x = {.title = "live state of a thread (bytes)"},
            .y = {.title = "speed-up against plain"},
            .rule = 1};
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    PlotSeries by_cost = line_of(result, i), by_state = by_cost;
    for (const experiment::ResponsePoint& point : row.response) {
      if (std::isnan(point.live_bytes)) {
        by_cost.points.push_back({std::max(1.0, result.mean_hit_cost + point.hit_instructions), point.speed_up});
      } else {
        by_state.points.push_back({point.live_bytes, point.speed_up});
      }
    }
    if (row.break_even.solved()) {
      by_cost.ring = {row.break_even.hit_cost, 1};
    }
    if (i > 0 && is_scheduled(row) && !by_cost.points.empty()) {
      cost.series.push_back(std::move(by_cost));
    }
    if (!by_state.points.empty()) {
      live.series.push_back(std::move(by_state));
    }
  }
  for (Plot* plot : {&cost, &live}) {
    if (!plot->series.empty()) {
      fit_axes(*plot);
      charts.emplace_back(std::move(*plot));
    }
  }
}

BarPlot split_chart(const CompareResult& result) {
  BarPlot chart{.title = "Where the time goes",
                .note = "The parts of a bar sum to the launch's time.",
                .value_title = "time of all SMs, as estimated milliseconds of the launch",
                .series = {{"traversal", 1}, {"shading", 7}, {"reorder", 2}, {"idle", 0}, {"withheld", 5}},
                .stacked = true};
  for (const CompareRow& row : result.rows) {
    if (!is_scheduled(row)) {
      continue;
    }
    chart.categories.push_back(short_spec(row.model));
    const machine::Split& split = row.timing.split;
    const double all = row.timing.cycles * result.machine.sms;
    std::size_t k = 0;
    for (const double part : {split.traversal, split.shading, split.reorder, split.idle, split.withheld}) {
      chart.series[k++].values.push_back(all > 0 ? row.timing.milliseconds * part / all : 0);
    }
  }
  return chart;
}

Facts facts_of(const ModelsContext& models) {
  const CompareResult& result = models.result;
  const machine::Machine& machine = result.machine;
  const std::string launch =
      fmt::format("{}: {} x {} x {}, {}, {}, {}", result.configuration.launch, result.size.width, result.size.height,
                  result.size.depth, counted(result.size.threads(), "thread"), counted(result.rays, "ray"),
                  counted(result.events, "event"));
  return launch_facts(
      models.context, launch,
      {{"warps", fmt::format("{}, order {}, packed {}, replay policy {}",
                             counted(result.configuration.warp_size, "lane"), result.configuration.order,
                             models.settings.text("packing"), simt::to_string(result.configuration.policy))},
       {"machine",
        fmt::format("{}: {}, {:.0f} MHz, {} of {} resident at {} a thread{}", machine.name, counted(machine.sms, "SM"),
                    machine.clock_mhz, result.resident_warps, counted(machine.resident_warps, "warp"),
                    counted(static_cast<std::uint64_t>(models.settings.integer("registers_per_thread")), "register"),
                    machine.reorders ? ", reorders in hardware" : "")},
       {"cost", hit_cost_text(result)}});
}

/// Pictures that were drawn, with their captions.
std::vector<Picture> map_pictures(const ModelsPage& page) {
  std::vector<Picture> pictures;
  for (std::size_t i = 0; i < page.maps.size(); ++i) {
    const SmMap& map = page.maps[i];
    if (!page.map_files[i].empty()) {
      pictures.push_back({page.map_files[i],
                          fmt::format("{}: the SM on which the pixel's thread ended. {:.1f} % of the threads ran on "
                                      "more than one SM.",
                                      short_spec(page.models.result.rows[i].model), map.changed_percent())});
    }
  }
  return pictures;
}

}  // namespace

std::string to_html(const ModelsPage& page) {
  const CompareResult& result = page.models.result;
  PageData data;
  data["title"] = "What if: " + page.models.context.trace_file;
  data["facts"] = page_facts(facts_of(page.models));
  data["models"] = page_table(short_models_table(result));
  std::vector<Chart> charts = {split_chart(result), bounce_chart(result), lanes_chart(result)};
  if (result.rows.size() > 1) {
    add_responses(charts, result);
    if (result.rows[1].break_even.kind != BreakEvenKind::NotAsked) {
      Facts facts;
      for (std::size_t i = 1; i < result.rows.size(); ++i) {
        facts.emplace_back(short_spec(result.rows[i].model),
                           to_sentence(result.rows[i].break_even, result.mean_hit_cost));
      }
      data["break_even"]["facts"] = page_facts(facts);
    }
  }
  Facts verdicts;
  for (const CompareRow& row : result.rows) {
    if (row.verdict.kind != experiment::VerdictKind::NotAsked) {
      verdicts.emplace_back(short_spec(row.model), verdict_sentence(result, row));
    }
  }
  if (!verdicts.empty()) {
    data["verdict"]["facts"] = page_facts(verdicts);
    data["hangs_on"] = page_table(verdict_table(result, false));
  }
  data["quantities"] = page_table(quantity_table(result));
  data["note"] = few_warps_note(result);
  data["charts"] = page_charts(charts);
  data["stages"] = page_table(efficiency_by_stage(result));
  data["bounces"] = page_table(efficiency_by_bounce(result));
  if (!page.image_file.empty()) {
    data["image"] = page_figures({{page.image_file, "What the launch rendered."}});
  }
  data["maps"] = page_figures(map_pictures(page));
  data["costs"] = page_table(shown_costs(result, page.models.context.trace));
  data["command"] = "whatif";
  data["configuration"] = page.configuration_toml;
  data["machine"] = machine::to_toml_with_origins(result.machine);
  return make_page("models", std::move(data));
}

}  // namespace rayreplay::report
