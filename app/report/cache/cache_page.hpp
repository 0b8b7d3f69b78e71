// The HTML page of a cache experiment.
//
// Contract: as page/page.hpp.
#pragma once

#include <string>
#include <vector>

#include "app/report/cache/cache_report.hpp"
#include "app/report/page/page.hpp"

namespace rayreplay::report {

struct CachePage {
  const CacheContext& context;
  std::vector<Picture> pictures;
  std::string configuration_toml;
};

[[nodiscard]] std::string to_html(const CachePage& page);

/// Application and device of the trace.
[[nodiscard]] std::string application_text(const experiment::CacheResult& result);
/// The sums of an experiment as sentences, one a line.
[[nodiscard]] std::string cache_sentences(const experiment::CacheResult& result);
/// Machine, schedule, structure and caches as name and value.
[[nodiscard]] Facts cache_facts(const experiment::CacheResult& result);

}  // namespace rayreplay::report
