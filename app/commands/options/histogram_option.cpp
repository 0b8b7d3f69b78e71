#include "app/commands/options/histogram_option.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::app {
namespace {

constexpr const char* kOption = "--histograms";
constexpr std::string_view kWindowNumber = "window=";
constexpr const char* kWindows = "cache.windows";

/// Sets the number of time windows.
void set_windows(const std::string& item, experiment::Settings& settings) {
  const std::string_view text = std::string_view(item).substr(kWindowNumber.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1 || number > experiment::kMaxWindows) {
    usage("the number of time windows is not understood", kOption, fmt::format("'{}'", item),
          fmt::format("1 to {}", experiment::kMaxWindows), "write it like window=8");
  }
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
  if (choice.parts.windows && settings.integer(kWindows) == 1 && settings.integer("cache.window_requests") == 0) {
    usage("histograms by time window need more than one window", kOption, "one window", "window=N",
          "write window=8, or add --windows");
  }
  return choice;
}

}  // namespace rayreplay::app
