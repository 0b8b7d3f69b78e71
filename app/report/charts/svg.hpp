// Charts as SVG: on a page, or as a file of their own.
//
// Contract: every text is escaped. On a page: a figure with title, picture and note; colours come from the page's style
// (light and dark). As a file: title and note are in the picture, both colour schemes in its own style, no scripts.
#pragma once

#include <string>

#include "app/report/charts/plot.hpp"

namespace rayreplay::report {

[[nodiscard]] std::string svg_figure(const pictures::Chart& chart);
[[nodiscard]] std::string svg_file(const pictures::Chart& chart);

/// Style sheet of charts: the colours as custom properties (--paper, --c0, …), and the rules of their elements.
[[nodiscard]] std::string chart_style();

}  // namespace rayreplay::report
