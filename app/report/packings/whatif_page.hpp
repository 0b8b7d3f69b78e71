// The page of a comparison of packings: one HTML file that works offline, with its pictures beside it.
//
// Contract: as page/page.hpp.
#pragma once

#include <string>
#include <vector>

#include "app/report/context/context.hpp"
#include "app/report/page/page.hpp"
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
