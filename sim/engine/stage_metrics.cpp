#include "sim/engine/stage_metrics.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/settings/metrics.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kHead = "rayreplay metrics 1\n";
constexpr std::string_view kDevice = "device ";
constexpr std::string_view kEnd = "end\n";

std::optional<std::uint16_t> index_of(std::string_view name) {
  static const auto known = [] {
    std::unordered_map<std::string_view, std::uint16_t> map;
    for (const Metric& metric : all_metrics()) {
      map.emplace(metric.name, static_cast<std::uint16_t>(map.size()));
    }
    return map;
  }();
  const auto found = known.find(name);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

/// Removes and returns the first line; empty where no line ends.
std::optional<std::string_view> take_line(std::string_view& text) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

}  // namespace

void MetricSet::add(std::string_view name, double value) {
  const auto index = index_of(name);
  if (!index) {
    throw Error(ErrorKind::Internal, {"a stage gives a metric that is not declared", "", std::string(name), "", ""});
  }
  const auto place = std::ranges::lower_bound(values_, *index, {}, [](const auto& entry) { return entry.first; });
  values_.insert(place, {*index, value});
}

std::string write_metrics(const MetricSet& metrics) {
  std::string text(kHead);
  text += fmt::format("{}{}\n", kDevice, metrics.device);
  for (const auto& [index, value] : metrics.values()) {
    text += fmt::format("{} {:016x} {}\n", all_metrics()[index].name, std::bit_cast<std::uint64_t>(value), value);
  }
  return text + std::string(kEnd);
}

std::optional<MetricSet> read_metrics(std::string_view bytes) {
  if (!bytes.starts_with(kHead)) {
    return std::nullopt;
  }
  bytes.remove_prefix(kHead.size());
  const auto device = take_line(bytes);
  if (!device || !device->starts_with(kDevice)) {
    return std::nullopt;
  }
  MetricSet metrics;
  metrics.device = device->substr(kDevice.size());
  while (bytes != kEnd) {
    const auto line = take_line(bytes);
    const auto blank = line ? line->find(' ') : std::string_view::npos;
    constexpr std::size_t kDigits = 16;
    if (blank == std::string_view::npos || line->size() < blank + 1 + kDigits) {
      return std::nullopt;
    }
    const std::string_view name = line->substr(0, blank);
    const std::string_view digits = line->substr(blank + 1, kDigits);
    std::uint64_t bits = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    const auto index = index_of(name);
    if (error != std::errc() || end != digits.data() + digits.size() || !index ||
        (!metrics.values().empty() && metrics.values().back().first >= *index)) {
      return std::nullopt;
    }
    metrics.add(name, std::bit_cast<double>(bits));
  }
  return metrics;
}

}  // namespace rayreplay::experiment
