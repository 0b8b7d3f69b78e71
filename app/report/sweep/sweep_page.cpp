#include "app/report/sweep/sweep_page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/charts/svg_chart.hpp"
#include "app/report/charts/svg_plot.hpp"
#include "app/report/page/html_parts.hpp"
#include "app/report/sweep/sweep_matrix.hpp"
#include "app/report/sweep/sweep_plots.hpp"
#include "app/report/sweep/sweep_table.hpp"
#include "app/report/sweep/sweep_values.hpp"

namespace rayreplay::report {
namespace {

using experiment::Goal;
using sweep::ResultColumn;
using sweep::ResultsReader;
using sweep::Role;

constexpr std::size_t kBestRows = 10;

constexpr std::string_view kIndexMeanings = R"html(<details><summary>What the shares mean</summary>
<dl class="columns">
<dt>by itself</dt><dd>First-order index: the share of the metric's variance that goes away when the parameter is known,
whatever the others are.</dd>
<dt>in interactions</dt><dd>What the total index has beyond the first: what the parameter does together with others. Known
for full grids alone. Parts that several parameters share count for each, so that a row can have more than 100 %.</dd>
</dl></details>
)html";

std::string title_of(const ResultsReader& reader) {
  return "Sweep: " + reader.path().filename().string();
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Number of distinct values of a column.
std::uint64_t levels(const ResultsReader& reader, const std::string& axis) {
  const sweep::ResultSet count =
      reader.query(fmt::format(R"(SELECT count(DISTINCT "{}") FROM runs)", reader.column(axis, "").name));
  return static_cast<std::uint64_t>(sweep::number(count.rows[0][0]));
}

/// The main metric of the page; an empty name if there is none.
MetricGoal subject(const ResultsReader& reader, const std::string& asked) {
  if (!asked.empty()) {
    return parse_metric(reader, asked);
  }
  const std::string& objective = reader.about().objective;
  const std::vector<ResultColumn> metrics = reader.metrics();
  for (const ResultColumn& column : metrics) {
    if (objective == "more " + column.name || objective == "less " + column.name) {
      return parse_metric(reader, column.name);
    }
  }
  for (const ResultColumn& column : metrics) {
    if (column.goal != Goal::None && levels(reader, column.name) > 1) {
      return {column.name, column.goal};
    }
  }
  return metrics.empty() ? MetricGoal{} : MetricGoal{metrics.front().name, Goal::None};
}

/// "8 values, 4 KiB to 512 KiB", "identity, random".
std::string values_text(const ResultsReader& reader, const ResultColumn& column) {
  const sweep::ResultSet found = reader.query(
      fmt::format(R"(SELECT "{0}" FROM runs WHERE "{0}" NOT NULL GROUP BY 1 ORDER BY min(run))", column.name));
  std::vector<std::string> texts;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool numbers = true;
  for (const auto& row : found.rows) {
    const double value = read_number(row.front());
    numbers &= std::isfinite(value);
    low = std::min(low, value);
    high = std::max(high, value);
    texts.push_back(std::isfinite(value) ? parameter_text(column, value) : sweep::to_text(row.front()));
  }
  constexpr std::size_t kMaxTexts = 12;
  const std::string unit = column.unit.empty() || column.unit == "bytes" ? "" : " " + column.unit;
  if (texts.size() <= kMaxTexts) {
    return joined(texts) + (numbers ? unit : "");
  }
  return fmt::format(
      "{} values{}", texts.size(),
      numbers ? fmt::format(", {} to {}{}", parameter_text(column, low), parameter_text(column, high), unit) : "");
}

std::string facts(const ResultsReader& reader) {
  const sweep::About& about = reader.about();
  const std::uint64_t rows = reader.count();
  const std::uint64_t failed = reader.failures();
  std::string html = "<dl class=\"facts\">\n";
  html += fact("configurations",
               fmt::format("{} of {} finished{}", output::with_separators(rows), output::with_separators(about.runs),
                           failed == 0 ? "" : fmt::format(", {} of them with an error", failed)));
  if (!about.objective.empty()) {
    html += fact("objective", about.objective);
  }
  for (const std::string& axis : about.axes) {
    html += fact(axis, values_text(reader, reader.column(axis, "axes")));
  }
  return html + "</dl>\n";
}

std::string rows_table(const sweep::ResultSet& rows, const std::vector<std::string>& asked) {
  output::Table table = to_table(rows);
  mark_details(table, rows, asked, true);
  return html_table(printable(std::move(table)), "");
}

std::string provenance(const ResultsReader& reader) {
  std::string html = "<h2>Where it comes from</h2>\n<dl class=\"facts\">\n";
  html += fact("database", reader.path().filename().string());
  html += fact("sweep", reader.about().definition_hash);
  html += fact("shards", reader.about().shard);
  html += fact("computed by", "rayreplay " + joined(reader.distinct("tool_version")));
  html += fact("devices", joined(reader.distinct("device")));
  for (const sweep::InputFile& input : reader.inputs()) {
    html += fact("input " + input.path, input.hash);
  }
  const std::vector<std::string> hashes = reader.distinct("trace_hash");
  constexpr std::size_t kMaxHashes = 8;
  html +=
      fact("trace hashes", hashes.size() <= kMaxHashes ? joined(hashes) : fmt::format("{} different", hashes.size()));
  return html + "</dl>\n<details><summary>The sweep's file</summary>\n<pre>" + escape_html(reader.about().sweep) +
         "</pre>\n</details>\n";
}

StackChart bars(const MetricSensitivity& one, const std::vector<std::size_t>& order) {
  StackChart chart;
  chart.title = "What moves " + one.metric;
  chart.x_title = "share of the variance";
  chart.caption = fmt::format("{}", fmt::join(one.result.notes, "; "));
  BarSeries first{"by itself", 0, {}}, more{"in interactions", 1, {}};
  for (const std::size_t i : order) {
    const sweep::ParameterIndex& index = one.result.parameters[i];
    chart.categories.push_back(index.name);
    first.values.push_back(index.first.value_or(0));
    more.values.push_back(std::max(index.total.value_or(0) - index.first.value_or(0), 0.0));
  }
  chart.series = {std::move(first), std::move(more)};
  return chart;
}

/// Zipped axes have one name; the first of them represents all.
std::string axis_name(const std::string& parameter) {
  return parameter.substr(0, parameter.find(" + "));
}

std::string sensitivity_part(const std::vector<MetricSensitivity>& all, const MetricSensitivity& subject) {
  const std::vector<std::size_t> order = ranked(subject.result);
  std::string html = "<h2>Which parameter moves which metric</h2>\n<div class=\"charts\">\n";
  html += to_svg(bars(subject, order)) + "<div>\n" + sensitivity_matrix(all, order, subject.metric);
  const bool exact = std::ranges::all_of(
      all, [](const MetricSensitivity& one) { return one.result.design == sweep::Design::FullGrid; });
  html += fmt::format(
      "<p class=\"soft\">Share of each metric's variance that {}. Metrics that never change are left out.</p>\n",
      exact ? "is left when all other parameters are known: what a parameter does by itself and together with others"
            : "goes away when the parameter is known. Estimated: rayreplay results FILE sensitivity says how well");
  return html + "</div>\n</div>\n" + std::string(kIndexMeanings);
}

/// A map over the two most influential parameters, and lines over each influential one.
std::string pictures_part(const ResultsReader& reader, const MetricGoal& metric, const sweep::Sensitivity& result,
                          const std::string& where) {
  constexpr std::uint64_t kMaxLines = 9, kMaxTexts = 40;
  constexpr std::size_t kMaxCharts = 4;
  constexpr double kSomething = 0.01;
  std::vector<std::string> axes;
  for (const std::size_t i : ranked(result)) {
    if (axes.size() < 2 || (axes.size() < kMaxCharts && weight(result.parameters[i]).value_or(0) >= kSomething)) {
      axes.push_back(axis_name(result.parameters[i].name));
    }
  }
  const auto drawable = [&](const std::string& axis) {
    return reader.column(axis, "").type != sweep::ColumnType::Text || levels(reader, axis) <= kMaxTexts;
  };
  std::erase_if(axes, [&](const std::string& axis) { return !drawable(axis); });
  if (axes.empty()) {
    return "";
  }
  std::string html =
      fmt::format("<h2>{} over the parameters</h2>\n<div class=\"charts\">\n", escape_html(metric.metric));
  if (axes.size() > 1) {
    html += svg_figure(heat_map_plot(reader, axes[0], axes[1], metric.metric, where));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string by = axes.size() > 1 ? axes[i == 0 ? 1 : 0] : "";
    const bool several = !by.empty() && levels(reader, by) <= kMaxLines;
    html += svg_figure(line_plot(reader, axes[i], metric.metric, several ? by : "", where));
  }
  return html + "</div>\n";
}

/// With all else equal, less of it means the cheaper machine.
bool is_price(const ResultColumn& column) {
  return column.role == Role::Axis && (column.name == "machine.sms" || column.name == "scheduler.model:pool_warps" ||
                                       (column.name.starts_with("cache.") && column.unit == "bytes"));
}

/// The second goal of the front: hardware cost, else another main metric, whichever gives the longest front.
MetricGoal price_of(const ResultsReader& reader, const MetricGoal& metric, const std::string& where) {
  for (const bool hardware : {true, false}) {
    std::size_t most = 2;  // a shorter front is no choice
    MetricGoal best;
    for (const ResultColumn& column : reader.columns()) {
      const bool main = column.role == Role::Metric && column.goal != Goal::None && is_main_metric(column.name);
      if (column.name == metric.metric || !(hardware ? is_price(column) : main)) {
        continue;
      }
      const MetricGoal candidate{column.name, hardware ? Goal::Less : column.goal};
      if (const std::size_t size = front_of(reader, {candidate, metric}, where).size(); size > most) {
        most = size;
        best = candidate;
      }
    }
    if (!best.metric.empty()) {
      return best;
    }
  }
  return {};
}

std::string pareto_part(const ResultsReader& reader, const MetricGoal& metric, const std::string& where) {
  const MetricGoal other = metric.goal == Goal::None ? MetricGoal{} : price_of(reader, metric, where);
  if (other.metric.empty()) {
    return "";
  }
  std::string html = "<h2>What has its price</h2>\n<div class=\"charts\">\n";
  html += svg_figure(pareto_plot(reader, other, metric, where)) + "</div>\n";
  sweep::ResultSet front = front_rows(reader, {other, metric}, where);
  constexpr std::size_t kMaxRows = 12;
  const std::size_t size = front.rows.size();
  front.rows.resize(std::min(size, kMaxRows));
  html += rows_table(front, {other.metric, metric.metric});
  if (size > kMaxRows) {
    html += fmt::format("<p class=\"soft\">The first {} of {} on the front.</p>\n", kMaxRows, size);
  }
  return html;
}

}  // namespace

std::string sweep_page(const ResultsReader& reader, const std::string& asked, const std::string& where) {
  std::string html = html_start(title_of(reader), RAYREPLAY_VERSION);
  html += "<h1>" + escape_html(title_of(reader)) + "</h1>\n" + facts(reader);
  if (!where.empty()) {
    html += "<p>Only configurations where <code>" + escape_html(where) + "</code>.</p>\n";
  }
  const MetricGoal metric = subject(reader, asked);
  if (metric.metric.empty() || reader.count(sweep::finished_where(where)) == 0) {
    html += "<p>No configuration has a result yet.</p>\n";
  } else {
    if (metric.goal != Goal::None) {
      html += fmt::format("<h2>The best by {}</h2>\n", escape_html(metric.metric));
      html += rows_table(best_rows(reader, metric, kBestRows, where), {metric.metric});
    }
    const std::vector<MetricSensitivity> all = sensitivities(reader, {}, where);
    if (!all.empty() && !all.front().result.parameters.empty()) {
      const auto place =
          std::ranges::find_if(all, [&](const MetricSensitivity& one) { return one.metric == metric.metric; });
      const MetricSensitivity& subject = place == all.end() ? all.front() : *place;
      html += sensitivity_part(all, subject);
      html += pictures_part(reader, metric, subject.result, where);
    }
    html += pareto_part(reader, metric, where);
  }
  if (reader.failures() > 0) {
    html += "<h2>Failures</h2>\n" + html_table(failure_table(reader), "");
  }
  return html + provenance(reader) + html_end();
}

}  // namespace rayreplay::report
