// The files of the page, compiled in: viewer/CMakeLists.txt bundles them at build time.
//
// Contract: index.html, viewer.css and viewer.js. Their text lives as long as the program.
#pragma once

#include <span>
#include <string_view>

namespace rayreplay::viewer {

struct PageFile {
  std::string_view name;  ///< "index.html"
  std::string_view text;
};
[[nodiscard]] std::span<const PageFile> page_files();

}  // namespace rayreplay::viewer
