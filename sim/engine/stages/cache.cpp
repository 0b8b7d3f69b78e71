// Stage "cache": caches over a recorded stream, many hierarchies in shared passes (sim/caching/grid/cache_grid.hpp).
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "sim/caching/grid/cache_grid.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/engine/stages/stream.hpp"

namespace rayreplay::experiment {
namespace {

/// For an estimate, before lines and passes are known: of a transaction, and of all lines of a usual scene.
constexpr std::uint64_t kTableBytes = 144;
constexpr std::uint64_t kMostTableBytes = std::uint64_t{64} << 20U;

/// Working memory beside the stream: its accesses in order, those of some SMs, or the requests to the L2s.
std::uint64_t pass_bytes(const RecordedStream& stream, std::uint64_t below) {
  // Batches in flight between passes: a transaction is in one batch, once for each pass that leaves it over.
  constexpr std::uint64_t kMostBatchBytes = std::uint64_t{16} << 20U;
  constexpr std::uint64_t kBatchBytes = 256;
  const std::uint64_t transactions = stream.transactions.size();
  const std::uint64_t all = transactions * sizeof(memory::LineAccess);
  const std::uint64_t l1s = std::min(all, std::max(kGridBytes / 2, all / std::max(1U, stream.sms)));
  return transactions * sizeof(std::uint32_t) + std::min(kMostBatchBytes, transactions * kBatchBytes) +
         std::max(l1s, below);
}

/// Metrics of one level; probabilistic models give no sectors or bytes.
void add_level(MetricSet& metrics, const std::string& level, const memory::CacheCounts& counts,
               const memory::CacheGeometry& geometry, const std::string& model) {
  if (geometry.bytes == 0) {
    return;
  }
  const bool exact = memory::CacheModels::create(model).model->exact();
  const auto accesses = static_cast<double>(counts.accesses);
  const double hits = static_cast<double>(counts.hits) / memory::kOne;
  metrics.add(level + "_accesses", accesses);
  metrics.add(level + "_hit_rate", counts.accesses == 0 ? 0 : hits / accesses);
  metrics.add(level + "_misses", accesses - hits);
  if (exact) {
    if (level == "l1") {
      metrics.add("l1_sector_miss_rate",
                  counts.accesses == 0 ? 0 : static_cast<double>(counts.sector_misses) / accesses);
    }
    metrics.add_count(level + "_filled_bytes", counts.sectors_filled * geometry.sector());
    metrics.add_count(level + "_written_bytes", counts.sectors_written * geometry.sector());
  }
}

/// Sectors that loads ask for.
std::uint64_t load_sectors(const RecordedStream& stream) {
  std::uint64_t sectors = 0;
  for (const memory::Transaction& transaction : stream.transactions) {
    const bool store = (transaction.flags & memory::kStore) != 0;
    sectors += store ? 0 : static_cast<std::uint64_t>(std::popcount(transaction.sectors));
  }
  return sectors;
}

/// By sector, as GPUs count. Only where the L1 has the accesses' sectors and an exact model: else fills say less.
void add_sector_hits(MetricSet& metrics, const HierarchyCounts& counts, const Hierarchy& hierarchy,
                     const RecordedStream& stream, std::uint64_t of_loads) {
  if (hierarchy.l1.bytes == 0 || hierarchy.l1.sector() != stream.coalescing.sector_bytes ||
      !memory::CacheModels::create(hierarchy.l1_model).model->exact()) {
    return;
  }
  metrics.add(
      "l1_sector_hit_rate",
      of_loads == 0 ? 0 : static_cast<double>(of_loads - counts.l1.sectors_filled) / static_cast<double>(of_loads));
}

MetricSet metrics_of(const HierarchyCounts& counts, const Hierarchy& hierarchy, const RecordedStream& stream,
                     std::uint64_t of_loads) {
  MetricSet metrics;
  metrics.add_count("stream_transactions", stream.transactions.size());
  if (stream.instructions > 0) {  // memory traces come without them
    metrics.add_count("stream_instructions", stream.instructions);
    metrics.add_count("stream_cycles", stream.cycles);
  }
  add_level(metrics, "l1", counts.l1, hierarchy.l1, hierarchy.l1_model);
  add_sector_hits(metrics, counts, hierarchy, stream, of_loads);
  add_level(metrics, "l2", counts.l2, hierarchy.l2, hierarchy.l2_model);
  metrics.add_count("dram_read_bytes", counts.dram_read_bytes);
  metrics.add_count("dram_written_bytes", counts.dram_written_bytes);
  metrics.add_count("dram_bytes", counts.dram_read_bytes + counts.dram_written_bytes);
  return metrics;
}

std::vector<Made> make_numbers(Workbench& bench, std::span<const Experiment* const> members) {
  std::vector<Made> made(members.size());
  std::vector<Hierarchy> hierarchies;
  std::vector<std::size_t> of_member;
  for (std::size_t i = 0; i < members.size(); ++i) {
    try {
      hierarchies.push_back(hierarchy_of(*members[i]->settings));
      of_member.push_back(i);
    } catch (...) {
      made[i] = failure_of(std::current_exception());
    }
  }
  if (hierarchies.empty()) {
    return made;
  }
  const auto recorded = stream(bench, *members.front());
  bench.free_device();
  const auto bytes = [&, tables = grid_table_bytes(*recorded, hierarchies)](std::uint64_t below) {
    return tables + pass_bytes(*recorded, below);
  };
  Workbench::Working working(bench.kept(), bytes(0));
  const GridRoom room = [&](std::uint64_t below, bool at_least) {
    if (at_least) {
      working.set(bytes(below));
    }
    return at_least || working.try_set(bytes(below));
  };
  const GridResult grid = cache_grid(*recorded, hierarchies, bench.accelerator(), bench.progress(), room);
  const std::uint64_t of_loads = load_sectors(*recorded);
  for (std::size_t i = 0; i < hierarchies.size(); ++i) {
    if (grid.failures[i]) {
      made[of_member[i]] = Failure{ErrorKind::Usage, *grid.failures[i]};
    } else {
      made[of_member[i]] = metrics_of(grid.counts[i], hierarchies[i], *recorded, of_loads);
    }
  }
  return made;
}

void check_cache(const Experiment& experiment) {
  static_cast<void>(hierarchy_of(*experiment.settings));
}

constexpr StageCode kCode = {
    .estimate_bytes =
        [](const Experiment& experiment) {
          const std::uint64_t transactions = likely_transactions(experiment);
          return transactions * sizeof(memory::Transaction) + std::min(kMostTableBytes, transactions * kTableBytes);
        },
    .numbers = make_numbers,
    .of_accesses = true,
    .check = check_cache,
};

const StageRegistrar kRegistrar(
    {.name = "cache",
     .text = "The stream through the analysed caches: hits, misses, bytes",
     .position = 70,
     .takes = {"stream"},
     .format = 2,
     .metrics =
         {
             {"stream_transactions", "", "transactions", "Transactions of the launch's accesses", Goal::Less},
             {"stream_instructions", "", "instructions", "Memory instructions of warps", Goal::None},
             {"stream_cycles", "", "cycles", "Cycles of the interleaving on the machine", Goal::Less},
             {"l1_accesses", "", "accesses", "Accesses to the L1s", Goal::None},
             {"l1_hit_rate", "", "share", "Hits of the L1s' accesses", Goal::More},
             {"l1_sector_miss_rate", "", "share", "Accesses whose line was there and whose sector was not", Goal::Less},
             {"l1_misses", "", "accesses", "Accesses that are no hits, of lines and of sectors", Goal::Less},
             {"l1_filled_bytes", "", "bytes", "Bytes of the fills of the L1s", Goal::Less},
             {"l1_written_bytes", "", "bytes", "Bytes that the L1s wrote through, around or back", Goal::Less},
             {"l1_sector_hit_rate", "", "share", "Sectors that the L1s held, of all that loads ask for: as GPUs count",
              Goal::More},
             {"l2_accesses", "", "accesses", "Accesses to the L2", Goal::None},
             {"l2_hit_rate", "", "share", "Hits of the L2's accesses", Goal::More},
             {"l2_misses", "", "accesses", "Accesses that are no hits, of lines and of sectors", Goal::Less},
             {"l2_filled_bytes", "", "bytes", "Bytes of the fills of the L2", Goal::Less},
             {"l2_written_bytes", "", "bytes", "Bytes that the L2 wrote through, around or back", Goal::Less},
             {"dram_read_bytes", "", "bytes", "Bytes read from DRAM", Goal::Less},
             {"dram_written_bytes", "", "bytes", "Bytes written to DRAM", Goal::Less},
             {"dram_bytes", "", "bytes", "Bytes read from and written to DRAM", Goal::Less},
         },
     .rank = 4,
     .varies = {"*"},
     .unit_shares = "stream",
     .unit_weight = 5,
     .large_units = true},
    &kCode);

}  // namespace
}  // namespace rayreplay::experiment
