// The HTML page of a comparison of scheduler models.
//
// Contract: as page/page.hpp.
#pragma once

#include <string>
#include <vector>

#include "app/report/models/models_report.hpp"

namespace rayreplay::report {

struct ModelsPage {
  const ModelsContext& models;
  const std::vector<SmMap>& maps;
  std::vector<std::string> map_files;  ///< by row; "": none
  std::string image_file;              ///< of the rendered picture, beside the page; "": none
  std::string configuration_toml;
};

[[nodiscard]] std::string to_html(const ModelsPage& page);

}  // namespace rayreplay::report
