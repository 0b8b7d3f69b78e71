#include "app/report/sweep/sweep_plots.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "app/report/charts/axis.hpp"
#include "app/report/sweep/sweep_values.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"

namespace rayreplay::report {
namespace {

using sweep::ResultCell;
using sweep::ResultColumn;
using sweep::ResultSet;
using sweep::ResultsReader;

constexpr std::size_t kMaxLevels = 40;
constexpr std::size_t kRanges = 20;
constexpr std::size_t kMaxLines = 16;
constexpr std::size_t kMaxTicks = 6;
constexpr double kWideSpan = 32;

[[noreturn]] void nothing(const std::string& what) {
  throw Error(ErrorKind::Usage, {"there is nothing to draw", what, "no finished configuration with values", "",
                                 "see rayreplay results FILE, and --where"});
}

bool is_power_of_two(double value) {
  return value >= 1 && value < 0x1p62 && value == std::floor(value) &&
         std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// The position of each row along an axis.
struct Places {
  ResultColumn column;
  bool numbers = true;
  bool logarithmic = false;
  bool ranges = false;               ///< levels are ranges of values
  std::vector<double> values;        ///< of levels: the value, the middle of the range, or their number
  std::vector<std::string> labels;   ///< of levels
  std::vector<std::size_t> of_rows;  ///< level; npos: no value
};
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

Places number_places(ResultColumn column, const std::vector<double>& values) {
  Places places{std::move(column), true, false, false, {}, {}, {}};
  std::vector<double> levels;
  std::ranges::copy_if(values, std::back_inserter(levels), [](double value) { return std::isfinite(value); });
  std::ranges::sort(levels);
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  if (levels.empty()) {
    nothing(places.column.name);
  }
  const double low = levels.front(), high = levels.back();
  places.logarithmic = low > 0 && levels.size() > 2 &&
                       (high / low >= kWideSpan || (high / low >= 4 && std::ranges::all_of(levels, is_power_of_two)));
  places.ranges = levels.size() > kMaxLevels;
  const auto scaled = [&](double value) { return places.logarithmic ? std::log(value) : value; };
  const double from = scaled(low), width = (scaled(high) - from) / kRanges;
  if (places.ranges) {
    for (std::size_t i = 0; i < kRanges; ++i) {
      const double middle = from + (static_cast<double>(i) + 0.5) * width;
      places.values.push_back(places.logarithmic ? std::exp(middle) : middle);
    }
  } else {
    places.values = levels;
  }
  for (const double value : places.values) {
    places.labels.push_back(
        parameter_text(places.column, places.ranges ? std::stod(fmt::format("{:.3g}", value)) : value));
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      places.of_rows.push_back(kNowhere);
    } else if (places.ranges) {
      const auto range = static_cast<std::size_t>(std::max((scaled(value) - from) / width, 0.0));
      places.of_rows.push_back(std::min(range, kRanges - 1));
    } else {
      places.of_rows.push_back(static_cast<std::size_t>(std::ranges::lower_bound(levels, value) - levels.begin()));
    }
  }
  return places;
}

Places places_of(const ResultsReader& reader, const std::string& name, const std::string& where,
                 const std::string& option) {
  const ResultColumn& column = reader.column(name, option);
  const ResultSet rows = reader.select({column.name}, sweep::finished_where(where));
  // Costs are texts ("300"): texts that parse as numbers count as numbers.
  const bool numbers = std::ranges::all_of(rows.rows, [](const auto& row) {
    return std::holds_alternative<std::monostate>(row.front()) || std::isfinite(read_number(row.front()));
  });
  if (numbers) {
    std::vector<double> values;
    values.reserve(rows.rows.size());
    for (const auto& row : rows.rows) {
      values.push_back(read_number(row.front()));
    }
    return number_places(column, values);
  }
  // Texts in the order of the sweep.
  Places places{column, false, false, false, {}, {}, {}};
  std::map<std::string, std::size_t> levels;
  for (const auto& row : rows.rows) {
    const auto [level, is_new] = levels.try_emplace(sweep::to_text(row.front()), levels.size());
    if (is_new) {
      places.values.push_back(static_cast<double>(level->second));
      places.labels.push_back(level->first);
    }
    places.of_rows.push_back(level->second);
  }
  if (levels.size() > kMaxLevels) {
    throw Error(ErrorKind::Usage,
                {"a parameter has too many different texts to draw", column.name, fmt::format("{}", levels.size()),
                 fmt::format("at most {}", kMaxLevels), "choose some of them with --where"});
  }
  return places;
}

pictures::PlotAxis axis_of(const Places& places) {
  pictures::PlotAxis axis{column_title(places.column)};
  const auto [low, high] = std::ranges::minmax(places.values);
  axis.logarithmic = places.logarithmic;
  axis.names = !places.numbers;
  const double pad = places.numbers ? (high - low) * 0.02 : 0.4;
  axis.low = places.logarithmic ? low / std::pow(high / low, 0.02) : low - pad;
  axis.high = places.logarithmic ? high * std::pow(high / low, 0.02) : high + pad;
  if (!(axis.high > axis.low)) {
    axis.low -= 0.5;
    axis.high += 0.5;
  }
  if (places.numbers && !places.logarithmic && places.values.size() > 12) {
    axis.ticks = pictures::value_ticks(is_bytes(places.column), axis.low, axis.high, kMaxTicks + 2);
    return axis;
  }
  for (std::size_t i = 0; i < places.values.size(); ++i) {
    axis.ticks.push_back({places.values[i], places.labels[i]});
  }
  return axis;
}

/// The axis of a metric: from 0 if 0 is near. `may_be_log`: logarithmic for values over many orders of magnitude.
pictures::PlotAxis metric_axis(const ResultColumn& column, double low, double high, bool may_be_log) {
  constexpr double kManyPowers = 100;
  pictures::PlotAxis axis{column_title(column)};
  if (may_be_log && low > 0 && high / low >= kManyPowers) {
    axis.logarithmic = true;
    axis.low = low / 1.2;
    axis.high = high * 1.2;
    axis.ticks = pictures::logarithmic_ticks(is_bytes(column), axis.low, axis.high, kMaxTicks);
    return axis;
  }
  const double pad = high > low ? (high - low) * 0.06 : std::max(std::abs(high) * 0.05, 1e-9);
  axis.low = low >= 0 && low < high * 0.4 ? 0 : low - pad;
  axis.high = high + pad;
  axis.ticks = pictures::value_ticks(is_bytes(column), axis.low, axis.high, kMaxTicks);
  return axis;
}

struct Mean {
  double sum = 0;
  std::uint64_t count = 0;
  [[nodiscard]] double value() const {
    return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
  }
};

/// Means of the rows at one position, and their range.
struct Means {
  std::vector<Mean> cells;  ///< by position along y, then x
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  /// Smallest and largest number of rows in a non-empty cell.
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0;
};

Means means_of(const std::vector<double>& values, const Places& across, const Places& up, const std::string& metric) {
  Means means;
  means.cells.resize(across.labels.size() * up.labels.size());
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (across.of_rows[row] != kNowhere && up.of_rows[row] != kNowhere && std::isfinite(values[row])) {
      Mean& cell = means.cells[up.of_rows[row] * across.labels.size() + across.of_rows[row]];
      cell.sum += values[row];
      ++cell.count;
    }
  }
  for (const Mean& cell : means.cells) {
    if (cell.count > 0) {
      means.low = std::min(means.low, cell.value());
      means.high = std::max(means.high, cell.value());
      means.least = std::min(means.least, cell.count);
      means.most = std::max(means.most, cell.count);
    }
  }
  if (means.most == 0) {
    nothing(metric);
  }
  return means;
}

std::string mean_note(const Means& means) {
  if (means.most <= 1) {
    return "";
  }
  return means.least == means.most
             ? fmt::format("means over {} configurations each", means.most)
             : fmt::format("means over {} to {}", means.least, counted(means.most, "configuration"));
}

std::string with_where(std::string note, const std::string& where) {
  if (!where.empty()) {
    note += (note.empty() ? "" : "; ") + std::string("where ") + where;
  }
  return note;
}

}  // namespace

