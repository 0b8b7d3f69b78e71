#include "app/report/models/models_page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/report/charts/svg_chart.hpp"
#include "app/report/context/provenance.hpp"
#include "app/report/models/models_notes.hpp"
#include "app/report/models/models_table.hpp"
#include "app/report/page/html_parts.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::BreakEvenKind;
using experiment::CompareResult;
using experiment::CompareRow;

constexpr std::size_t kLaneBins = 8;
constexpr double kPercent = 100;

constexpr std::string_view kMeanings = R"html(<dl class="columns">
<dt>SIMT efficiency</dt><dd>Active lanes over all lanes, summed over all warp events of the launch: exact, from replaying the
captured threads in the warps that the model forms. It is not speed.</dd>
<dt>active lanes</dt><dd>Lanes that take part in a warp event, on average.</dd>
<dt>time, speed-up</dt><dd>Estimated by the time model: each warp is a job with latencies and demands, and the jobs of an SM
share its resources. Speed-up is against plain.</dd>
<dt>traversal, shading, reorder, idle, withheld</dt><dd>What the time of all SMs goes to; they sum to 100 %. Withheld: SMs that
do not shade while the hardware reorders.</dd>
<dt>tail</dt><dd>Share of the time after the first SM has run out of work.</dd>
<dt>moved threads</dt><dd>Threads that went on in another warp, summed over all exchanges: their live state moves.</dd>
<dt>state</dt><dd>Memory that waiting threads take at most.</dd>
</dl>
)html";

bool is_scheduled(const CompareRow& row) {
  return row.grouping != scheduler::Grouping::Bound;
}

std::string bounce_chart(const CompareResult& result) {
  LineChart chart;
  chart.title = "SIMT efficiency per bounce";
  chart.x_title = "bounce (index of the thread's ray)";
  chart.y_title = "SIMT efficiency (%)";
  chart.caption = "Warp events in which a ray of this bounce takes part.";
  chart.whole_x = true;
  chart.y_high = kPercent;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    ChartLine one{short_spec(row.model), i, {}};
    for (std::size_t bounce = 0; bounce < row.replay.by_bounce.size(); ++bounce) {
      simt::Tally tally;
      for (const simt::Tally& kind : row.replay.by_bounce[bounce]) {
        tally += kind;
      }
      if (tally.warp_events > 0) {
        one.points.push_back(
            {static_cast<double>(bounce), kPercent * tally.efficiency(result.configuration.warp_size)});
      }
    }
    if (is_scheduled(row)) {
      chart.lines.push_back(std::move(one));
    }
  }
  return to_svg(chart);
}

std::string lanes_chart(const CompareResult& result) {
  const std::size_t size = result.configuration.warp_size;
  const std::size_t step = std::max<std::size_t>(1, (size + kLaneBins - 1) / kLaneBins);
  BarChart chart;
  chart.title = "Active lanes";
  chart.x_title = "active lanes of a warp event";
  chart.y_title = "warp events (%)";
  chart.caption = "How full the warps are, over all warp events of the launch.";
  for (std::size_t first = 1; first <= size; first += step) {
    const std::size_t last = std::min(size, first + step - 1);
    chart.categories.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}–{}", first, last));
  }
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    if (!is_scheduled(row)) {
      continue;
    }
    BarSeries series{short_spec(row.model), i, {}};
    const auto all = static_cast<double>(std::max<std::uint64_t>(row.replay.replay.total.warp_events, 1));
    for (std::size_t first = 1; first <= size; first += step) {
      std::uint64_t events = 0;
      for (std::size_t lanes = first; lanes <= std::min(size, first + step - 1); ++lanes) {
        events += row.replay.active_lanes[lanes];
      }
      series.values.push_back(kPercent * static_cast<double>(events) / all);
    }
    chart.series.push_back(std::move(series));
  }
  return to_svg(chart);
}

/// Empty without break-even.
std::string cost_chart(const CompareResult& result) {
  LineChart chart;
  chart.title = "Speed-up against shader cost";
  chart.x_title = "instructions of a closest-hit call, on average";
  chart.y_title = "speed-up against plain";
  chart.caption =
      fmt::format("Closest-hit calls cost {:.0f} now; rings mark break-even, or the middle of where it lies.",
                  result.mean_hit_cost);
  chart.log_x = true;
  chart.rule = 1;
  for (std::size_t i = 1; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    ChartLine one{short_spec(row.model), i, {}};
    for (const experiment::ResponsePoint& point : row.response) {
      if (std::isnan(point.live_bytes)) {
        one.points.push_back({std::max(1.0, result.mean_hit_cost + point.hit_instructions), point.speed_up});
      }
    }
    if (row.break_even.solved()) {
      one.marked = {row.break_even.hit_cost, 1};
    }
    if (is_scheduled(row) && !one.points.empty()) {
      chart.lines.push_back(std::move(one));
    }
  }
  return chart.lines.empty() ? std::string() : to_svg(chart);
}

/// Empty if no model moves state.
std::string live_chart(const CompareResult& result) {
  LineChart chart;
  chart.title = "Speed-up against live state";
  chart.x_title = "live state of a thread (bytes)";
  chart.y_title = "speed-up against plain";
  chart.caption =
      "What a thread must carry along when it moves, instead of the model's own figure. Models that form warps "
      "while time passes are not shown.";
  chart.rule = 1;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    ChartLine one{short_spec(row.model), i, {}};
    for (const experiment::ResponsePoint& point : row.response) {
      if (!std::isnan(point.live_bytes)) {
        one.points.push_back({point.live_bytes, point.speed_up});
      }
    }
    if (!one.points.empty()) {
      chart.lines.push_back(std::move(one));
    }
  }
  return chart.lines.empty() ? std::string() : to_svg(chart);
}

