#include "app/report/profile/value_charts.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/report/profile/profile_page.hpp"
#include "base/count_text.hpp"
#include "base/shortened.hpp"

namespace rayreplay::report {
namespace {

using pictures::BarPlot;
using pictures::Chart;
using profile::LoadedValue;
using profile::ValuePlace;

constexpr double kWholeShare = 100;
constexpr std::size_t kMostField = 36;  ///< bytes of a field's name in a label

struct ValueSubject {
  const char* title;
  const char* value_title;
  const char* rest;
  std::uint64_t ValuePlace::*whole;
  std::uint64_t LoadedValue::*part;
};
constexpr ValueSubject kOfLanes = {"Most frequent values of loads", "executions of the load by lanes (%)", "all others",
                                   &ValuePlace::lanes, &LoadedValue::lanes};
constexpr ValueSubject kOfGroups = {"Most frequent values that all lanes of a group had",
                                    "executions of the load by groups (%)", "all others, or lanes that differ",
                                    &ValuePlace::groups, &LoadedValue::uniform_groups};

std::string value_label(const ValuePlace& place, const std::vector<LoadedValue>& values) {
  const std::string field = fmt::format("{} {}", place.shader, text::shortened(place.name, kMostField));
  return values.empty() ? field : fmt::format("{} = {}", field, profile::value_text(values[0].bits, place.number));
}

BarPlot chart_of_values(std::span<const ValuePlace> places, std::size_t all, const ValueSubject& subject,
                        std::uint32_t top) {
  BarPlot chart{.title = subject.title,
                .note = "A bar is a number of a load: its shader, its field, and its most frequent value." +
                        (all <= places.size() ? std::string()
                                              : fmt::format(" The {} of {} that most lanes executed.", places.size(),
                                                            counted(all, "number"))),
                .value_title = subject.value_title,
                .stacked = true};
  BarPlot::Series first{"the most frequent value", 0, {}}, next{"", 1, {}}, rest{subject.rest, 2, {}};
  next.name = top == 2 ? "the second" : fmt::format("the next {}", top - 1);
  for (const ValuePlace& place : places) {
    const std::vector<LoadedValue> values =
        subject.part == &LoadedValue::lanes ? place.values : profile::uniform_values(place);
    const auto whole = static_cast<double>(place.*subject.whole);
    std::uint64_t of_next = 0;
    for (std::size_t i = 1; i < std::min<std::size_t>(values.size(), top); ++i) {
      of_next += values[i].*subject.part;
    }
    const double first_share = values.empty() ? 0 : kWholeShare * static_cast<double>(values[0].*subject.part) / whole;
    const double next_share = kWholeShare * static_cast<double>(of_next) / whole;
    chart.categories.push_back(value_label(place, values));
    first.values.push_back(first_share);
    next.values.push_back(next_share);
    rest.values.push_back(std::max(0.0, kWholeShare - first_share - next_share));
  }
  chart.series = {std::move(first)};
  if (top > 1) {
    chart.series.push_back(std::move(next));
  }
  chart.series.push_back(std::move(rest));
  return chart;
}

}  // namespace

std::vector<ValuePlace> by_lanes(std::span<const ValuePlace> places) {
  std::vector<ValuePlace> sorted(places.begin(), places.end());
  std::ranges::stable_sort(sorted, std::greater<>(), &ValuePlace::lanes);
  return sorted;
}

std::vector<Chart> value_charts(std::span<const ValuePlace> places, std::uint32_t top) {
  std::vector<ValuePlace> shown = by_lanes(places);
  std::erase_if(shown, [](const ValuePlace& place) { return place.lanes == 0 || place.groups == 0; });
  if (shown.empty()) {
    return {};
  }
  const std::size_t all = shown.size();
  shown.resize(std::min(shown.size(), kMostBars));
  return {chart_of_values(shown, all, kOfLanes, top), chart_of_values(shown, all, kOfGroups, top)};
}

}  // namespace rayreplay::report
