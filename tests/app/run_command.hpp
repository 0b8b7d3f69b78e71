// Running the built command as a user would: arguments in; exit code and both streams out.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/file_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {

struct Outcome {
  int code = -1;       ///< exit code, or 128 + the signal that ended it
  std::string output;  ///< standard output
  std::string errors;  ///< standard error
};

struct RunOptions {
  std::size_t max_file_bytes = 0;             ///< limit on the size of any file written; 0: none
  std::size_t max_memory_bytes = 0;           ///< limit on the command's address space; 0: none
  bool close_reader = false;                  ///< nobody reads standard output
  std::function<bool()> interrupt_when = {};  ///< polled; SIGINT is sent once it is true
};

Outcome run_command(const std::vector<std::string>& arguments, const RunOptions& options = {});

/// A fresh folder for one test, removed with the object.
class Scratch {
 public:
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (folder_ / name).string();
  }
  [[nodiscard]] std::vector<std::string> names() const;  ///< sorted

 private:
  TemporaryFolder folder_;
};

}  // namespace rayreplay::test
