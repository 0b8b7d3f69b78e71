#include "app/report/cache/cache_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using memory::KindSums;
using memory::LevelSums;
using output::Cell;
using output::Show;

Cell known(bool is_known, double value) {
  return is_known ? Cell{value} : Cell{};
}

std::uint64_t bytes_filled(const LevelSums& sums, std::uint64_t sector) {
  return static_cast<std::uint64_t>(std::llround(sectors_filled(sums) * static_cast<double>(sector)));
}

/// Expected numbers of exact models are whole.
Cell count(double value) {
  return value == std::floor(value) && value >= 0 ? Cell{static_cast<std::uint64_t>(value)} : Cell{value};
}

}  // namespace

double from_fixed(std::uint64_t sum) {
  return static_cast<double>(sum) / memory::kOne;
}

double sectors_filled(const LevelSums& sums) {
  return static_cast<double>(sums.filled) / memory::kOneSector;
}

double sector_hit_rate(const LevelSums& sums) {
  return 1 - sectors_filled(sums) / static_cast<double>(sums.load_sectors);
}

std::optional<MissSplit> split_of(const CacheResult& result, std::size_t level, const LevelSums& sums) {
  if (result.analysis.levels[level].histogram.accesses() == 0) {
    return std::nullopt;
  }
  MissSplit split{from_fixed(sums.cold), from_fixed(sums.stored_only), from_fixed(sums.new_sectors),
                  from_fixed(sums.capacity), from_fixed(sums.conflict)};
  if (result.analysis.reuse_weight != 1) {
    const double misses = static_cast<double>(sums.accesses) - from_fixed(sums.hits);
    const std::array parts = {&split.cold, &split.stored_only, &split.new_sectors, &split.capacity, &split.conflict};
    double sampled = 0;
    for (const double* part : parts) {
      sampled += *part;
    }
    if (sampled == 0 && misses > 0) {
      return std::nullopt;
    }
    const double scale = sampled == 0 ? 0 : misses / sampled;
    for (double* part : parts) {
      *part *= scale;
    }
  }
  return split;
}

LevelSums all_kinds(const KindSums& kinds) {
  LevelSums sum;
  for (const LevelSums& kind : kinds) {
    sum.merge(kind);
  }
  return sum;
}

bool has_level(const CacheResult& result, std::size_t level) {
  return result.analysis.levels[level].geometry.bytes > 0;
}

output::Table cache_rows(const CacheResult& result) {
  output::Table table;
  table.columns = {{"level", "level"},
                   {"kind", "data"},
                   {"accesses", "accesses"},
                   {"share", "share", Show::Percent},
                   {"hit_rate", "hit rate", Show::Percent, 2},
                   {"sector_hit_rate", "by sector", Show::Percent, 2},
                   {"misses", "misses", Show::Plain, 0},
                   {"cold", "cold", Show::Plain, 0},
                   {"stored_only", "stored only", Show::Plain, 0},
                   {"new_sectors", "new sectors", Show::Plain, 0},
                   {"capacity", "capacity", Show::Plain, 0},
                   {"conflict", "conflict", Show::Plain, 0},
                   {"beyond", "beyond", Show::Plain, 0, true},
                   {"sector_misses", "sector misses", Show::Plain, 0, true},
                   {"stores", "stores", Show::Plain, 0, true},
                   {"delivered_bytes", "delivered (B)", Show::Plain, 0, true},
                   {"filled_bytes", "from below (B)"},
                   {"written_bytes", "to below (B)"}};
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    if (!has_level(result, level)) {
      continue;
    }
    const memory::LevelResult& found = result.analysis.levels[level];
    const std::uint64_t sector = found.geometry.sector();
    const KindSums& kinds = result.analysis.total.levels[level];
    const LevelSums all = all_kinds(kinds);
    const auto add = [&](std::string kind, const LevelSums& sums) {
      const double misses = static_cast<double>(sums.accesses) - from_fixed(sums.hits);
      const std::optional<MissSplit> split = split_of(result, level, sums);
      std::vector<Cell> row = {
          std::string(kLevelNames[level]),
          std::move(kind),
          sums.accesses,
          known(all.accesses > 0,
                static_cast<double>(sums.accesses) / static_cast<double>(std::max<std::uint64_t>(all.accesses, 1))),
          known(sums.accesses > 0, sums.hit_rate()),
          known(sums.load_sectors > 0, sector_hit_rate(sums)),
          count(misses),
          split ? count(split->cold) : Cell{},
          split ? count(split->stored_only) : Cell{},
          split ? count(split->new_sectors) : Cell{},
          split ? count(split->capacity) : Cell{},
          split ? count(split->conflict) : Cell{},
          split ? count(from_fixed(sums.beyond) * result.analysis.reuse_weight) : Cell{},
          sums.sector_misses,
          sums.stores,
          sums.sectors * sector,
          bytes_filled(sums, sector),
          sums.written * sector};
      table.rows.push_back(std::move(row));
    };
    for (std::size_t kind = 0; kind < memory::kDataKinds; ++kind) {
      if (kinds[kind].accesses > 0) {
        add(std::string(memory::kDataKindNames[kind]), kinds[kind]);
      }
    }
    add("all", all);
  }
  return table;
}

output::Table for_people(output::Table table) {
  for (auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto* value = std::get_if<double>(&row[i]);
      if (value != nullptr && table.columns[i].show == Show::Plain && table.columns[i].decimals == 0 && *value >= 0) {
        row[i] = static_cast<std::uint64_t>(std::llround(*value));
      }
    }
  }
  return table;
}