pictures::GridPlot heat_map_plot(const ResultsReader& reader, const std::string& x, const std::string& y,
                                 const std::string& metric, const std::string& where) {
  const ResultColumn column = reader.column(metric, "plot heatmap");
  const std::vector<double> values = sweep::load_numbers(reader, metric, where, "plot heatmap");
  const Places across = places_of(reader, x, where, "plot heatmap");
  const Places up = places_of(reader, y, where, "plot heatmap");
  const Means means = means_of(values, across, up, metric);
  pictures::GridPlot plot;
  plot.title = column.name + " by " + across.column.name + " and " + up.column.name;
  plot.x_title = column_title(across.column);
  plot.y_title = column_title(up.column);
  plot.x_labels = across.labels;
  plot.y_labels = up.labels;
  plot.x_names = !across.numbers;
  plot.unit = column_title(column);
  const Measure measure(column, means.low, means.high);
  for (const Mean& cell : means.cells) {
    plot.values.push_back(cell.value());
    plot.writing.push_back(cell.count == 0 ? "" : measure.text(cell.value()));
    plot.exact.push_back(cell.count == 0 ? "" : fmt::format("{:.6g} {}", cell.value(), column.unit));
  }
  plot.low = means.low;
  plot.high = means.high > means.low ? means.high : means.low + 1;
  plot.ticks = pictures::value_ticks(is_bytes(column), plot.low, plot.high, kMaxTicks);
  plot.note = with_where(mean_note(means), where);
  return plot;
}

