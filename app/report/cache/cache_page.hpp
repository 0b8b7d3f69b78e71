// The HTML page of a cache experiment.
//
// Contract: as html_parts.hpp; the same result gives the same bytes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/report/cache/cache_report.hpp"
#include "app/report/packings/launch_pictures.hpp"

namespace rayreplay::report {

struct CachePage {
  const CacheContext& context;
  std::vector<Picture> pictures;
  std::string configuration_toml;
};

[[nodiscard]] std::string to_html(const CachePage& page);

/// The sums of an experiment as sentences, one a line.
[[nodiscard]] std::string cache_sentences(const experiment::CacheResult& result);
/// Machine, schedule, structure and caches as name and value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> cache_facts(const experiment::CacheResult& result);

}  // namespace rayreplay::report
