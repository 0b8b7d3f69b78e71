#include "sim/caching/grid/cache_grid.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <set>
#include <utility>

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "base/report_progress.hpp"
#include "sim/caching/grid/feeds.hpp"
#include "sim/caching/grid/level_runs.hpp"
#include "sim/memory/caches/sector_count.hpp"

namespace rayreplay::experiment {
namespace {

namespace tbb = oneapi::tbb;

using memory::LineAccess;

/// The exact model whose misses feed the L2 if the L1 has a model with probabilities.
constexpr const char* kFilter = "lru:write=through,allocate=false";
/// Limit of L1 accesses in memory at a time; the accesses of one SM may exceed it.
constexpr std::uint64_t kMaxAccesses = kGridBytes / 2 / sizeof(LineAccess);

struct Wanted {
  LevelCache l1, l2;  ///< bytes 0: no such level
  LevelCache feed;    ///< the L1 whose misses go to the L2, or to DRAM; bytes 0: every transaction does
};

/// Caches with one line and sector size.
using Unit = std::pair<std::uint32_t, std::uint32_t>;
using Caches = std::set<LevelCache>;
using Runs = std::map<LevelCache, LevelRun>;

Unit unit_of(const LevelCache& cache) {
  return {cache.line_bytes, cache.sector_bytes};
}

Wanted wanted_of(const RecordedStream& stream, const Hierarchy& hierarchy) {
  Wanted wanted;
  wanted.l1 = level_cache(hierarchy.l1, hierarchy.l1_model, "L1");
  wanted.l2 = level_cache(hierarchy.l2, hierarchy.l2_model, "L2");
  const memory::CoalesceOptions& coalescing = stream.coalescing;
  if (wanted.l1.bytes != 0 && wanted.l1.line_bytes != coalescing.line_bytes) {
    throw Error(ErrorKind::Usage,
                {"the L1's line size is not that of the stream", "L1", std::to_string(wanted.l1.line_bytes) + " bytes",
                 std::to_string(coalescing.line_bytes) + " bytes", ""});
  }
  if (wanted.l2.bytes != 0 && wanted.l2.line_bytes < coalescing.sector_bytes) {
    throw Error(ErrorKind::Usage, {"the L2's lines are smaller than the stream's sectors", "L2",
                                   std::to_string(wanted.l2.line_bytes) + " bytes",
                                   "at least " + std::to_string(coalescing.sector_bytes), ""});
  }
  if (wanted.l1.bytes != 0 && (wanted.l2.bytes == 0 || hierarchy.l2_feed == memory::L2Feed::Misses)) {
    wanted.feed = wanted.l1.exact ? wanted.l1 : level_cache(hierarchy.l1, kFilter, "L1");
  }
  return wanted;
}

class GridRun {
 public:
  GridRun(const RecordedStream& stream, std::span<const Hierarchy> hierarchies, Accelerator* accelerator,
          Progress* progress, const GridRoom& room)
      : stream_(stream),
        hierarchies_(hierarchies),
        accelerator_(accelerator),
        progress_(progress),
        room_(room),
        feeds_(stream) {}

  GridResult run() {
    result_.counts.resize(hierarchies_.size());
    result_.failures.resize(hierarchies_.size());
    plan();
    report_start(progress_, "caches of the stream", l1s_.size() + 1 + l2s_.size());
    run_l1s();
    run_l2s();
    for (std::size_t i = 0; i < hierarchies_.size(); ++i) {
      if (!result_.failures[i]) {
        join(i);
      }
    }
    result_.passes = passes_;
    report_finish(progress_);
    return std::move(result_);
  }

 private:
  void plan() {
    wanted_.resize(hierarchies_.size());
    for (std::size_t i = 0; i < hierarchies_.size(); ++i) {
      try {
        wanted_[i] = wanted_of(stream_, hierarchies_[i]);
      } catch (const Error& error) {
        result_.failures[i] = error.info();
        continue;
      }
      const Wanted& one = wanted_[i];
      if (one.l1.bytes != 0) {
        l1s_[one.l1.sector_bytes].insert(one.l1);
      }
      if (one.l2.bytes != 0) {
        l2s_[one.feed].insert(one.l2);
      } else if (one.feed.bytes != 0) {
        l1s_[one.feed.sector_bytes].insert(one.feed);
      } else {
        everything_ = true;
      }
    }
  }

