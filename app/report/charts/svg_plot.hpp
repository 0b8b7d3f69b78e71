// Plots of app/report/charts/plot.hpp as SVG: on a page, or as a separate file.
//
// Contract: every text is escaped. On a page: a figure with title, picture and note; colours come from the page's style
// (light and dark). As a file: title and note are in the picture, both colour schemes in its own style, no scripts.
#pragma once

#include <string>

#include "app/report/charts/plot.hpp"

namespace rayreplay::report {

[[nodiscard]] std::string svg_figure(const pictures::Plot& plot);
[[nodiscard]] std::string svg_figure(const pictures::GridPlot& plot);
[[nodiscard]] std::string svg_file(const pictures::Plot& plot);
[[nodiscard]] std::string svg_file(const pictures::GridPlot& plot);

}  // namespace rayreplay::report
