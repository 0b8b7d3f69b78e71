#include "tests/app/run_command.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLook{5};

[[noreturn]] void become_command(std::vector<char*>& arguments, int output, int errors, const RunOptions& options) {
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  if (options.max_file_bytes > 0) {
    const rlimit limit{options.max_file_bytes, options.max_file_bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (options.max_memory_bytes > 0) {
    const rlimit limit{options.max_memory_bytes, options.max_memory_bytes};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ::execv(RAYREPLAY_COMMAND, arguments.data());
  ::_exit(127);
}

int wait_for(pid_t child, const RunOptions& options) {
  int status = 0;
  bool interrupted = false;
  while (::waitpid(child, &status, options.interrupt_when ? WNOHANG : 0) == 0) {
    if (!interrupted && options.interrupt_when()) {
      ::kill(child, SIGINT);
      interrupted = true;
    }
    std::this_thread::sleep_for(kLook);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::vector<std::string> Scratch::names() const {
  std::vector<std::string> result;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    result.push_back(entry.path().filename().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

Outcome run_command(const std::vector<std::string>& arguments, const RunOptions& options) {
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "rayreplay");
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);

  // Files, not pipes: no output is too long for them. A limit on file sizes does not reach these small ones.
  const Scratch streams;
  const int errors = ::open((streams / "errors").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  int output = -1;
  if (options.close_reader) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("no pipe");
    }
    ::close(ends[0]);
    output = ends[1];
  } else {
    output = ::open((streams / "output").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  }
  const pid_t child = ::fork();
  if (child == 0) {
    become_command(pointers, output, errors, options);
  }
  ::close(output);
  ::close(errors);
  Outcome outcome;
  outcome.code = wait_for(child, options);
  outcome.output = options.close_reader ? std::string() : read_bytes(streams / "output");
  outcome.errors = read_bytes(streams / "errors");
  return outcome;
}

}  // namespace rayreplay::test
