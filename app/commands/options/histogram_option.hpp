// --histograms of `rayreplay cache`: the parts of a stream with reuse distances of their own.
//
// Contract: a list of kind, window, window=N (N equal time windows, as --windows N), element and launch, each once.
// Errors: Usage for anything else, and for windows of other numbers or lengths beside window=N.
#pragma once

#include <string>

#include "sim/memory/results/analysis.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::app {

struct HistogramChoice {
  memory::HistogramParts parts;
  bool launches = false;
};

/// "": none. Sets the key of time windows for window=N; `settings` are complete.
[[nodiscard]] HistogramChoice histograms_of(const std::string& list, experiment::Settings& settings);

}  // namespace rayreplay::app
