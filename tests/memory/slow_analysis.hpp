// The slow, obvious twin of Analysis: one transaction after the other, everything in maps (sim/memory/results/).
//
// Knows the models lru (with its parameters), fifo and sdcm.
#pragma once

#include <algorithm>
#include <array>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/memory/caches/stack_distance.hpp"
#include "sim/memory/results/analysis.hpp"
#include "sim/memory/results/miss_classes.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/memory/slow_cache.hpp"

namespace rayreplay::memory::test {

/// Reuse distances from a list of lines, most recent first.
class SlowStack {
 public:
  std::uint32_t distance(std::uint64_t line) {
    std::uint32_t distance = 0;
    for (auto it = lines_.begin(); it != lines_.end(); ++it, ++distance) {
      if (*it == line) {
        lines_.splice(lines_.begin(), lines_, it);
        return distance;
      }
    }
    lines_.push_front(line);
    return kInfinite;
  }

 private:
  std::list<std::uint64_t> lines_;
};

/// One cache: its model, the exact cache that filters for it, its stack.
struct SlowUnit {
  SlowUnit(const CacheGeometry& of, const std::string& spec) : geometry(of) {
    const ModelSpec parsed = parse_spec(spec);
    CachePolicy policy;
    if (parsed.name == "sdcm") {
      table.emplace(of.associativity(), of.lines());
      policy = {Replacement::Lru, false, false, 0};
    } else {
      policy.replacement = parsed.name == "fifo" ? Replacement::Fifo : Replacement::Lru;
      for (const auto& [key, value] : parsed.settings) {
        (key == "write" ? policy.write_back : policy.allocate) = value == "back" || value == "true";
      }
    }
    cache = std::make_unique<SlowCache>(of, policy);
    if (table) {
      policy.allocate = true;
    }
    policy.replacement = Replacement::Lru;
    CacheGeometry one_set = of;
    one_set.ways = 0;
    ideal = std::make_unique<SlowCache>(one_set, policy);
    one_set.bytes = std::uint64_t{of.line_bytes} << 30U;
    infinite = std::make_unique<SlowCache>(one_set, policy);
  }

  struct Outcome {
    std::uint64_t hit = 0;
    std::uint32_t distance = 0;
    std::vector<DownAccess> down;
  };

  Outcome access(const LineAccess& access, std::size_t kind, const std::vector<LevelSums*>& sums) {
    Outcome outcome;
    const std::uint32_t distance = stack.distance(access.line);
    const std::uint32_t exact = cache->access(access, 0, outcome.down);
    outcome.hit = table ? table->hit(distance) : exact == kOne ? kOne : 0;
    outcome.distance = distance;
    const MissClass cause = cause_of(access);
    histogram.add(distance, 1);
    by_kind[kind].add(distance, 1);
    explain(access.line, kind, exact);
    counts.accesses += 1;
    counts.hits += outcome.hit;
    for (LevelSums* sum : sums) {
      sum->accesses += 1;
      sum->hits += outcome.hit;
      sum->stores += access.store ? 1U : 0U;
      const auto sectors = static_cast<std::uint64_t>(std::popcount(access.sectors));
      sum->sectors += sectors;
      sum->load_sectors += access.store ? 0 : sectors;
      if (table) {
        // What a model that knows probabilities says, in units of 2^-27 sectors, rounded half up.
        sum->filled += access.store ? 0 : (2 * sectors * (kOne - outcome.hit) / 8 + 1) / 2;
        sum->written += access.store ? sectors : 0;
      } else {
        for (const DownAccess& down : outcome.down) {
          const auto moved = static_cast<std::uint64_t>(std::popcount(down.sectors));
          sum->filled += down.store ? 0 : moved << 27U;
          sum->written += down.store ? moved : 0;
        }
      }
      sum->sector_misses += !table && exact == kSectorMiss ? 1U : 0U;
      const std::uint64_t missed = kOne - outcome.hit;
      sum->cold += cause == MissClass::Cold ? missed : 0;
      sum->stored_only += cause == MissClass::StoredOnly ? missed : 0;
      sum->new_sectors += cause == MissClass::NewSectors ? missed : 0;
      sum->capacity += cause == MissClass::Capacity ? missed : 0;
      sum->beyond += cause == MissClass::Capacity ? outcome.hit : 0;
      sum->conflict += cause == MissClass::Conflict ? missed : 0;
    }
    return outcome;
  }

  /// From an infinite cache and a fully associative one that get the same accesses
  /// (sim/memory/results/miss_classes.hpp).
  MissClass cause_of(LineAccess access) {
    if (table) {
      access.sectors = 1;  // whole lines
    }
    std::vector<DownAccess> ignored;
    const std::uint32_t in_infinite = infinite->access(access, 0, ignored);
    const std::uint32_t in_ideal = ideal->access(access, 0, ignored);
    if (!touched.contains(access.line)) {
      return MissClass::Cold;
    }
    if (in_infinite != kOne) {
      return in_infinite == kSectorMiss ? MissClass::NewSectors : MissClass::StoredOnly;
    }
    return in_ideal == kOne ? MissClass::Conflict : MissClass::Capacity;
  }

