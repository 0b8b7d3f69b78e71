// A program run to its end in a process of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace rayreplay::test {

struct Ended {
  int status = -1;  ///< as waitpid gives it
  std::string output, errors;
  friend bool operator==(const Ended&, const Ended&) = default;
  /// "exit 3", "signal 11".
  [[nodiscard]] std::string how() const;
};

/// environment: added to that of this process. A program that hangs ends by a signal after five minutes.
[[nodiscard]] Ended run_child(const std::vector<std::string>& words,
                              const std::map<std::string, std::string>& environment);

}  // namespace rayreplay::test