pictures::Plot line_plot(const ResultsReader& reader, const std::string& x, const std::string& metric,
                         const std::string& by, const std::string& where) {
  const ResultColumn column = reader.column(metric, "plot lines");
  const std::vector<double> values = sweep::load_numbers(reader, metric, where, "plot lines");
  const Places across = places_of(reader, x, where, "plot lines");
  Places lines{{}, false, false, false, {0}, {""}, std::vector<std::size_t>(values.size(), 0)};
  if (!by.empty()) {
    lines = places_of(reader, by, where, "--by");
  }
  if (lines.labels.size() > kMaxLines && !lines.ranges) {
    throw Error(ErrorKind::Usage,
                {"too many lines for one picture", "--by " + by, fmt::format("{}", lines.labels.size()),
                 fmt::format("at most {}", kMaxLines), "choose some values with --where"});
  }
  const Means means = means_of(values, across, lines, metric);
  pictures::Plot plot;
  plot.title = column.name + " over " + across.column.name;
  plot.x = axis_of(across);
  for (std::size_t line = 0; line < lines.labels.size(); ++line) {
    pictures::PlotSeries series;
    series.name = by.empty() ? "" : lines.column.name + " " + lines.labels[line];
    series.color = line + 1;
    for (std::size_t i = 0; i < across.labels.size(); ++i) {
      const Mean& mean = means.cells[line * across.labels.size() + i];
      if (mean.count > 0) {
        series.points.push_back({across.values[i], mean.value()});
        series.titles.push_back(fmt::format("{}{}{}: {:.6g}", series.name, series.name.empty() ? "" : ", ",
                                            across.labels[i], mean.value()));
      }
    }
    plot.series.push_back(std::move(series));
  }
  plot.y = metric_axis(column, means.low, means.high, false);
  plot.note = with_where(mean_note(means), where);
  return plot;
}

pictures::Plot pareto_plot(const ResultsReader& reader, const MetricGoal& x, const MetricGoal& y,
                           const std::string& where) {
  const std::vector<double> across = sweep::load_numbers(reader, x.metric, where, "plot pareto");
  const std::vector<double> up = sweep::load_numbers(reader, y.metric, where, "plot pareto");
  const ResultSet rows = reader.select({"run"}, sweep::finished_where(where));
  std::vector<std::size_t> front = front_of(reader, {x, y}, where);
  if (front.empty()) {
    nothing(x.metric + ", " + y.metric);
  }
  std::ranges::sort(
      front, [&](std::size_t a, std::size_t b) { return across[a] != across[b] ? across[a] < across[b] : a < b; });
  const auto title = [&](std::size_t row) {
    return fmt::format("run {}: {} {:.6g}, {} {:.6g}", sweep::to_text(rows.rows[row].front()), x.metric, across[row],
                       y.metric, up[row]);
  };
  pictures::PlotSeries cloud{"configurations", 0, {}, false, true, true, {}};
  pictures::PlotSeries best{"front: nothing is better in both", 2, {}, true, true, false, {}};
  double low_x = std::numeric_limits<double>::infinity(), high_x = -low_x, low_y = low_x, high_y = -low_x;
  for (std::size_t row = 0; row < across.size(); ++row) {
    if (std::isfinite(across[row]) && std::isfinite(up[row])) {
      cloud.points.push_back({across[row], up[row]});
      cloud.titles.push_back(title(row));
      low_x = std::min(low_x, across[row]);
      high_x = std::max(high_x, across[row]);
      low_y = std::min(low_y, up[row]);
      high_y = std::max(high_y, up[row]);
    }
  }
  for (const std::size_t row : front) {
    best.points.push_back({across[row], up[row]});
    best.titles.push_back(title(row));
  }
  const auto goal_text = [](const MetricGoal& goal) {
    return std::string(goal.goal == experiment::Goal::Less ? "less " : "more ") + goal.metric;
  };
  pictures::Plot plot;
  plot.title = "Pareto front: " + goal_text(x) + " against " + goal_text(y);
  plot.x = metric_axis(reader.column(x.metric, ""), low_x, high_x, true);
  plot.y = metric_axis(reader.column(y.metric, ""), low_y, high_y, true);
  plot.note = with_where(
      fmt::format("on the front: {} of {}", front.size(), counted(cloud.points.size(), "configuration")), where);
  plot.series = {std::move(cloud), std::move(best)};
  return plot;
}

}  // namespace rayreplay::report
