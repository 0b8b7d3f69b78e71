// The files of templates/, compiled in; cmake/embed_texts.cmake writes the definition at build time.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace rayreplay::report {

struct PageText {
  std::string_view name;  ///< the file's without its ending
  std::string_view text;
};

/// Sorted by name.
[[nodiscard]] std::span<const PageText> page_texts();

}  // namespace rayreplay::report
