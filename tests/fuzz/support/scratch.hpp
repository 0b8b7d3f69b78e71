// One file after another in a folder of its own, for readers that take paths. `./rr fuzz` puts it into memory (TMPDIR).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/support/temporary_folder.hpp"

namespace rayreplay::fuzz {

inline const test::TemporaryFolder& scratch() {
  static const test::TemporaryFolder kFolder;
  return kFolder;
}

}  // namespace rayreplay::fuzz
