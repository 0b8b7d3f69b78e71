// Sensitivity of metrics to parameters, as rows and as one matrix.
//
// Contract: `ranked` orders parameters by influence, highest first. The matrix has a row for each metric and a column
// for each parameter; a cell is the total index, or the first-order one if that is unknown, in percent and as shade.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report/export/table.hpp"
#include "app/report/page/page.hpp"
#include "sim/sweep/analysis/sensitivity.hpp"
#include "sim/sweep/results/reader.hpp"

namespace rayreplay::report {

struct MetricSensitivity {
  std::string metric;
  sweep::Sensitivity result;
};
/// For the given metrics; without any, for all that exist and vary.
[[nodiscard]] std::vector<MetricSensitivity> sensitivities(const sweep::ResultsReader& reader,
                                                           std::vector<std::string> metrics, const std::string& where);
/// The total index, else the first-order one; empty if both are unknown.
[[nodiscard]] std::optional<double> weight(const sweep::ParameterIndex& index);
/// Indices into `parameters`.
[[nodiscard]] std::vector<std::size_t> ranked(const sweep::Sensitivity& result);

[[nodiscard]] output::Table sensitivity_table(const std::vector<MetricSensitivity>& all);
/// Rows of the page's matrix. Columns in the order `columns` (of `ranked`); metrics of `first` on top.
[[nodiscard]] PageData sensitivity_matrix(const std::vector<MetricSensitivity>& all,
                                          const std::vector<std::size_t>& columns, const std::string& first);

}  // namespace rayreplay::report