std::string split_chart(const CompareResult& result) {
  StackChart chart;
  chart.title = "Where the time goes";
  chart.x_title = "time of all SMs, as estimated milliseconds of the launch";
  chart.caption = "The parts of a bar sum to the launch's time.";
  chart.series = {{"traversal"}, {"shading"}, {"reorder"}, {"idle"}, {"withheld"}};
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
  return to_svg(chart);
}

std::string facts(const ModelsPage& page) {
  const CompareResult& result = page.models.result;
  const trace::Header& header = page.models.context.trace.header;
  const machine::Machine& machine = result.machine;
  std::string html = "<dl class=\"facts\">\n";
  html += fact("trace", page.models.context.trace_file);
  html += fact("trace hash", result.trace_hash);
  html += fact("application", header.application + (header.device.empty() ? "" : ", " + header.device));
  html += fact("launch", fmt::format("{}: {} x {} x {}, {}, {}, {}", result.configuration.launch, result.size.width,
                                     result.size.height, result.size.depth, counted(result.size.threads(), "thread"),
                                     counted(result.rays, "ray"), counted(result.events, "event")));
  html +=
      fact("warps", fmt::format("{}, order {}, packed {}, replay policy {}",
                                counted(result.configuration.warp_size, "lane"), result.configuration.order,
                                page.models.settings.text("packing"), simt::to_string(result.configuration.policy)));
  html += fact(
      "machine",
      fmt::format("{}: {}, {:.0f} MHz, {} of {} resident at {} a thread{}", machine.name, counted(machine.sms, "SM"),
                  machine.clock_mhz, result.resident_warps, counted(machine.resident_warps, "warp"),
                  counted(static_cast<std::uint64_t>(page.models.settings.integer("registers_per_thread")), "register"),
                  machine.reorders ? ", reorders in hardware" : ""));
  html += fact("computed by",
               fmt::format("rayreplay {} on {}", result.tool_version, device_summary(page.models.context.stages())));
  for (const std::string& missing : header.not_captured) {
    html += fact("not captured", missing);
  }
  return html + "</dl>\n";
}

std::string break_even_html(const CompareResult& result) {
  std::string html = "<dl class=\"facts\">\n";
  for (std::size_t i = 1; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    html += fact(short_spec(row.model), to_sentence(row.break_even, result.mean_hit_cost));
  }
  return html + "</dl>\n";
}

std::string maps_html(const ModelsPage& page) {
  std::string html;
  for (std::size_t i = 0; i < page.maps.size(); ++i) {
    const SmMap& map = page.maps[i];
    if (page.map_files[i].empty()) {
      continue;
    }
    const double share =
        map.threads > 0 ? kPercent * static_cast<double>(map.changed) / static_cast<double>(map.threads) : 0;
    html += figure(
        page.map_files[i],
        fmt::format("{}: the SM on which the pixel's thread ended. {:.1f} % of the threads ran on more than one SM.",
                    short_spec(page.models.result.rows[i].model), share));
  }
  return html.empty() ? html : "<h2>Which SM ran which pixel</h2>\n<div class=\"pictures\">\n" + html + "</div>\n";
}

}  // namespace

std::string to_html(const ModelsPage& page) {
  const CompareResult& result = page.models.result;
  std::string html = html_start("What if: " + page.models.context.trace_file, result.tool_version);
  html += "<h1>What would other scheduling of threads do?</h1>\n";
  html +=
      "<p class=\"soft\">One launch, its threads regrouped by scheduler models, replayed and timed on a modelled "
      "machine."
      "</p>\n";
  html += facts(page);
  html += "<h2>Models</h2>\n" + html_table(short_models_table(result), "");
  if (result.rows.size() > 1 && result.rows[1].break_even.kind != BreakEvenKind::NotAsked) {
    html += "<h2>Break-even</h2>\n" + break_even_html(result);
  }
  if (const std::string note = few_warps_note(result); !note.empty()) {
    html += "<p>Note: " + escape_html(note) + ".</p>\n";
  }
  html += "<h2>Plots</h2>\n<div class=\"charts\">\n" + split_chart(result) + bounce_chart(result) + lanes_chart(result);
  html += result.rows.size() > 1 ? cost_chart(result) + live_chart(result) : std::string();
  html += "</div>\n<h2>Efficiency by stage</h2>\n" + html_table(efficiency_by_stage(result), "");
  html += "<h2>Efficiency by bounce</h2>\n" + html_table(efficiency_by_bounce(result), "");
  html += "<h2>What the columns mean</h2>\n";
  html += kMeanings;
  if (!page.image_file.empty()) {
    html += "<h2>Rendered picture</h2>\n" + figure(page.image_file, "What the launch rendered.");
  }
  html += maps_html(page);
  html += "<h2>Shader costs</h2>\n" + html_table(cost_rows(result, page.models.context.trace), "");
  html +=
      "<h2>Configuration</h2>\n<p>Resolved: every key with its value. <code>rayreplay whatif --config "
      "config.toml</code>"
      ", run in this folder with the trace, computes this page's numbers again.</p>\n";
  html += "<pre>" + escape_html(page.configuration_toml) + "</pre>\n";
  html += "<h2>Machine</h2>\n<pre>" + escape_html(machine::to_toml(result.machine)) + "</pre>\n";
  return html + html_end();
}

}  // namespace rayreplay::report
