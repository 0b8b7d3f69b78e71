// Rows of a made-up sweep, as the workers would hand them over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/sweep/results/database.hpp"

namespace rayreplay::test {

inline const std::string kSweepText =
    "[axes]\n\"cache.l1.bytes\" = { powers_of_two = [\"4KiB\", \"512KiB\"] }\n\"cache.l1.ways\" = [1, 2, 4, 8]\n"
    "packing = [\"identity\", \"random\"]\n";

inline constexpr std::uint64_t kRuns = 64;

/// 8 sizes × 4 associativities × 2 packings; run 5 fails.
inline sweep::About made_up_sweep() {
  return {"0123456789abcdef0123456789abcdef",
          kSweepText,
          kRuns,
          {"cache.l1.bytes", "cache.l1.ways", "packing"},
          "more l1_hit_rate",
          "1/1"};
}

inline sweep::ResultRow made_up_row(std::uint64_t run) {
  const std::int64_t bytes = std::int64_t{4096} << (run / 8 % 8);
  const std::int64_t ways = std::int64_t{1} << (run / 2 % 4);
  const std::string packing = run % 2 == 0 ? "identity" : "random:seed=1";
  sweep::ResultRow row;
  row.run = run;
  row.axis_values = {{"cache.l1.bytes", bytes}, {"cache.l1.ways", ways}, {"packing", packing}};
  row.settings.set("cache.l1.bytes", bytes, "test");
  row.settings.set("cache.l1.ways", ways, "test");
  row.settings.set("warp_size", std::int64_t{32}, "test");
  row.outcome.configuration = "# run " + std::to_string(run) + "\nwarp_size = 32\n";
  row.outcome.trace_hash = "feedfacefeedfacefeedfacefeedface";
  row.outcome.device = "CPU";
  row.outcome.seconds = 0.25;
  row.host = "host";
  row.started = "2026-01-31T12:00:00Z";
  if (run == 5) {
    row.outcome.failure = {ErrorKind::Usage, {"the cache cannot be", "cache.l1", "8 ways", "4 at most", ""}};
    return row;
  }
  const double size = static_cast<double>(run / 8 % 8), associativity = static_cast<double>(run / 2 % 4);
  row.outcome.metrics = {{"simt_efficiency", run % 2 == 0 ? 0.5 : 0.25},
                         {"l1_hit_rate", 0.2 + 0.08 * size + 0.02 * associativity + (run % 2 == 0 ? 0.05 : 0.0)},
                         {"l2_hit_rate", 0.9 - 0.05 * size - 0.01 * associativity},
                         {"dram_bytes", 1e9 / (1 + size) + 1e7 * associativity}};
  return row;
}

/// All of it, in order.
inline void write_made_up(const std::filesystem::path& path) {
  sweep::ResultsWriter writer(path, made_up_sweep(), false);
  writer.check_input({"t.rrt", "feedfacefeedfacefeedfacefeedface"});
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    writer.add({made_up_row(run)});
  }
}

}  // namespace rayreplay::test
