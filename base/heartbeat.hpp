// Progress of a part of a task, where one unit of the task is larger than a unit of the part. It shows that the task
// goes on.
//
// Contract: the part's stages and units are not shown. Each unit of the part redraws the task's line with the time so
// far. Thread-safe if the task's progress is. The task's progress may be null.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/progress.hpp"
#include "base/report_progress.hpp"

namespace rayreplay {

class Heartbeat : public Progress {
 public:
  explicit Heartbeat(Progress* whole) : whole_(whole) {}

  void start(std::string_view /*stage*/, std::uint64_t /*total*/) override {}
  void advance(std::uint64_t /*units*/) override {
    report_advance(whole_, 0);
  }
  void finish() override {}

 private:
  Progress* whole_;
};

}  // namespace rayreplay
