// Pictures of a sweep: a map over two parameters, lines over one, a cloud with its Pareto front.
//
// Contract: where several configurations meet in one place of a picture, it shows their mean, and its note says over
// how many; `where` narrows them down. Axes of powers of two, and those that span a factor of 32 or more, are
// logarithmic; numbers of bytes read "64 KiB". Parameters with many different values are cut into ranges. Errors: Usage
// where there is nothing to draw, or where a column that must hold numbers holds texts.
#pragma once

#include <string>

#include "app/pictures/plot.hpp"
#include "app/report/sweep_table.hpp"

namespace rayreplay::report {

[[nodiscard]] pictures::GridPlot heat_map_plot(const sweep::ResultsReader& reader, const std::string& x,
                                               const std::string& y, const std::string& metric,
                                               const std::string& where);
/// `by`: one line for each of its values; "": one line.
[[nodiscard]] pictures::Plot line_plot(const sweep::ResultsReader& reader, const std::string& x,
                                       const std::string& metric, const std::string& by, const std::string& where);
[[nodiscard]] pictures::Plot pareto_plot(const sweep::ResultsReader& reader, const MetricGoal& x, const MetricGoal& y,
                                         const std::string& where);

}  // namespace rayreplay::report
