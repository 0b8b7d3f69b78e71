// Cache analysis of a memory trace, possibly from a named pipe.
//
// Contract: as sim/caching/cache.hpp.
#pragma once

#include <string>

#include "capture/import/wait_notice.hpp"
#include "sim/caching/cache.hpp"

namespace rayreplay::experiment {

/// As the version without a notice; `on_wait` as for import::open_memory_trace.
[[nodiscard]] CacheResult run_cache_imported(const std::string& path, const CacheOptions& options,
                                             const import::WaitNotice& on_wait);

}  // namespace rayreplay::experiment
