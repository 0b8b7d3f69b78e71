#include "tests/layer-faults/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

extern char** environ;

namespace rayreplay::test {

std::string Ended::how() const {
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "exit " + std::to_string(WEXITSTATUS(status));
}

Ended run_child(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment) {
  constexpr unsigned kPatience = 300;
  // All memory is asked for before the fork, as other threads run.
  std::vector<char*> arguments;
  for (const auto& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  std::vector<std::string> lines;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string line = *at;
    if (!environment.contains(line.substr(0, line.find('=')))) {
      lines.push_back(line);
    }
  }
  for (const auto& [name, value] : environment) {
    lines.push_back(name + "=" + value);
  }
  std::vector<char*> variables;
  for (auto& line : lines) {
    variables.push_back(line.data());
  }
  variables.push_back(nullptr);
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& ends : pipes) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw std::runtime_error("pipe2");
    }
  }
  const auto child = fork();
  if (child == 0) {
    dup2(pipes[0][1], STDOUT_FILENO);
    dup2(pipes[1][1], STDERR_FILENO);
    alarm(kPatience);
    execve(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  if (child < 0) {
    throw std::runtime_error("fork");
  }
  Ended ended;
  const std::array<std::string*, 2> texts = {&ended.output, &ended.errors};
  std::array<pollfd, 2> waiting{};
  for (std::size_t i = 0; i < 2; ++i) {
    close(pipes.at(i)[1]);
    waiting.at(i) = {pipes.at(i)[0], POLLIN, 0};
  }
  for (std::size_t open_ends = 2; open_ends > 0;) {
    poll(waiting.data(), waiting.size(), -1);
    for (std::size_t i = 0; i < 2; ++i) {
      if (waiting.at(i).fd < 0 || waiting.at(i).revents == 0) {
        continue;
      }
      std::array<char, 4096> part{};
      const ssize_t got = read(waiting.at(i).fd, part.data(), part.size());
      if (got > 0) {
        texts.at(i)->append(part.data(), static_cast<std::size_t>(got));
      } else {
        close(waiting.at(i).fd);
        waiting.at(i).fd = -1;
        --open_ends;
      }
    }
  }
  waitpid(child, &ended.status, 0);
  return ended;
}

}  // namespace rayreplay::test
