// The page with the data of one launch as files: opens from a folder, without a server.
//
// Contract: `export_files` gives name and bytes of index.html, viewer.css, viewer.js and data.js. data.js holds the
// answers that the page asks for, in base64 by address: facts of the trace, keys, geometries, faces, camera, the
// launch's maps, what-if of each of `answers`, and thread and warp of each of `threads`. Maps that depend on settings
// are there for the command line's settings and for each of `answers`. For all other answers, the page says that it was
// exported without them. Errors: those of an answer that fails.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "viewer/content/content.hpp"

namespace rayreplay::viewer {

struct ExportWanted {
  std::uint64_t launch = 0;
  std::vector<std::vector<std::pair<std::string, std::string>>> answers{};  ///< settings, as the page gives them
  std::vector<std::uint64_t> threads{};
};

struct ExportedFile {
  std::string name, bytes;
};

[[nodiscard]] std::vector<ExportedFile> export_files(Content& content, const ExportWanted& wanted);

}  // namespace rayreplay::viewer
