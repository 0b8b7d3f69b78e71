#include "sim/sweep/analysis/sensitivity.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace rayreplay::sweep {
namespace {

constexpr std::size_t kMinBin = 16;  // rows
constexpr std::size_t kMaxBins = 64;
constexpr std::size_t kMinLevel = 4;  // rows
// A variance below this share of the squared mean is rounding error.
constexpr double kRounding = 1e-24;

struct Rows {
  std::vector<std::size_t> places;  ///< rows with a value
  std::vector<double> values;       ///< minus their mean
};

/// Renumbers the levels that occur among the rows, without gaps.
VariedParameter compact(const VariedParameter& parameter, const Rows& rows) {
  std::vector<std::uint32_t> number(parameter.count, 0);
  for (const std::size_t row : rows.places) {
    number[parameter.levels[row]] = 1;
  }
  VariedParameter result{parameter.name, {}, 0};
  for (std::uint32_t& one : number) {
    one = one != 0 ? result.count++ : 0;
  }
  result.levels.reserve(rows.places.size());
  for (const std::size_t row : rows.places) {
    result.levels.push_back(number[parameter.levels[row]]);
  }
  return result;
}

/// Product of the level counts; 0 on overflow.
std::uint64_t combinations(std::span<const VariedParameter> parameters) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 40U;
  std::uint64_t product = 1;
  for (const VariedParameter& parameter : parameters) {
    product *= std::max(parameter.count, 1U);
    if (product > kMax) {
      return 0;
    }
  }
  return product;
}

/// Values by cell of the grid, the last parameter fastest; empty if a cell has no value or several.
std::vector<double> as_grid(std::span<const VariedParameter> parameters, const Rows& rows) {
  const std::uint64_t cells = combinations(parameters);
  if (cells != rows.values.size()) {
    return {};
  }
  std::vector<double> grid(cells);
  std::vector<bool> filled(cells, false);
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    std::uint64_t cell = 0;
    for (const VariedParameter& parameter : parameters) {
      cell = cell * parameter.count + parameter.levels[i];
    }
    if (filled[cell]) {
      return {};
    }
    filled[cell] = true;
    grid[cell] = rows.values[i];
  }
  return grid;
}

struct Axis {
  std::uint64_t stride = 1, count = 1;
  [[nodiscard]] std::uint64_t level(std::uint64_t cell) const {
    return cell / stride % count;
  }
};

std::vector<Axis> axes_of(std::span<const VariedParameter> parameters) {
  std::vector<Axis> axes(parameters.size());
  std::uint64_t stride = 1;
  for (std::size_t i = parameters.size(); i-- > 0;) {
    axes[i] = {stride, parameters[i].count};
    stride *= parameters[i].count;
  }
  return axes;
}

/// Variance of the means over cells with equal levels of both axes. The same axis twice gives the variance of that
/// axis.
double variance_of_means(const std::vector<double>& grid, const Axis& a, const Axis& b) {
  std::vector<double> sums(a.count * b.count, 0.0);
  const bool same = a.stride == b.stride;
  for (std::uint64_t cell = 0; cell < grid.size(); ++cell) {
    sums[a.level(cell) * (same ? 1 : b.count) + (same ? 0 : b.level(cell))] += grid[cell];
  }
  const std::uint64_t groups = same ? a.count : a.count * b.count;
  const double each = static_cast<double>(grid.size()) / static_cast<double>(groups);
  double sum = 0;
  for (std::uint64_t i = 0; i < groups; ++i) {
    sum += (sums[i] / each) * (sums[i] / each);  // the overall mean is 0
  }
  return sum / static_cast<double>(groups);
}

/// Variance along this axis, averaged over the cells of all other axes.
double variance_along(const std::vector<double>& grid, const Axis& axis) {
  double sum = 0;
  const std::uint64_t block = axis.stride * axis.count;
  const auto count = static_cast<double>(axis.count);
  for (std::uint64_t start = 0; start < grid.size(); start += block) {
    for (std::uint64_t offset = 0; offset < axis.stride; ++offset) {
      double mean = 0;
      for (std::uint64_t level = 0; level < axis.count; ++level) {
        mean += grid[start + offset + level * axis.stride];
      }
      mean /= count;
      for (std::uint64_t level = 0; level < axis.count; ++level) {
        const double off = grid[start + offset + level * axis.stride] - mean;
        sum += off * off;
      }
    }
  }
  return sum / static_cast<double>(grid.size());
}

void analyse_grid(Sensitivity& result, std::span<const VariedParameter> parameters, const std::vector<double>& grid) {
  const std::vector<Axis> axes = axes_of(parameters);
  std::vector<double> first(axes.size(), 0.0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    first[i] = variance_of_means(grid, axes[i], axes[i]) / result.variance;
    result.parameters[i].first = first[i];
    result.parameters[i].total = variance_along(grid, axes[i]) / result.variance;
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    for (std::size_t b = a + 1; b < axes.size(); ++b) {
      const double both = variance_of_means(grid, axes[a], axes[b]) / result.variance;
      result.pairs.push_back({a, b, std::max(both - first[a] - first[b], 0.0)});
    }
  }
  std::ranges::stable_sort(result.pairs, [](const PairIndex& x, const PairIndex& y) { return x.share > y.share; });
}

