#include "app/report/sweep_page.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/html_parts.hpp"
#include "app/report/svg_chart.hpp"
#include "app/report/svg_plot.hpp"
#include "app/report/sweep_plots.hpp"
#include "app/report/sweep_table.hpp"

namespace rayreplay::report {
namespace {

using experiment::Goal;
using sweep::ResultColumn;
using sweep::ResultsReader;
using sweep::Role;

constexpr std::size_t kBestRows = 10;

constexpr std::string_view kIndexMeanings = R"html(<dl class="columns">
<dt>by itself</dt><dd>First-order index: the share of the metric's variance that goes away when the parameter is known,
whatever the others are.</dd>
<dt>with interactions</dt><dd>Total index: the share that is left when all others are known. What it has beyond the
first is the parameter's part in interactions. Known for full grids alone.</dd>
<dt>noise</dt><dd>Standard deviation of an estimated index of a parameter that does nothing; 0: the index is exact.</dd>
</dl>
)html";

std::string title_of(const ResultsReader& reader) {
  return "Sweep: " + reader.path().filename().string();
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The metric that the page is about; an empty name where there is none.
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
    if (column.goal != Goal::None) {
      return {column.name, column.goal};
    }
  }
  return metrics.empty() ? MetricGoal{} : MetricGoal{metrics.front().name, Goal::None};
}

std::string facts(const ResultsReader& reader) {
  const sweep::About& about = reader.about();
  const std::uint64_t rows = reader.count();
  const std::uint64_t failed = reader.failures();
  std::string html = "<dl class=\"facts\">\n";
  html += fact("configurations",
               fmt::format("{} of {} finished{}", output::with_separators(rows), output::with_separators(about.runs),
                           failed == 0 ? "" : fmt::format(", {} of them with an error", failed)));
  for (const std::string& axis : about.axes) {
    const sweep::ResultSet span = reader.query(fmt::format(
        R"(SELECT count(DISTINCT "{0}"), min("{0}"), max("{0}") FROM runs)", reader.column(axis, "axes").name));
    html += fact("axis " + axis,
                 fmt::format("{} values, {} to {} {}", sweep::to_text(span.rows[0][0]), sweep::to_text(span.rows[0][1]),
                             sweep::to_text(span.rows[0][2]), reader.column(axis, "axes").unit));
  }
  if (!about.objective.empty()) {
    html += fact("objective", about.objective);
  }
  return html + "</dl>\n";
}

std::string provenance(const ResultsReader& reader) {
  std::string html = "<h2>Where it comes from</h2>\n<dl class=\"facts\">\n";
  html += fact("database", reader.path().filename().string());
  html += fact("sweep", reader.about().definition_hash);
  html += fact("shards", reader.about().shard);
  html += fact("computed by rayreplay", joined(reader.distinct("tool_version")));
  html += fact("on", joined(reader.distinct("device")));
  for (const sweep::InputFile& input : reader.inputs()) {
    html += fact("input " + input.path, input.hash);
  }
  const std::vector<std::string> hashes = reader.distinct("trace_hash");
  constexpr std::size_t kMostHashes = 8;
  html +=
      fact("trace hashes", hashes.size() <= kMostHashes ? joined(hashes) : fmt::format("{} different", hashes.size()));
  html += "</dl>\n";
  return html + "<h2>The sweep</h2>\n<pre>" + escape_html(reader.about().sweep) + "</pre>\n";
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

/// Parameters by what they move, most first.
std::vector<std::size_t> ranked(const sweep::Sensitivity& result) {
  std::vector<std::size_t> order(result.parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto weight = [&](std::size_t i) {
      return result.parameters[i].total.value_or(result.parameters[i].first.value_or(-1));
    };
    return weight(a) > weight(b);
  });
  return order;
}

/// Zipped axes have one name; the first of them stands for all.
std::string axis_name(const std::string& parameter) {
  return parameter.substr(0, parameter.find(" + "));
}

std::string sensitivity_part(const std::vector<MetricSensitivity>& all) {
  std::string html = "<h2>Which parameter moves which metric</h2>\n<div class=\"charts\">\n";
  for (const MetricSensitivity& one : all) {
    html += to_svg(bars(one, ranked(one.result)));
  }
  return html + "</div>\n" + html_table(sensitivity_table(all), "") + std::string(kIndexMeanings);
}

std::string pictures_part(const ResultsReader& reader, const MetricGoal& metric, const std::vector<std::string>& axes,
                          const std::string& where) {
  std::string html = "<h2>Pictures</h2>\n<div class=\"charts\">\n";
  if (axes.size() > 1) {
    html += svg_figure(heat_map_plot(reader, axes[0], axes[1], metric.metric, where));
  }
  html += svg_figure(line_plot(reader, axes[0], metric.metric, "", where));
  if (axes.size() > 1) {
    constexpr std::size_t kMostLines = 8;
    const sweep::ResultSet count =
        reader.query(fmt::format(R"(SELECT count(DISTINCT "{}") FROM runs)", reader.column(axes[1], "").name));
    if (sweep::number(count.rows[0][0]) <= static_cast<double>(kMostLines)) {
      html += svg_figure(line_plot(reader, axes[0], metric.metric, axes[1], where));
    }
  }
  return html + "</div>\n";
}

/// The other metric with a goal that is least explained by this one: a front with something to choose.
std::string pareto_part(const ResultsReader& reader, const MetricGoal& metric, const std::string& where) {
  std::size_t most = 1;
  MetricGoal other;
  for (const ResultColumn& column : reader.metrics()) {
    if (column.name == metric.metric || column.goal == Goal::None || metric.goal == Goal::None) {
      continue;
    }
    const MetricGoal candidate{column.name, column.goal};
    if (const std::size_t size = front_of(reader, {metric, candidate}, where).size(); size > most) {
      most = size;
      other = candidate;
    }
  }
  if (other.metric.empty()) {
    return "";
  }
  std::string html = "<h2>What has its price</h2>\n<div class=\"charts\">\n";
  html += svg_figure(pareto_plot(reader, other, metric, where)) + "</div>\n";
  sweep::ResultSet front = front_rows(reader, {other, metric}, where);
  constexpr std::size_t kMostRows = 25;
  const std::size_t size = front.rows.size();
  front.rows.resize(std::min(size, kMostRows));
  html += html_table(to_table(front), "");
  return size > kMostRows ? html + fmt::format("<p class=\"soft\">The first {} of {}.</p>\n", kMostRows, size) : html;
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
      html += html_table(to_table(best_rows(reader, metric, kBestRows, where)), "");
    }
    const std::vector<MetricSensitivity> all = sensitivities(reader, {}, where);
    if (!all.empty() && !all.front().result.parameters.empty()) {
      html += sensitivity_part(all);
      const auto place =
          std::ranges::find_if(all, [&](const MetricSensitivity& one) { return one.metric == metric.metric; });
      std::vector<std::string> axes;
      const sweep::Sensitivity& ranking = (place == all.end() ? all.front() : *place).result;
      for (const std::size_t i : ranked(ranking)) {
        axes.push_back(axis_name(ranking.parameters[i].name));
      }
      html += pictures_part(reader, metric, axes, where);
    }
    html += pareto_part(reader, metric, where);
  }
  if (reader.failures() > 0) {
    html += "<h2>Failures</h2>\n" + html_table(failure_table(reader), "");
  }
  return html + provenance(reader) + html_end();
}

}  // namespace rayreplay::report
