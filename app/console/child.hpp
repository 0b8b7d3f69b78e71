// A program run in the foreground of this one.
//
// Contract: `run_child` starts a program with the terminal, the signals and the standard streams it would have without
// us, and waits until it and every process that it left behind have ended: a launcher may start the real program and
// leave. While it runs, SIGINT, SIGTERM and SIGHUP sent to us are passed on to it (Ctrl-C reaches it from the
// terminal); while only processes that were left behind run, such a signal ends the waiting. Requires `watch_signals`.
// Errors: Input if the program cannot be started.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rayreplay::console {

struct ChildEnd {
  int code = 0;    ///< exit code, if it ended by itself
  int signal = 0;  ///< otherwise the signal that ended it
  bool waited_for_all = true;

  [[nodiscard]] bool succeeded() const {
    return code == 0 && signal == 0;
  }
};

/// `arguments`: the program, found by PATH, and its arguments. `environment`: variables that it gets besides ours.
[[nodiscard]] ChildEnd run_child(const std::vector<std::string>& arguments,
                                 const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace rayreplay::console
