#include "tests/app/process.hpp"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPoll{2};

/// "" of a process that has ended.
std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const Variables& environment) {
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  const int output = ::open((streams_ / "output").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int errors = ::open((streams_ / "errors").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(output, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
    for (const auto& [name, value] : environment) {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(output);
  ::close(errors);
  if (pid_ < 0) {
    throw std::runtime_error("no process");
  }
}

Process::~Process() {
  if (!ended()) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
}

void Process::signal(int number) const {
  if (!ended_) {
    ::kill(pid_, number);
  }
}

bool Process::ended() {
  if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) {
    ended_ = true;
  }
  return ended_;
}

Outcome Process::wait() {
  if (!ended_) {
    ::waitpid(pid_, &status_, 0);
    ended_ = true;
  }
  Outcome outcome;
  outcome.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  outcome.output = read_bytes(streams_ / "output");
  outcome.errors = read_bytes(streams_ / "errors");
  return outcome;
}

bool Process::wait_until(const std::function<bool()>& condition, std::chrono::seconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!ended() && std::chrono::steady_clock::now() < until) {
    if (condition()) {
      return true;
    }
    std::this_thread::sleep_for(kPoll);
  }
  return false;
}

std::vector<pid_t> children_with(pid_t parent, const std::string& variable) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) {
      continue;
    }
    // "PID (NAME) STATE PARENT …"
    const std::string stat = contents(entry.path() / "stat");
    const std::size_t after = stat.rfind(") ");
    if (after == std::string::npos || std::atoi(stat.c_str() + after + 4) != parent) {
      continue;
    }
    const std::string environment = '\0' + contents(entry.path() / "environ");
    if (environment.find('\0' + variable + '\0') != std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

}  // namespace rayreplay::test
