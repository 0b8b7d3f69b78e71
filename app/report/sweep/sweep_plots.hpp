// Plots of a sweep: a map over two parameters, lines over one, a scatter plot with its Pareto front.
//
// Contract: several configurations at one position are shown as their mean, and the note has their number; `where`
// restricts them. Axes of powers of two, and those that span a factor of 32 or more, are logarithmic; bytes are
// labelled as "64 KiB". Parameters with many values are divided into ranges. Errors: Usage if there is nothing to draw,
// or if a column that must be numeric has texts.
#pragma once

#include <string>

#include "app/report/charts/plot.hpp"
#include "app/report/sweep/sweep_table.hpp"

namespace rayreplay::report {

[[nodiscard]] pictures::GridPlot heat_map_plot(const sweep::ResultsReader& reader, const std::string& x,
                                               const std::string& y, const std::string& metric,
                                               const std::string& where);
/// `by`: one line for each of its values; "": a single line.
[[nodiscard]] pictures::Plot line_plot(const sweep::ResultsReader& reader, const std::string& x,
                                       const std::string& metric, const std::string& by, const std::string& where);
[[nodiscard]] pictures::Plot pareto_plot(const sweep::ResultsReader& reader, const MetricGoal& x, const MetricGoal& y,
                                         const std::string& where);

}  // namespace rayreplay::report