  /// The reason of a miss: the kind that evicted the line, if any.
  void explain(std::uint64_t line, std::size_t kind, std::uint32_t exact) {
    if (exact == kSectorMiss) {
      ++evictions[kind][kSectorsMissing];
    } else if (exact != kOne && touched.contains(line)) {
      const auto by = evictors.find(line);
      ++evictions[kind][by == evictors.end() ? kNeverKept : by->second];
    }
    touched.insert(line);
    if (cache->evicted()) {
      evictors[*cache->evicted()] = kind;
    }
  }

  std::map<std::size_t, ReuseHistogram> by_kind;
  std::set<std::uint64_t> touched;
  std::map<std::uint64_t, std::size_t> evictors;  ///< kind of the last access that evicted the line
  EvictionMatrix evictions{};
  CacheGeometry geometry;
  std::optional<StackDistanceTable> table;
  std::unique_ptr<SlowCache> cache, ideal, infinite;
  SlowStack stack;
  ReuseHistogram histogram;
  CacheCounts counts;  ///< of a model that only knows probabilities
};

/// Byte by byte.
inline std::map<std::uint64_t, std::uint8_t> slow_split(std::uint64_t line, std::uint8_t sectors,
                                                        std::uint32_t line_bytes, std::uint32_t sector_bytes,
                                                        std::uint32_t to_line, std::uint32_t to_sector) {
  std::map<std::uint64_t, std::uint8_t> result;
  for (std::uint32_t byte = 0; byte < line_bytes; ++byte) {
    if ((std::uint32_t{sectors} >> (byte / sector_bytes) & 1U) != 0) {
      const std::uint64_t address = line * line_bytes + byte;
      result[address / to_line] |= static_cast<std::uint8_t>(1U << (address % to_line / to_sector));
    }
  }
  return result;
}

inline AnalysisResult slow_analysis(const AnalysisOptions& options, const std::vector<TransactionBlock>& blocks,
                                    std::vector<std::vector<ElementRow>>& elements,
                                    std::vector<ElementDistances>* element_distances = nullptr) {
  AnalysisResult result;
  const CoalesceOptions& stream = options.coalescing;
  const bool has_l1 = options.l1.bytes != 0;
  const bool has_l2 = options.l2.bytes != 0;
  const bool filtered = has_l1 && (options.l2_feed == L2Feed::Misses || !has_l2);
  std::map<std::uint32_t, SlowUnit> l1;
  std::optional<SlowUnit> l2;
  if (has_l2) {
    l2.emplace(options.l2, options.l2_model);
  }
  const bool exact_l2 = has_l2 && !l2->table;
  const std::uint32_t sector = filtered ? options.l1.sector() : stream.sector_bytes;
  std::map<std::uint64_t, PixelSums> pixels;
  std::map<std::uint32_t, RequestSums> touched;
  WindowSums window;
  std::uint64_t read = 0;  // fixed point
  std::array<ReuseHistogram, kLevels> window_distances;
  std::map<std::tuple<std::uint32_t, std::size_t, std::size_t>, std::uint64_t> distances;  // element, level, slot

  const auto limit = [&](std::size_t number) {
    if (options.window_requests != 0) {
      return (number + 1) * options.window_requests;
    }
    return number < options.window_limits.size() ? options.window_limits[number] : kNever;
  };
  const auto end_window = [&] {
    window.sms.resize(options.sms);
    window.dram_read_bytes = (read + kOne / 2) / kOne;
    read = 0;
    const auto number = static_cast<std::uint32_t>(result.windows.size());
    std::vector<ElementRow> rows;
    for (const auto& [element, sums] : touched) {
      rows.push_back({number, element, sums});
    }
    elements.push_back(rows);
    touched.clear();
    result.windows.push_back(window);
    result.total.merge(window);
    window = {};
    window.first_request = result.requests;
    for (std::size_t level = 0; level < kLevels && options.histograms.windows; ++level) {
      result.levels[level].by_window.push_back(window_distances[level]);
      window_distances[level] = {};
    }
  };

  for (const TransactionBlock& block : blocks) {
    std::size_t row = 0;
    for (std::size_t i = 0; i < block.transactions.size(); ++i) {
      const Transaction& transaction = block.transactions[i];
      while (result.requests >= limit(result.windows.size())) {
        end_window();
      }
      window.sms.resize(options.sms);
      if (!block.cycles.empty()) {
        window.first_cycle = window.requests == 0 ? block.cycles[i] : window.first_cycle;
        window.last_cycle = block.cycles[i];
      }
      const auto kind = static_cast<std::size_t>(transaction.kind);
      const bool store = (transaction.flags & kStore) != 0;
      std::uint64_t l1_hit = 0;
      std::vector<std::pair<std::size_t, std::uint32_t>> found;  // level and distance
      std::vector<DownAccess> asked = {{transaction.line, 0, transaction.sectors, store}};
      if (has_l1) {
        SlowUnit& cache = l1.try_emplace(transaction.sm, options.l1, options.l1_model).first->second;
        const std::uint8_t sectors = slow_split(transaction.line, transaction.sectors, stream.line_bytes,
                                                stream.sector_bytes, stream.line_bytes, options.l1.sector())
                                         .at(transaction.line);
        SlowUnit::Outcome outcome = cache.access({transaction.line, sectors, store}, kind,
                                                 {&window.levels[kL1][kind], &window.sms[transaction.sm][kL1]});
        l1_hit = outcome.hit;
        window_distances[kL1].add(outcome.distance, 1);
        found.emplace_back(kL1, outcome.distance);
        if (filtered) {
          asked = outcome.down;
        }
      }
      std::uint64_t l2_hits = 0;
      std::uint64_t l2_requests = 0;
      std::uint64_t fetched = 0;
      for (const DownAccess& access : asked) {
        if (!has_l2) {
          const std::uint64_t bytes = static_cast<std::uint64_t>(std::popcount(access.sectors)) * sector;
          (access.store ? window.dram_write_bytes : fetched) += access.store ? bytes : bytes * kOne;
          continue;
        }
        for (const auto& [line, sectors] : slow_split(access.line, access.sectors, stream.line_bytes, sector,
                                                      options.l2.line_bytes, options.l2.sector())) {
          const SlowUnit::Outcome outcome = l2->access({line, sectors, access.store}, kind,
                                                       {&window.levels[kL2][kind], &window.sms[transaction.sm][kL2]});
          window_distances[kL2].add(outcome.distance, 1);
          found.emplace_back(kL2, outcome.distance);
          ++l2_requests;
          l2_hits += outcome.hit;
          std::vector<DownAccess> memory = outcome.down;
          if (!exact_l2) {
            memory = {{line, 0, sectors, access.store}};
          }
          for (const DownAccess& last : memory) {
            const std::uint64_t bytes = static_cast<std::uint64_t>(std::popcount(last.sectors)) * options.l2.sector();
            if (last.store) {
              window.dram_write_bytes += bytes;
            } else {
              fetched += bytes * (exact_l2 ? kOne : kOne - outcome.hit);
            }
          }
        }
      }
      read += fetched;
      for (std::uint32_t lane = 0; lane < transaction.lanes; ++lane) {
        const std::uint64_t order = result.requests++;
        ++window.requests;
        result.unallocated += transaction.kind == DataKind::Unallocated ? 1U : 0U;
        const RequestSums one{1, l1_hit, l2_hits, l2_requests, order, order};
        for (const auto& [level, distance] : found) {
          if (options.histograms.elements) {
            ++distances[{block.requests[row].element, level, octave_slot(distance)}];
            ++result.levels[level].request_distances[octave_slot(distance)];
          }
        }
        if (options.elements && block.requests[row].element != kNoElement) {
          touched[block.requests[row].element].merge(one);
        }
        if (options.pixels != 0 && block.requests[row].thread != kNoThread) {
          PixelSums& pixel = pixels[block.requests[row].thread];
          pixel.requests.merge(one);
          pixel.bytes += (fetched / transaction.lanes) >> 16U;  // in 2^-14 bytes
          if (store && transaction.kind == DataKind::FrameBuffer) {
            pixel.written = std::min(pixel.written, order);
          }
        }
        ++row;
      }
      ++result.transactions;
    }
  }
  end_window();
  while (result.windows.size() < options.window_limits.size() + 1) {
    end_window();
  }
  if (options.pixels != 0) {
    result.pixels.resize(options.pixels);
    for (auto& [thread, pixel] : pixels) {
      pixel.bytes >>= 14U;
      result.pixels[thread] = pixel;
    }
  }
  const auto add = [&options](LevelResult& level, const SlowUnit& unit) {
    const CacheCounts one = unit.table ? unit.counts : unit.cache->counts();
    level.counts += one;
    level.histogram.merge(unit.histogram);
    level.caches += one.accesses == 0 ? 0U : 1U;
    if (options.evictions) {
      merge(level.evictions, unit.evictions);
    }
    if (options.histograms.kinds) {
      level.by_kind.resize(kDataKinds);
      for (const auto& [kind, histogram] : unit.by_kind) {
        level.by_kind[kind].merge(histogram);
      }
    }
  };
  if (element_distances != nullptr) {
    for (const auto& [key, requests] : distances) {
      const auto& [element, level, slot] = key;
      element_distances->push_back(
          {element, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(slot), requests});
    }
  }
  for (const auto& [sm, unit] : l1) {
    add(result.levels[kL1], unit);
  }
  if (has_l2) {
    add(result.levels[kL2], *l2);
  }
  return result;
}

}  // namespace rayreplay::memory::test
