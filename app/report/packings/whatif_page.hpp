// The report page: one HTML file that works offline, with its pictures beside it.
//
// Contract: every text that comes from a trace, a file name or a configuration is escaped; there are no scripts and no
// external resources; colours follow the reader's light or dark setting. The same result gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "app/report/context/context.hpp"
#include "app/report/packings/launch_pictures.hpp"
#include "app/report/page/html_parts.hpp"
#include "sim/engine/stages/simt.hpp"

namespace rayreplay::report {

struct Page {
  const Context& context;
  const experiment::WhatIfResult& result;
  const std::vector<Picture>& pictures;
  std::string configuration_toml;
  std::string image_file;       ///< of the rendered picture, beside the page; "": none
  std::string published_title;  ///< "": no comparison
  std::string published_source;
  std::string published_note;
  std::string published_warning;  ///< "" if the figures are of this workload
  output::Table published;
};

[[nodiscard]] std::string to_html(const Page& page);

}  // namespace rayreplay::report
