#include "app/console/child.hpp"

#include <csignal>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/console/console.hpp"
#include "app/console/signals.hpp"
#include "base/error.hpp"

namespace rayreplay::console {
namespace {

constexpr useconds_t kPollMicroseconds = 20'000;

std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : changes) {
      replaced |= text.starts_with(name + "=");
    }
    if (!replaced) {
      result.push_back(text);
    }
  }
  for (const auto& [name, value] : changes) {
    result.push_back(name + "=" + value);
  }
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

pid_t spawn(std::vector<std::string> arguments, std::vector<std::string> environment) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The program must not inherit the signals that watch_signals blocked and ignored.
  sigset_t none;
  sigset_t defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = -1;
  const int error = posix_spawnp(&child, arguments.front().c_str(), nullptr, &attributes, pointers_to(arguments).data(),
                                 pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw Error(ErrorKind::Input, {"the program cannot be started", arguments.front(),
                                   std::generic_category().message(error), "", "check its name and its rights"});
  }
  return child;
}

/// Waits for orphaned processes. False if a signal ended the wait.
bool wait_for_others() {
  bool said = false;
  for (;;) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno == ECHILD) {
      return true;
    }
    if (ended > 0) {
      continue;
    }
    if (!said) {
      said = true;
      log("rayreplay: the program has ended but left processes behind; waiting for them (Ctrl-C: do not)");
    }
    if (stop_requested()) {
      return false;
    }
    usleep(kPollMicroseconds);
  }
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& arguments,
                   const std::vector<std::pair<std::string, std::string>>& environment) {
  // Orphans of the program become our children, so that we can wait for them.
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const pid_t child = spawn(arguments, merged_environment(environment));
  forward_signals_to(child);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  forward_signals_to(kRequestStop);
  ChildEnd end;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.waited_for_all = wait_for_others();
  forward_signals_to(0);
  return end;
}

}  // namespace rayreplay::console
