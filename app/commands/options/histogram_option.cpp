#include "app/commands/options/histogram_option.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "sim/caching/cache.hpp"
#include "sim/memory/results/analysis.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kOption = "--histograms";
constexpr std::string_view kWindowNumber = "window=";
constexpr const char* kWindows = "cache.windows";

/// Usage unless so many windows can have histograms.
void require_count(std::int64_t number, const std::string& found) {
  if (number < 2 || number > static_cast<std::int64_t>(memory::kMaxHistogramWindows)) {
    usage(number < 2 ? "histograms by time window need more than one window"
                     : "there are too many time windows for histograms",
          kOption, found, fmt::format("2 to {} windows", memory::kMaxHistogramWindows),
          "write it like window=8, or change --windows");
  }
}

/// Sets the number of time windows.
void set_windows(const std::string& item, experiment::Settings& settings) {
  const std::string_view text = std::string_view(item).substr(kWindowNumber.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) {
    usage("the number of time windows is not a whole number", kOption, fmt::format("'{}'", item),
          fmt::format("2 to {}", memory::kMaxHistogramWindows), "write it like window=8");
  }
  require_count(number, fmt::format("'{}'", item));
  const std::int64_t before = settings.integer(kWindows);
  if ((before != 1 && before != number) || settings.integer("cache.window_requests") != 0) {
    usage("the time windows are set twice", kOption,
          before != 1 ? fmt::format("{} beside {} windows", item, before) : item + " beside a length in requests",
          "one of them", "write 'window' without a number");
  }
  settings.set(kWindows, number, kOption);
}

}  // namespace

HistogramChoice histograms_of(const std::string& list, experiment::Settings& settings) {
  HistogramChoice choice;
  if (list.empty()) {
    return choice;
  }
  for (const std::string& item : list_items(list, ',')) {
    const std::string name = item.starts_with(kWindowNumber) ? "window" : item;
    bool* const part = name == "kind"      ? &choice.parts.kinds
                       : name == "window"  ? &choice.parts.windows
                       : name == "element" ? &choice.parts.elements
                       : name == "launch"  ? &choice.launches
                                           : nullptr;
    if (part == nullptr) {
      const std::string near = nearest(name, {"kind", "window", "element", "launch"});
      usage("unknown part of a stream", kOption, fmt::format("'{}'", item), "kind, window=N, element, launch",
            near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    if (*part) {
      usage("a part is given twice", kOption, fmt::format("'{}'", name), "each part once");
    }
    *part = true;
    if (name != item) {
      set_windows(item, settings);
    }
  }
  if (choice.parts.windows && settings.integer("cache.window_requests") == 0) {
    const std::int64_t number = settings.integer(kWindows);
    require_count(number, counted(static_cast<std::uint64_t>(number), "window"));
  }
  return choice;
}

}  // namespace rayreplay::app
