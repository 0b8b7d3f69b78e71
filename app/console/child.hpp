// Runs a program in the foreground.
//
// Contract: `run_child` starts a program with unchanged terminal, signals and standard streams, and waits until it and
// all its orphans have ended, because a launcher may start the real program and exit. SIGINT, SIGTERM and SIGHUP to
// this process are forwarded to the program while it runs (Ctrl-C reaches it from the terminal). While only orphans
// run, such a signal ends the wait. Requires `watch_signals`. Errors: Input if the program cannot be started.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rayreplay::console {

struct ChildEnd {
  int code = 0;    ///< exit code, if it exited
  int signal = 0;  ///< otherwise the signal that ended it
  bool waited_for_all = true;

  [[nodiscard]] bool succeeded() const {
    return code == 0 && signal == 0;
  }
};

/// `arguments`: the program, found by PATH, and its arguments. `environment`: additional variables.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& arguments,
                                 const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace rayreplay::console
