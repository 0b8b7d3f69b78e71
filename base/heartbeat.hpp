// The progress of a part of some work whose units are larger: it shows that the work goes on.
//
// Contract: stages and units of the part are not shown. Each of its units makes the whole's line be drawn again, with
// the time so far. Thread-safe where the whole's progress is, which may be null.
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
