// Reports to a sink of progress that may be null (base/progress.hpp).
//
// Contract: a null sink is ignored. Thread-safe where the sink is.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/progress.hpp"

namespace rayreplay {

inline void report_start(Progress* progress, std::string_view stage, std::uint64_t total) {
  if (progress != nullptr) {
    progress->start(stage, total);
  }
}

inline void report_advance(Progress* progress, std::uint64_t units) {
  if (progress != nullptr) {
    progress->advance(units);
  }
}

inline void report_finish(Progress* progress) {
  if (progress != nullptr) {
    progress->finish();
  }
}

}  // namespace rayreplay