  void advance() {
    report_advance(progress_, 1);
  }

  [[nodiscard]] Runs run_caches(const std::vector<LineAccess>& accesses, std::span<const std::uint64_t> begins,
                                const Caches& caches) {
    const std::vector<LevelCache> list(caches.begin(), caches.end());
    std::uint64_t passes = 0;
    const std::vector<LevelRun> runs = run_level(accesses, begins, list, accelerator_, passes);
    passes_ += passes;
    Runs result;
    for (std::size_t i = 0; i < list.size(); ++i) {
      result.emplace(list[i], runs[i]);
    }
    return result;
  }

  /// Groups of consecutive SMs.
  void run_l1s() {
    const std::vector<std::uint64_t>& begins = feeds_.begins();
    for (const auto& [sector, caches] : l1s_) {
      std::size_t last = 0;
      for (std::size_t first = 0; first + 1 < begins.size(); first = last) {
        last = first + 1;
        while (last + 1 < begins.size() && begins[last + 1] - begins[first] <= kMaxAccesses) {
          ++last;
        }
        std::vector<std::uint64_t> some;
        for (std::size_t s = first; s <= last; ++s) {
          some.push_back(begins[s] - begins[first]);
        }
        for (const auto& [cache, run] : run_caches(feeds_.l1(sector, first, last), some, caches)) {
          l1_runs_[cache].add(run);
        }
      }
      advance();
    }
    if (everything_) {
      for (const memory::Transaction& one : stream_.transactions) {
        const std::uint64_t bytes = memory::sector_count(one.sectors) * stream_.coalescing.sector_bytes;
        ((one.flags & memory::kStore) != 0 ? all_.written_bytes : all_.read_bytes) += bytes;
      }
    }
    advance();
  }

  /// One stream for each feed, several at a time.
  void run_l2s() {
    std::vector<std::pair<const LevelCache, Caches>*> feeds;
    for (auto& one : l2s_) {
      feeds.push_back(&one);
      l2_runs_[one.first];
    }
    std::size_t first = 0;
    while (first < feeds.size()) {
      const std::size_t last = first + at_a_time(std::span(feeds).subspan(first));
      tbb::parallel_for(first, last, [&](std::size_t i) {
        l2_runs_.find(feeds[i]->first)->second = run_feed(feeds[i]->first, feeds[i]->second);
        advance();
      });
      first = last;
    }
    if (room_ && !feeds.empty()) {
      room_(0, true);
    }
  }

  /// How many of the first feeds run in parallel.
  [[nodiscard]] std::size_t at_a_time(std::span<std::pair<const LevelCache, Caches>* const> feeds) const {
    const auto threads = static_cast<std::size_t>(std::max(1, tbb::this_task_arena::max_concurrency()));
    const std::size_t most = accelerator_ != nullptr ? 1 : threads;  // an accelerator serves one caller at a time
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    while (count < std::min(most, feeds.size())) {
      bytes += feed_bytes(*feeds[count]);
      if (count > 0 && (bytes > kGridBytes || (room_ && !room_(bytes, false)))) {
        break;
      }
      if (count == 0 && room_) {
        room_(bytes, true);
      }
      ++count;
    }
    return count;
  }

  /// Upper estimate of the accesses from these L1s.
  [[nodiscard]] std::uint64_t feed_bytes(const std::pair<const LevelCache, Caches>& one) const {
    const auto& [feed, caches] = one;
    std::uint64_t accesses = stream_.transactions.size();
    if (const auto run = l1_runs_.find(feed); run != l1_runs_.end()) {
      const memory::CacheCounts& counts = run->second.counts;
      accesses = std::min(accesses, counts.accesses - counts.hits / memory::kOne + counts.sectors_written);
    }
    // Includes a copy in lines and sectors of the L2, if they differ.
    const bool same = feed.bytes == 0 || std::ranges::all_of(caches, [&unit = one.first](const LevelCache& cache) {
                        return unit_of(cache) == unit_of(unit);
                      });
    return (same ? 1 : 2) * sizeof(LineAccess) * accesses;
  }

