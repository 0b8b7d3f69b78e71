#include "app/report/sweep/sweep_page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/report/charts/svg.hpp"
#include "app/report/page/page.hpp"
#include "app/report/sweep/sweep_matrix.hpp"
#include "app/report/sweep/sweep_plots.hpp"
#include "app/report/sweep/sweep_table.hpp"
#include "app/report/sweep/sweep_values.hpp"
#include "base/count_text.hpp"

namespace rayreplay::report {
namespace {

using experiment::Goal;
using sweep::ResultColumn;
using sweep::ResultsReader;
using sweep::Role;

constexpr std::size_t kBestRows = 10;

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

PageData facts_of(const ResultsReader& reader) {
  const sweep::About& about = reader.about();
  const std::uint64_t failed = reader.failures();
  Facts facts = {{"configurations",
                  fmt::format("{} of {} finished{}", with_separators(reader.count()), with_separators(about.runs),
                              failed == 0 ? "" : fmt::format(", {} of them with an error", failed))}};
  if (!about.objective.empty()) {
    facts.emplace_back("objective", about.objective);
  }
  for (const std::string& axis : about.axes) {
    facts.emplace_back(axis, values_text(reader, reader.column(axis, "axes")));
  }
  return page_facts(facts);
}

PageData rows_table(const sweep::ResultSet& rows, const std::vector<std::string>& asked) {
  output::Table table = to_table(rows);
  mark_details(table, rows, asked, true);
  return page_table(printable(std::move(table)));
}

PageData provenance(const ResultsReader& reader) {
  constexpr std::size_t kMaxHashes = 8;
  Facts facts = {{"database", reader.path().filename().string()},
                 {"sweep", reader.about().definition_hash},
                 {"shards", reader.about().shard},
                 {"computed by", "rayreplay " + joined(reader.distinct("tool_version"))},
                 {"devices", joined(reader.distinct("device"))}};
  for (const sweep::InputFile& input : reader.inputs()) {
    facts.emplace_back("input " + input.path, input.hash);
  }
  const std::vector<std::string> hashes = reader.distinct("trace_hash");
  facts.emplace_back("trace hashes",
                     hashes.size() <= kMaxHashes ? joined(hashes) : fmt::format("{} different", hashes.size()));
  return {{"facts", page_facts(facts)}};
}

pictures::BarPlot bars(const MetricSensitivity& one, const std::vector<std::size_t>& order) {
  pictures::BarPlot chart{.title = "What moves " + one.metric,
                          .note = fmt::format("{}", fmt::join(one.result.notes, "; ")),
                          .value_title = "share of the variance",
                          .series = {{"by itself", 1}, {"in interactions", 7}},
                          .stacked = true};
  for (const std::size_t i : order) {
    const sweep::ParameterIndex& index = one.result.parameters[i];
    chart.categories.push_back(index.name);
    chart.series[0].values.push_back(index.first.value_or(0));
    chart.series[1].values.push_back(std::max(index.total.value_or(0) - index.first.value_or(0), 0.0));
  }
  return chart;
}

/// Zipped axes have one name; the first of them represents all.
std::string axis_name(const std::string& parameter) {
  return parameter.substr(0, parameter.find(" + "));
}

PageData sensitivity_part(const std::vector<MetricSensitivity>& all, const MetricSensitivity& subject) {
  const std::vector<std::size_t> order = ranked(subject.result);
  PageData part = sensitivity_matrix(all, order, subject.metric);
  part["bars"] = svg_figure(bars(subject, order));
  part["exact"] = std::ranges::all_of(
      all, [](const MetricSensitivity& one) { return one.result.design == sweep::Design::FullGrid; });
  return part;
}

/// A map over the two most influential parameters, and lines over each influential one.
PageData pictures_part(const ResultsReader& reader, const MetricGoal& metric, const sweep::Sensitivity& result,
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
    return {};
  }
  std::vector<pictures::Chart> charts;
  if (axes.size() > 1) {
    charts.emplace_back(heat_map_plot(reader, axes[0], axes[1], metric.metric, where));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string by = axes.size() > 1 ? axes[i == 0 ? 1 : 0] : "";
    const bool several = !by.empty() && levels(reader, by) <= kMaxLines;
    charts.emplace_back(line_plot(reader, axes[i], metric.metric, several ? by : "", where));
  }
  return {{"metric", metric.metric}, {"charts", page_charts(charts)}};
}

/// True for axes that stand for hardware cost: SMs, pool size, bytes of caches.
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

PageData pareto_part(const ResultsReader& reader, const MetricGoal& metric, const std::string& where) {
  constexpr std::size_t kMaxRows = 12;
  const MetricGoal other = metric.goal == Goal::None ? MetricGoal{} : price_of(reader, metric, where);
  if (other.metric.empty()) {
    return {};
  }
  sweep::ResultSet front = front_rows(reader, {other, metric}, where);
  const std::size_t size = front.rows.size();
  front.rows.resize(std::min(size, kMaxRows));
  PageData part = rows_table(front, {other.metric, metric.metric});
  part["charts"] = page_charts({pareto_plot(reader, other, metric, where)});
  part["shown"] = kMaxRows;
  part["total"] = size > kMaxRows ? PageData(size) : PageData();
  return part;
}

}  // namespace

std::string sweep_page(const ResultsReader& reader, const std::string& asked, const std::string& where) {
  PageData data;
  data["title"] = "Sweep: " + reader.path().filename().string();
  data["facts"] = facts_of(reader);
  data["where"] = where;
  const MetricGoal metric = subject(reader, asked);
  data["empty"] = metric.metric.empty() || reader.count(sweep::finished_where(where)) == 0;
  if (data["empty"] == false) {
    if (metric.goal != Goal::None) {
      data["best"] = rows_table(best_rows(reader, metric, kBestRows, where), {metric.metric});
      data["best"]["metric"] = metric.metric;
    }
    const std::vector<MetricSensitivity> all = sensitivities(reader, {}, where);
    if (!all.empty() && !all.front().result.parameters.empty()) {
      const auto place = std::ranges::find(all, metric.metric, &MetricSensitivity::metric);
      const MetricSensitivity& subject = place == all.end() ? all.front() : *place;
      data["sensitivity"] = sensitivity_part(all, subject);
      data["over"] = pictures_part(reader, metric, subject.result, where);
    }
    data["front"] = pareto_part(reader, metric, where);
  }
  if (reader.failures() > 0) {
    data["failures"] = page_table(failure_table(reader));
  }
  data["provenance"] = provenance(reader);
  data["file"] = reader.about().sweep;
  return make_page("sweep", std::move(data));
}

}  // namespace rayreplay::report
