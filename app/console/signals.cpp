#include "app/console/signals.hpp"

#include <atomic>
#include <csignal>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include "app/console/console.hpp"
#include "base/output_file.hpp"

namespace rayreplay::console {
namespace {

std::atomic<pid_t> receiver{0};
std::atomic<bool> stop{false};
std::atomic<int> stopped_by{0};

/// Waits for the next watched signal that concerns this process.
int next_signal(const sigset_t& watched) {
  for (;;) {
    siginfo_t info{};
    const int number = sigwaitinfo(&watched, &info);
    if (number < 0) {
      continue;
    }
    const pid_t process = receiver;
    if (process == 0 || (process == kRequestStopOnce && stop)) {
      return number;
    }
    if (process == kRequestStop || process == kRequestStopOnce) {
      stopped_by = number;
      stop = true;
    } else if (info.si_code != SI_KERNEL) {
      // Signals from the terminal reach the whole foreground group, including the receiver.
      ::kill(process, number);
    }
  }
}

}  // namespace

void forward_signals_to(pid_t process) {
  stop = false;
  stopped_by = 0;
  receiver = process;
}

bool stop_requested() {
  return stop;
}

int stop_signal() {
  return stopped_by;
}

void watch_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  sigset_t watched;
  sigemptyset(&watched);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // A signal that the parent ignored (nohup) stays ignored.
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      sigaddset(&watched, number);
    }
  }
  // Threads started later inherit the mask, so that only the watcher receives these signals.
  pthread_sigmask(SIG_BLOCK, &watched, nullptr);
  std::thread([watched] {
    const int number = next_signal(watched);
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
