#include "app/report/sweep/sweep_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "sim/sweep/analysis/dataset.hpp"

namespace rayreplay::report {
namespace {

using sweep::ResultColumn;
using sweep::ResultsReader;

output::Cell optional_cell(const std::optional<double>& value) {
  return value ? output::Cell(*value) : output::Cell();
}

const char* design_name(sweep::Design design) {
  switch (design) {
    case sweep::Design::FullGrid:
      return "grid";
    case sweep::Design::Incomplete:
      return "incomplete grid";
    case sweep::Design::Sample:
      return "sample";
  }
  return "";
}

/// The parts of a name between which a line may break.
PageData parts_of(const std::string& name) {
  PageData parts = PageData::array();
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of(".:", begin), name.size() - 1) + 1;
    parts.push_back(name.substr(begin, end - begin));
    begin = end;
  }
  return parts;
}

PageData matrix_cell(const sweep::ParameterIndex& index) {
  const std::optional<double> value = weight(index);
  if (!value || !std::isfinite(*value)) {
    return {{"shade", ""}, {"text", "-"}};
  }
  // The shade is limited so that text on it stays readable.
  constexpr double kDarkest = 0.55;
  return {{"shade", fmt::format("{:.3f}", std::clamp(*value, 0.0, 1.0) * kDarkest)},
          {"text", fmt::format("{:.1f} %", *value * 100)}};
}

}  // namespace

std::vector<MetricSensitivity> sensitivities(const ResultsReader& reader, std::vector<std::string> metrics,
                                             const std::string& where) {
  const bool all = metrics.empty();
  if (all) {
    for (const ResultColumn& column : reader.metrics()) {
      metrics.push_back(column.name);
    }
  }
  const sweep::Dataset data = sweep::load_parameters(reader, where);
  std::vector<MetricSensitivity> result;
  for (const std::string& metric : metrics) {
    const std::vector<double> values = sweep::load_numbers(reader, metric, where, "sensitivity");
    MetricSensitivity one{reader.column(metric, "sensitivity").name,
                          sweep::sensitivity(data.parameters, values, data.sampled)};
    if (!all || one.result.variance > 0) {
      result.push_back(std::move(one));
    }
  }
  return result;
}

output::Table sensitivity_table(const std::vector<MetricSensitivity>& all) {
  output::Table table;
  table.columns = {{"metric", "metric"},
                   {"parameter", "parameter"},
                   {"first", "by itself", output::Show::Percent, 1},
                   {"total", "with interactions", output::Show::Percent, 1},
                   {"noise", "noise", output::Show::Percent, 1},
                   {"design", "design"},
                   {"rows", "rows", output::Show::Plain, 0, true}};
  for (const MetricSensitivity& one : all) {
    for (const std::size_t i : ranked(one.result)) {
      const sweep::ParameterIndex& index = one.result.parameters[i];
      table.rows.push_back({one.metric, index.name, optional_cell(index.first), optional_cell(index.total),
                            index.first ? output::Cell(index.noise) : output::Cell(),
                            std::string(design_name(one.result.design)), one.result.rows});
    }
  }
  return table;
}

std::optional<double> weight(const sweep::ParameterIndex& index) {
  return index.total ? index.total : index.first;
}

std::vector<std::size_t> ranked(const sweep::Sensitivity& result) {
  std::vector<std::size_t> order(result.parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return weight(result.parameters[a]).value_or(-1) > weight(result.parameters[b]).value_or(-1);
  });
  return order;
}

PageData sensitivity_matrix(const std::vector<MetricSensitivity>& all, const std::vector<std::size_t>& columns,
                            const std::string& first) {
  PageData parameters = PageData::array(), metrics = PageData::array();
  for (const std::size_t i : columns) {
    parameters.push_back({{"parts", parts_of(all.front().result.parameters[i].name)}});
  }
  for (const bool on_top : {true, false}) {
    for (const MetricSensitivity& one : all) {
      if ((one.metric == first) != on_top) {
        continue;
      }
      PageData cells = PageData::array();
      for (const std::size_t i : columns) {
        cells.push_back(matrix_cell(one.result.parameters[i]));
      }
      metrics.push_back({{"name", one.metric}, {"cells", std::move(cells)}});
    }
  }
  return {{"parameters", std::move(parameters)}, {"metrics", std::move(metrics)}};
}

}  // namespace rayreplay::report
