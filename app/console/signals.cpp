#include "app/console/signals.hpp"

#include <csignal>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include "app/console/console.hpp"
#include "base/output_file.hpp"

namespace rayreplay::console {

void watch_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that the parent had ignored (nohup) stays ignored.
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&watched, number);
    }
  }
  // Threads started later inherit the mask: only the watcher receives these signals.
  pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  std::thread([watched] {
    int number = 0;
    while (sigwait(&watched, &number) != 0) {
    }
    remove_unfinished_outputs();
    if (::isatty(STDERR_FILENO) == 1) {
      log("\r\x1b[Krayreplay: interrupted");
    } else {
      log("rayreplay: interrupted");
    }
    ::_exit(128 + number);
  }).detach();
}

}  // namespace rayreplay::console
