// The files of machines/, compiled in.
//
// Contract: names and texts of all shipped machine files; cmake/embed_texts.cmake writes the definition at build time.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace rayreplay::machine {

struct ShippedText {
  std::string_view name;  ///< the file's without ".toml"
  std::string_view text;
};

/// Sorted by name.
[[nodiscard]] std::span<const ShippedText> shipped_texts();

}  // namespace rayreplay::machine
