#include "sim/caching/cache_parts.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::experiment {

memory::CacheGeometry l1_of(const machine::Machine& machine) {
  return {machine.l1_bytes, machine.l1_line_bytes, machine.l1_ways, machine.l1_sector_bytes};
}

memory::CacheGeometry l2_of(const machine::Machine& machine) {
  return {machine.l2_bytes, machine.l2_line_bytes, machine.l2_ways, machine.l2_sector_bytes};
}

bool wants_requests(const CacheOptions& options) {
  return options.elements || options.pixels || options.request_sums;
}

std::string resolved_model(const std::string& spec, std::size_t level) {
  const ModelSpec given = parse_spec(spec);
  const auto names = memory::CacheModels::names();
  if (level != memory::kL1 || std::ranges::find(names, given.name) == names.end()) {
    return memory::CacheModels::create(spec).spec;
  }
  std::string extended = spec;
  for (const auto& [key, value] : {std::pair{"write", "through"}, std::pair{"allocate", "false"}}) {
    const auto has_key = [key = std::string_view(key)](const auto& list, const auto& name_of) {
      return std::ranges::find(list, key, name_of) != list.end();
    };
    if (has_key(memory::CacheModels::describe(given.name).parameters, &Parameter::name) &&
        !has_key(given.settings, [](const auto& setting) { return std::string_view(setting.first); })) {
      extended += fmt::format("{}{}={}", extended.find(':') == std::string::npos ? ":" : ",", key, value);
    }
  }
  return memory::CacheModels::create(extended).spec;
}

std::vector<std::uint64_t> window_limits(std::uint64_t requests, std::uint32_t windows) {
  std::vector<std::uint64_t> limits;
  const auto parts = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(requests, 1, windows));
  for (std::uint64_t i = 1; i < parts; ++i) {
    limits.push_back(i * (requests / parts) + i * (requests % parts) / parts);
  }
  return limits;
}

WindowGuard::WindowGuard(std::uint64_t window_requests, memory::TransactionSink& inner)
    : window_requests_(window_requests),
      left_(window_requests > std::numeric_limits<std::uint64_t>::max() / kMaxWindows
                ? std::numeric_limits<std::uint64_t>::max()
                : window_requests * kMaxWindows),
      inner_(&inner) {}

void WindowGuard::take(const memory::TransactionBlock& block) {
  if (window_requests_ > 0) {
    for (const memory::Transaction& transaction : block.transactions) {
      if (transaction.lanes > left_) {
        throw Error(ErrorKind::Usage,
                    {"the time windows are too short for this stream", "window_requests",
                     fmt::format("more than {} windows of {} requests", kMaxWindows, window_requests_),
                     fmt::format("at most {} windows", kMaxWindows), "make them longer"});
      }
      left_ -= transaction.lanes;
    }
  }
  inner_->take(block);
}

memory::AnalysisOptions analysis_of(const CacheOptions& options, const CacheResult& result,
                                    const memory::CoalesceOptions& coalescing, std::uint64_t pixels) {
  memory::AnalysisOptions analysis;
  analysis.sms = result.machine.sms;
  analysis.l1 = options.caches.l1;
  analysis.l2 = options.caches.l2;
  analysis.l1_model = options.caches.l1_model;
  analysis.l2_model = options.caches.l2_model;
  analysis.l2_feed = options.caches.l2_feed;
  analysis.reuse_engine = options.reuse_engine;
  analysis.distances = options.distances;
  analysis.coalescing = coalescing;
  analysis.window_requests = options.window_requests;
  analysis.elements = options.elements;
  analysis.element_count = result.allocations.elements();
  analysis.pixels = options.pixels ? pixels : 0;
  analysis.take_elements = options.take_elements;
  analysis.histograms = options.histograms;
  analysis.take_element_distances = options.take_element_distances;
  analysis.evictions = options.evictions;
  analysis.accelerator = options.accelerator;
  return analysis;
}

}  // namespace rayreplay::experiment