output::Table cache_sms(const CacheResult& result) {
  output::Table table;
  table.columns = {{"sm", "SM"},
                   {"instructions", "instructions"},
                   {"last_cycle", "last cycle"},
                   {"l1_accesses", "L1 accesses"},
                   {"l1_hit_rate", "L1 hit rate", Show::Percent, 2},
                   {"l1_sector_hit_rate", "L1 by sector", Show::Percent, 2},
                   {"l2_accesses", "L2 accesses"},
                   {"l2_hit_rate", "L2 hit rate", Show::Percent, 2},
                   {"l2_sector_hit_rate", "L2 by sector", Show::Percent, 2}};
  const auto& sms = result.analysis.total.sms;
  for (std::size_t sm = 0; sm < sms.size(); ++sm) {
    std::vector<Cell> row = {std::uint64_t{sm}, Cell{}, Cell{}};
    if (sm < result.interleaved.sm_instructions.size()) {
      row[1] = result.interleaved.sm_instructions[sm];
      row[2] = result.interleaved.sm_last_cycle[sm];
    }
    for (std::size_t level = 0; level < memory::kLevels; ++level) {
      const LevelSums& sums = sms[sm][level];
      row.emplace_back(sums.accesses);
      row.push_back(known(sums.accesses > 0, sums.hit_rate()));
      row.push_back(known(sums.load_sectors > 0, sector_hit_rate(sums)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

output::Table cache_windows(const CacheResult& result) {
  output::Table table;
  table.columns = {{"window", "window"},
                   {"first_request", "first request"},
                   {"requests", "requests"},
                   {"first_cycle", "first cycle"},
                   {"last_cycle", "last cycle"},
                   {"l1_accesses", "L1 accesses"},
                   {"l1_hit_rate", "L1 hit rate", Show::Percent, 2},
                   {"l1_sector_hit_rate", "L1 by sector", Show::Percent, 2},
                   {"l2_accesses", "L2 accesses"},
                   {"l2_hit_rate", "L2 hit rate", Show::Percent, 2},
                   {"l2_sector_hit_rate", "L2 by sector", Show::Percent, 2},
                   {"dram_read_bytes", "DRAM read (B)"},
                   {"dram_write_bytes", "DRAM written (B)"}};
  for (std::size_t i = 0; i < result.analysis.windows.size(); ++i) {
    const memory::WindowSums& window = result.analysis.windows[i];
    std::vector<Cell> row = {std::uint64_t{i}, window.first_request, window.requests, window.first_cycle,
                             window.last_cycle};
    for (const KindSums& kinds : window.levels) {
      const LevelSums sums = all_kinds(kinds);
      row.emplace_back(sums.accesses);
      row.push_back(known(sums.accesses > 0, sums.hit_rate()));
      row.push_back(known(sums.load_sectors > 0, sector_hit_rate(sums)));
    }
    row.emplace_back(window.dram_read_bytes);
    row.emplace_back(window.dram_write_bytes);
    table.rows.push_back(std::move(row));
  }
  return table;
}

output::Table cache_guesses(const CacheResult& result) {
  output::Table table;
  table.columns = {{"allocation", "allocation"},
                   {"name", "name"},
                   {"start", "start", Show::Plain, 0, true},
                   {"bytes", "bytes"},
                   {"kind", "guessed kind"},
                   {"element_bytes", "element (B)"},
                   {"confidence", "confidence", Show::Percent, 0},
                   {"reason", "reason"}};
  for (const experiment::LabelGuess& guess : result.guesses) {
    const memory::Allocation& row = result.allocations.rows()[guess.allocation];
    table.rows.push_back({std::uint64_t{guess.allocation}, row.name, row.start, row.bytes,
                          std::string(memory::to_string(guess.kind)), std::uint64_t{guess.element_bytes},
                          guess.confidence, guess.reason});
  }
  return table;
}

CacheSummary summarise(const CacheResult& result) {
  CacheSummary summary;
  const machine::InterleaveResult& interleaved = result.interleaved;
  summary.instructions = interleaved.instructions;
  summary.transactions = result.analysis.transactions;
  summary.requests = result.analysis.requests;
  summary.loads = interleaved.l1_hits + interleaved.merged + interleaved.l2_hits + interleaved.dram;
  for (std::size_t level = 0; level < memory::kLevels; ++level) {
    if (has_level(result, level)) {
      const LevelSums sums = all_kinds(result.analysis.total.levels[level]);
      const std::uint64_t sector = result.analysis.levels[level].geometry.sector();
      summary.filled_bytes[level] = bytes_filled(sums, sector);
      summary.written_bytes[level] = sums.written * sector;
    }
  }
  summary.dram_read_bytes = result.analysis.total.dram_read_bytes;
  summary.dram_write_bytes = result.analysis.total.dram_write_bytes;
  if (interleaved.cycles > 0) {
    const double seconds = static_cast<double>(interleaved.cycles) / (result.machine.clock_mhz * 1e6);
    summary.milliseconds = seconds * 1e3;
    summary.dram_bytes_per_second = static_cast<double>(summary.dram_read_bytes + summary.dram_write_bytes) / seconds;
  }
  const memory::RequestSums& sum = result.requests;
  if (sum.requests > 0 && has_level(result, memory::kL1)) {
    summary.l1_request_rate = from_fixed(sum.l1_hits) / static_cast<double>(sum.requests);
  }
  if (sum.l2_requests > 0 && has_level(result, memory::kL2)) {
    summary.l2_request_rate = from_fixed(sum.l2_hits) / static_cast<double>(sum.l2_requests);
  }
  return summary;
}

}  // namespace rayreplay::report
