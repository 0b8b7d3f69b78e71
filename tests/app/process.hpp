// A program that runs beside the test, which may end it in any way.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "tests/app/run_command.hpp"

namespace rayreplay::test {

class Process {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// `arguments`: path of the program first.
  explicit Process(const std::vector<std::string>& arguments, const Variables& environment = {});
  ~Process();  ///< kills it where it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const {
    return pid_;
  }
  void signal(int number) const;
  /// Whether it has ended, without waiting.
  [[nodiscard]] bool ended();
  [[nodiscard]] Outcome wait();
  /// Polls until `condition` holds or the process has ended; false in the latter case, or when patience ends.
  bool wait_until(const std::function<bool()>& condition, std::chrono::seconds patience = std::chrono::seconds(60));

 private:
  Scratch streams_;
  pid_t pid_ = 0;
  int status_ = 0;
  bool ended_ = false;
};

/// Children of a process whose environment has "NAME=VALUE".
[[nodiscard]] std::vector<pid_t> children_with(pid_t parent, const std::string& variable);

}  // namespace rayreplay::test
