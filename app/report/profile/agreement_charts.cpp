#include "app/report/profile/agreement_charts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/report/profile/profile_page.hpp"

namespace rayreplay::report {
namespace {

using pictures::BarPlot;
using pictures::Chart;
using profile::AgreementSum;
using profile::kAgreements;
using Counts = std::array<double, kAgreements>;

constexpr double kHundred = 100;
constexpr std::array<const char*, 3> kSubjects = {"branches", "loaded values", "load addresses"};

double sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

void add(Counts& sum, const std::array<std::uint64_t, kAgreements>& counts) {
  for (std::size_t level = 0; level < kAgreements; ++level) {
    sum[level] += static_cast<double>(counts[level]);
  }
}

BarPlot empty_chart(std::string title, std::string note, std::string value_title) {
  BarPlot chart{
      .title = std::move(title), .note = std::move(note), .value_title = std::move(value_title), .stacked = true};
  constexpr std::array<const char*, kAgreements> kNames = {"proven uniform", "observed uniform", "divergent",
                                                           "not executed", "not compared"};
  for (std::size_t level = 0; level < kAgreements; ++level) {
    chart.series.push_back({kNames[level], level, {}});
  }
  return chart;
}

void add_bar(BarPlot& chart, std::string category, const Counts& counts) {
  const double all = sum_of(counts);
  chart.categories.push_back(std::move(category));
  for (std::size_t level = 0; level < kAgreements; ++level) {
    chart.series[level].values.push_back(all > 0 ? kHundred * counts[level] / all : 0);
  }
}

BarPlot chart_of_all(const std::vector<AgreementSum>& sums) {
  BarPlot chart = empty_chart("Measured uniformity of branches and loads",
                              "Of all counted shaders: each place in the code once, or each of its executions by a "
                              "group.",
                              "branches, or loads from memory (%)");
  for (const char* subject : kSubjects) {
    Counts places{}, executions{};
    for (const AgreementSum& sum : sums) {
      if (std::string_view(sum.subject) == subject) {
        add(places, sum.places);
        add(executions, sum.executions);
      }
    }
    if (sum_of(places) > 0) {
      add_bar(chart, fmt::format("{}, in the code", subject), places);
      add_bar(chart, fmt::format("{}, executed", subject), executions);
    }
  }
  return chart;
}

BarPlot chart_of(const std::string& subject, const std::vector<trace::Shader>& shaders,
                 const std::vector<AgreementSum>& sums) {
  std::map<std::uint16_t, Counts> by_shader;
  for (const AgreementSum& sum : sums) {
    if (sum.subject == subject) {
      add(by_shader[sum.shader], sum.executions);
    }
  }
  std::vector<std::pair<std::uint16_t, Counts>> bars(by_shader.begin(), by_shader.end());
  std::ranges::stable_sort(bars, std::greater<>(), [](const auto& bar) { return sum_of(bar.second); });
  BarPlot chart = empty_chart("Measured uniformity by shader: " + subject,
                              "Executions by a group; empty where none was executed." + bars_note(bars.size()),
                              fmt::format("executions of {} (%)", subject == kSubjects[0] ? subject : "loads"));
  bars.resize(std::min(bars.size(), kMostBars));
  for (const auto& [shader, counts] : bars) {
    add_bar(chart, bar_label(shader, shaders[shader].name), counts);
  }
  return chart;
}

}  // namespace

std::vector<Chart> agreement_charts(const std::vector<trace::Shader>& shaders,
                                    const profile::AgreementProfile& profile) {
  const std::vector<AgreementSum> sums = sums_of(profile);
  if (sums.empty()) {
    return {};
  }
  std::vector<Chart> charts = {chart_of_all(sums)};
  for (const char* subject : kSubjects) {
    if (std::ranges::any_of(sums, [&](const AgreementSum& sum) { return std::string_view(sum.subject) == subject; })) {
      charts.emplace_back(chart_of(subject, shaders, sums));
    }
  }
  return charts;
}

}  // namespace rayreplay::report