  [[nodiscard]] Runs run_feed(const LevelCache& feed, const Caches& caches) {
    std::map<Unit, Caches> by_unit;
    for (const LevelCache& one : caches) {
      by_unit[unit_of(one)].insert(one);
    }
    Runs runs;
    try {
      const std::vector<LineAccess> misses = feed.bytes == 0 ? std::vector<LineAccess>() : feeds_.misses(feed);
      passes_ += feed.bytes == 0 ? 0 : 1;
      for (const auto& [unit, some] : by_unit) {
        std::vector<LineAccess> other;
        if (feed.bytes == 0) {
          other = feeds_.all(unit.first, unit.second);
        } else if (unit != unit_of(feed)) {
          other = split(misses, feed.line_bytes, feed.sector_bytes, unit.first, unit.second);
        }
        const std::vector<LineAccess>& accesses = feed.bytes != 0 && unit == unit_of(feed) ? misses : other;
        const std::vector<std::uint64_t> begins{0, accesses.size()};
        runs.merge(run_caches(accesses, begins, some));
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Internal) {
        throw;
      }
      fail(runs, caches, error.info());
    } catch (const std::bad_alloc&) {
      fail(runs, caches,
           {"there is not enough memory for the access stream of the L2", "", "", "", "take a smaller launch"});
    }
    return runs;
  }

  static void fail(Runs& runs, const Caches& caches, const ErrorInfo& info) {
    for (const LevelCache& one : caches) {
      runs[one].failure = info;
    }
  }

  void join(std::size_t i) {
    const Wanted& one = wanted_[i];
    HierarchyCounts& counts = result_.counts[i];
    const LevelRun* last = &all_;
    if (one.l1.bytes != 0) {
      const LevelRun& l1 = l1_runs_.at(one.l1);
      counts.l1 = l1.counts;
      result_.failures[i] = l1.failure;
    }
    if (one.l2.bytes != 0) {
      last = &l2_runs_.at(one.feed).at(one.l2);
      counts.l2 = last->counts;
    } else if (one.feed.bytes != 0) {
      last = &l1_runs_.at(one.feed);
    }
    counts.dram_read_bytes = last->all_read_bytes();
    counts.dram_written_bytes = last->written_bytes;
    if (!result_.failures[i]) {
      result_.failures[i] = last->failure;
    }
    if (result_.failures[i]) {
      counts = {};
    }
  }

  const RecordedStream& stream_;
  std::span<const Hierarchy> hierarchies_;
  Accelerator* accelerator_;
  Progress* progress_;
  const GridRoom& room_;
  StreamFeeds feeds_;
  std::vector<Wanted> wanted_;
  std::map<std::uint32_t, Caches> l1s_;  ///< by sector size
  std::map<LevelCache, Caches> l2s_;     ///< by feed
  bool everything_ = false;              ///< some hierarchies have no caches
  LevelRun all_;
  Runs l1_runs_;
  std::map<LevelCache, Runs> l2_runs_;
  std::atomic<std::uint64_t> passes_ = 0;
  GridResult result_;
};

}  // namespace

GridResult cache_grid(const RecordedStream& stream, std::span<const Hierarchy> hierarchies, Accelerator* accelerator,
                      Progress* progress, const GridRoom& room) {
  return GridRun(stream, hierarchies, accelerator, progress, room).run();
}

std::uint64_t grid_table_bytes(const RecordedStream& stream, std::span<const Hierarchy> hierarchies) {
  constexpr std::uint64_t kBytesPerLine = 96;  // numbers and sectors of lines, during growth of the table
  constexpr std::uint64_t kBytesPerLineAndPass = 24;
  if (stream.transactions.empty()) {
    return 0;
  }
  const auto [least, most] = std::ranges::minmax(stream.transactions, {}, &memory::Transaction::line);
  std::set<std::uint64_t> passes;  // by number of sets
  for (const Hierarchy& one : hierarchies) {
    for (const memory::CacheGeometry& cache : {one.l1, one.l2}) {
      if (cache.bytes != 0 && cache.line_bytes != 0) {
        passes.insert(cache.lines() / std::max<std::uint64_t>(1, cache.associativity()));
      }
    }
  }
  const auto streams =
      static_cast<double>(std::clamp<int>(tbb::this_task_arena::max_concurrency(), 1, static_cast<int>(stream.sms)));
  const double lines = std::min(static_cast<double>(stream.transactions.size()),
                                streams * (static_cast<double>(most.line - least.line) + 1));
  return static_cast<std::uint64_t>(
      lines * static_cast<double>(kBytesPerLine + kBytesPerLineAndPass * static_cast<std::uint64_t>(passes.size())));
}

}  // namespace rayreplay::experiment