/// Bin of each row: its level if there are few levels, else quantiles in the order of levels.
std::vector<std::uint32_t> bins_of(const VariedParameter& parameter, std::uint32_t& count) {
  const std::size_t rows = parameter.levels.size();
  const auto most = static_cast<std::uint32_t>(std::clamp<std::size_t>(rows / kMinBin, 2, kMaxBins));
  // One bin per level if each level has a few rows on average.
  if (parameter.count <= kMaxBins && parameter.count * kMinLevel <= rows) {
    count = parameter.count;
    return parameter.levels;
  }
  std::vector<std::uint64_t> below(parameter.count + 1, 0);
  for (const std::uint32_t level : parameter.levels) {
    ++below[level + 1];
  }
  std::partial_sum(below.begin(), below.end(), below.begin());
  // Rows of one level stay in one bin: the bin of the level's middle row.
  std::vector<std::uint32_t> bin_of_level(parameter.count);
  std::uint32_t used = 0, last = 0;
  for (std::uint32_t level = 0; level < parameter.count; ++level) {
    const std::uint64_t middle = below[level] + below[level + 1];  // doubled
    const auto wanted = static_cast<std::uint32_t>(std::min<std::uint64_t>(middle * most / (2 * rows), most - 1));
    if (level > 0 && wanted != last) {
      ++used;
    }
    last = wanted;
    bin_of_level[level] = used;
  }
  count = used + 1;
  std::vector<std::uint32_t> bins;
  bins.reserve(rows);
  for (const std::uint32_t level : parameter.levels) {
    bins.push_back(bin_of_level[level]);
  }
  return bins;
}

void estimate(ParameterIndex& index, const VariedParameter& parameter, const Rows& rows) {
  std::uint32_t count = 0;
  const std::vector<std::uint32_t> bins = bins_of(parameter, count);
  const std::size_t n = rows.values.size();
  if (count < 2 || n < count + kMinBin / 2) {
    return;
  }
  std::vector<double> sums(count, 0.0);
  std::vector<double> sizes(count, 0.0);
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sums[bins[i]] += rows.values[i];
    sizes[bins[i]] += 1;
    all += rows.values[i] * rows.values[i];
  }
  double between = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    between += sums[i] * sums[i] / sizes[i];
  }
  const auto freedom = static_cast<double>(n - count);
  const double within = std::max(all - between, 0.0) / freedom;
  const double share = (between - (count - 1) * within) / all;
  index.first = std::clamp(share, 0.0, 1.0);
  index.noise = std::sqrt(2.0 * (count - 1)) / freedom;
}

}  // namespace

Sensitivity sensitivity(std::span<const VariedParameter> parameters, std::span<const double> values, bool sampled) {
  Sensitivity result;
  Rows rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) {
      rows.places.push_back(i);
      rows.values.push_back(values[i]);
    }
  }
  std::vector<VariedParameter> used;
  for (const VariedParameter& parameter : parameters) {
    used.push_back(compact(parameter, rows));
    result.parameters.push_back({parameter.name, {}, {}, 0});
  }
  result.rows = rows.values.size();
  result.expected = combinations(used);
  if (rows.values.empty()) {
    result.notes.emplace_back("no configuration has a value");
    return result;
  }
  const auto n = static_cast<double>(rows.values.size());
  result.mean = std::accumulate(rows.values.begin(), rows.values.end(), 0.0) / n;
  double squares = 0;
  for (double& value : rows.values) {
    value -= result.mean;
    squares += value * value;
  }
  result.variance = squares / n;
  const std::vector<double> grid = as_grid(used, rows);
  result.design = !grid.empty() ? Design::FullGrid : sampled ? Design::Sample : Design::Incomplete;
  if (!(result.variance > kRounding * std::max(result.mean * result.mean, 1e-280))) {
    result.variance = 0;
    result.notes.emplace_back("the metric is the same in every configuration");
    return result;
  }
  if (!grid.empty()) {
    analyse_grid(result, used, grid);
    return result;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    estimate(result.parameters[i], used[i], rows);
  }
  if (result.design == Design::Incomplete) {
    result.notes.push_back(
        result.expected == 0
            ? fmt::format("the grid is incomplete ({} of very many combinations): ", result.rows)
            : fmt::format("the grid is incomplete ({} of {} combinations): ", result.rows, result.expected));
    result.notes.back() += "first-order indices are estimates, and include effects of correlated parameters";
  } else {
    result.notes.push_back(fmt::format("estimated from {} samples", result.rows));
  }
  result.notes.emplace_back("total indices are not known from this design: they need a full grid");
  return result;
}

}  // namespace rayreplay::sweep
