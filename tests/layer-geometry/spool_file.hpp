// The newest spool of a folder, read by the tests: whole blocks, checked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/spool/format.hpp"

namespace rayreplay::layer::geometry {

struct SpoolFile {
  std::map<std::uint32_t, spool::Structure> structures;
  std::vector<spool::Launch> launches;
  std::map<std::uint32_t, spool::Images> images;  ///< by launch
  std::vector<std::string> notes;

  [[nodiscard]] static SpoolFile newest(const std::string& folder);

  /// Structure number `index` that a launch may have used.
  [[nodiscard]] const spool::Structure& used(const spool::Launch& launch, std::size_t index = 0) const;
  /// The bottom level of an instance.
  [[nodiscard]] const spool::Structure& bottom(const spool::Structure& top, std::size_t instance) const;
};

}  // namespace rayreplay::layer::geometry
