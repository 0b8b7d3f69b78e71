#include "app/report/profile/access_charts.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/report/charts/axis.hpp"
#include "app/report/profile/profile_page.hpp"
#include "base/count_text.hpp"
#include "base/shortened.hpp"

namespace rayreplay::report {
namespace {

using pictures::BarPlot;
using pictures::Chart;
using profile::SiteAccesses;

constexpr std::size_t kMostFunction = 16;  ///< bytes of a function's name in a label
constexpr std::size_t kMostPlace = 28;     ///< bytes of a place's name in a label
constexpr std::size_t kMostText = 120;
constexpr std::size_t kNamedSites = 3;
constexpr double kAccessPercent = 100;

/// A range of profile::line_range, with its name.
struct LineRange {
  const char* name;
  std::uint64_t low, high;  ///< high 0: no limit
};
constexpr std::array<LineRange, profile::kLineRanges> kLineRows = {{{"none", 0, 0},
                                                                    {"1", 1, 1},
                                                                    {"2", 2, 2},
                                                                    {"3 to 4", 3, 4},
                                                                    {"5 to 8", 5, 8},
                                                                    {"9 to 16", 9, 16},
                                                                    {"17 to 32", 17, 32},
                                                                    {"33 and more", 33, 0}}};

std::uint64_t all_transactions(const AccessDetails& details) {
  std::uint64_t all = 0;
  for (const SiteAccesses& of : details.accesses) {
    all += of.group_sectors;
  }
  return all;
}

std::string place_of(const trace::AccessSites& sites, const AccessDetails& details, std::size_t row) {
  const std::string& place = details.names[row].place;
  return place.empty() ? fmt::format("{} at instruction {}", to_string(sites.space[row]), sites.instruction[row])
                       : place;
}

/// "3 corners_of: scene.vertices[].position".
std::string site_label(const trace::AccessSites& sites, const AccessDetails& details, std::size_t row) {
  const std::string& function = details.names[row].function;
  return fmt::format("{} {}{}", sites.shader[row],
                     function.empty() ? "" : text::shortened(function, kMostFunction) + ": ",
                     text::shortened(place_of(sites, details, row), kMostPlace));
}

template <class Value>
std::vector<BarPlot::Series> series_of_kinds(std::size_t categories, Value&& value) {
  std::vector<BarPlot::Series> series;
  for (std::size_t kind = 0; kind < trace::kAccessKinds; ++kind) {
    BarPlot::Series one{to_string(static_cast<trace::AccessKind>(kind)), kind, {}};
    for (std::size_t category = 0; category < categories; ++category) {
      one.values.push_back(value(static_cast<trace::AccessKind>(kind), category));
    }
    series.push_back(std::move(one));
  }
  return series;
}

BarPlot site_chart(const trace::AccessSites& sites, const AccessDetails& details) {
  std::vector<std::size_t> order = by_transactions(details.accesses);
  std::erase_if(order, [&](std::size_t row) { return details.accesses[row].group_sectors == 0; });
  const std::size_t all = order.size();
  order.resize(std::min(order.size(), kMostBars));
  const auto bytes_of = [&](std::size_t row) {
    return static_cast<double>(details.accesses[row].group_sectors) * profile::kSectorBytes;
  };
  const pictures::Unit unit = pictures::unit_of(bytes_of(order.front()), true);
  BarPlot chart{.title = "Traffic of accesses, by place in the code",
                .note =
                    "Transactions × 32 bytes: each warp instruction moves whole sectors. A bar is a shader's "
                    "number, a function, and what it accesses." +
                    (all <= kMostBars ? std::string()
                                      : fmt::format(" The {} of {} with most.", kMostBars, counted(all, "place"))),
                .value_title = fmt::format("bytes moved ({})", *unit.name == ' ' ? unit.name + 1 : "bytes"),
                .stacked = true};
  for (const std::size_t row : order) {
    chart.categories.push_back(site_label(sites, details, row));
  }
  chart.series = series_of_kinds(order.size(), [&](trace::AccessKind kind, std::size_t i) {
    return sites.kind[order[i]] == kind ? bytes_of(order[i]) / unit.size : 0;
  });
  return chart;
}

BarPlot line_chart(const trace::AccessSites& sites, const AccessDetails& details) {
  std::array<std::array<double, profile::kLineRanges>, trace::kAccessKinds> counts{};
  double all = 0;
  for (std::size_t row = 0; row < sites.size(); ++row) {
    for (std::size_t range = 0; range < profile::kLineRanges; ++range) {
      const auto groups = static_cast<double>(details.accesses[row].group_ranges.at(range));
      counts.at(static_cast<std::size_t>(sites.kind[row])).at(range) += groups;
      all += groups;
    }
  }
  BarPlot chart{.title = "Coalescing: lines of a warp instruction",
                .note =
                    "Different 128-byte lines that the lanes of one warp instruction touch. One line is best; "
                    "“none” are accesses outside of images.",
                .category_title = "128-byte lines of a warp instruction",
                .value_title = "warp instructions (%)",
                .stacked = true};
  for (const LineRange& range : kLineRows) {
    chart.categories.emplace_back(range.name);
  }
  chart.series = series_of_kinds(profile::kLineRanges, [&](trace::AccessKind kind, std::size_t range) {
    return kAccessPercent * counts.at(static_cast<std::size_t>(kind)).at(range) / all;
  });
  return chart;
}

}  // namespace

std::string access_verdict(const std::vector<trace::Shader>& shaders, const trace::AccessSites& sites,
                           const AccessDetails& details) {
  const std::uint64_t all = all_transactions(details);
  if (all == 0) {
    return "No recorded access touched memory.";
  }
  const std::vector<std::size_t> order = by_transactions(details.accesses);
  const auto share = [&](std::uint64_t part) {
    return kAccessPercent * static_cast<double>(part) / static_cast<double>(all);
  };
  const std::size_t top = order.front();
  std::uint64_t lines = 0, groups = 0, named = 0;
  std::size_t running = 0;
  for (const SiteAccesses& of : details.accesses) {
    lines += of.group_lines;
    // Images without a layout have no lines.
    groups += of.bytes != 0 || of.nowhere != 0 ? of.groups : 0;
    running += of.group_sectors != 0 ? 1U : 0U;
  }
  const std::size_t first = std::min(running, kNamedSites);
  for (std::size_t i = 0; i < first; ++i) {
    named += details.accesses[order[i]].group_sectors;
  }
  const std::uint16_t shader = sites.shader[top];
  std::string text = fmt::format("Shader {}, {} of {}, carries {:.1f} % of {}", bar_label(shader, shaders[shader].name),
                                 to_string(sites.kind[top]), text::shortened(place_of(sites, details, top), kMostText),
                                 share(details.accesses[top].group_sectors), counted(all, "transaction"));
  if (first > 1) {
    text += fmt::format("; the first {} of {}, {:.1f} %", first, counted(running, "place"), share(named));
  }
  return text + fmt::format(". A warp instruction touches {:.2f} lines of 128 bytes on average.",
                            static_cast<double>(lines) / static_cast<double>(groups));
}

std::vector<Chart> access_charts(const trace::AccessSites& sites, const AccessDetails& details) {
  if (all_transactions(details) == 0) {
    return {};
  }
  std::vector<Chart> charts{site_chart(sites, details)};
  // A merged profile has sums alone, without the ranges of single instructions.
  if (!sites.has_sums()) {
    charts.emplace_back(line_chart(sites, details));
  }
  return charts;
}

output::Table line_table(const trace::AccessSites& sites, const AccessDetails& details) {
  output::Table table;
  table.columns = {{"shader", "shader"}, {"function", "function"},
                   {"block", "block"},   {"instruction", "instruction"},
                   {"kind", "kind"},     {"low", "lines of a warp instruction, from"},
                   {"high", "to"},       {"warp_instructions", "warp instructions"}};
  for (std::size_t row = 0; row < sites.size(); ++row) {
    for (std::size_t range = 0; range < profile::kLineRanges; ++range) {
      const std::uint64_t groups = details.accesses[row].group_ranges.at(range);
      if (groups == 0) {
        continue;
      }
      const bool open = range + 1 == profile::kLineRanges;
      table.rows.push_back({std::uint64_t{sites.shader[row]}, std::uint64_t{sites.function[row]},
                            std::uint64_t{sites.block[row]}, std::uint64_t{sites.instruction[row]},
                            std::string(to_string(sites.kind[row])), kLineRows.at(range).low,
                            open ? output::Cell{} : output::Cell{kLineRows.at(range).high}, groups});
    }
  }
  return table;
}

}  // namespace rayreplay::report
