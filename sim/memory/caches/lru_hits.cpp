#include "sim/memory/caches/lru_hits.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/error.hpp"
#include "sim/memory/caches/set_associative.hpp"
#include "sim/memory/caches/set_index.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;

constexpr std::uint64_t kListedWays = 64;
constexpr std::size_t kBatch = std::size_t{1} << 14U;
constexpr std::uint64_t kLimit = std::uint64_t{1} << 31U;

using Lines = std::span<const std::uint64_t>;

void check(const LruStreams& streams, std::span<const LruConfiguration> configurations) {
  for (const LruConfiguration& one : configurations) {
    if (one.sets == 0 || one.ways == 0 || one.sets >= kLimit || one.ways >= kLimit) {
      throw Error(ErrorKind::Usage,
                  {"a cache has no sets or ways, or too many", "",
                   fmt::format("{} sets of {} ways", one.sets, one.ways), "at least one of each, less than 2^31", ""});
    }
  }
  if (streams.begins.empty() || streams.begins.front() != 0 || streams.begins.back() != streams.lines.size() ||
      !std::is_sorted(streams.begins.begin(), streams.begins.end())) {
    throw Error(ErrorKind::Internal, {"the begins of streams do not partition the accesses", "", "", "", ""});
  }
}

/// By number of sets; ways ascend.
std::vector<LruGroup> groups_of(std::span<const LruConfiguration> configurations) {
  std::vector<LruGroup> groups;
  for (const LruConfiguration& one : configurations) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const LruGroup& g) { return g.sets == one.sets; });
    if (group == groups.end()) {
      groups.push_back({one.sets, {}});
      group = std::prev(groups.end());
    }
    group->ways.push_back(one.ways);
  }
  for (LruGroup& group : groups) {
    std::sort(group.ways.begin(), group.ways.end());
    group.ways.erase(std::unique(group.ways.begin(), group.ways.end()), group.ways.end());
  }
  return groups;
}

/// Sets as lists of lines, the last used first. count[d]: accesses that found their line at depth d.
std::vector<std::uint64_t> depths(Lines lines, std::uint64_t sets, std::uint64_t ways) {
  const SetIndex index(sets);
  std::vector<std::uint64_t> count(ways);
  std::vector<std::uint64_t> list(sets * ways);
  std::vector<std::uint8_t> used(sets);
  for (const std::uint64_t line : lines) {
    const CachePlace place = index.place(line);
    std::uint64_t* const set = &list[place.set * ways];
    if (used[place.set] != 0 && set[0] == place.tag) {
      ++count[0];
      continue;
    }
    // Each entry moves back by one, up to the line's old position or out of the list.
    const std::size_t full = used[place.set];
    std::uint64_t moved = place.tag;
    std::size_t depth = 0;
    for (; depth < full; ++depth) {
      std::swap(moved, set[depth]);
      if (moved == place.tag) {
        break;
      }
    }
    if (depth < full) {
      ++count[depth];
    } else if (full < ways) {
      set[full] = moved;
      ++used[place.set];
    }
  }
  return count;
}

/// hits[k] of group.ways[k].
std::vector<std::uint64_t> of_lists(Lines lines, const LruGroup& group, std::size_t first_listed, std::size_t listed) {
  const std::vector<std::uint64_t> count = depths(lines, group.sets, group.ways[first_listed + listed - 1]);
  std::vector<std::uint64_t> hits;
  for (std::size_t k = 0; k < listed; ++k) {
    std::uint64_t sum = 0;
    for (std::uint64_t depth = 0; depth < group.ways[first_listed + k]; ++depth) {
      sum += count[depth];
    }
    hits.push_back(sum);
  }
  return hits;
}

std::vector<std::uint64_t> of_one_set(Lines lines, const std::vector<std::uint64_t>& ways) {
  BitmapStack stack;
  std::vector<std::uint32_t> distances(std::min(kBatch, lines.size()));
  std::vector<std::uint64_t> first(ways.size() + 1);  // accesses whose smallest hitting cache has these ways
  for (std::size_t at = 0; at < lines.size(); at += kBatch) {
    const std::size_t size = std::min(kBatch, lines.size() - at);
    const std::span<std::uint32_t> found = std::span(distances).first(size);
    stack.distances(lines.subspan(at, size), found);
    for (const std::uint32_t distance : found) {
      ++first[static_cast<std::size_t>(std::upper_bound(ways.begin(), ways.end(), distance) - ways.begin())];
    }
  }
  std::vector<std::uint64_t> hits(ways.size());
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < ways.size(); ++k) {
    sum += first[k];
    hits[k] = sum;
  }
  return hits;
}

std::uint64_t of_cache(Lines lines, std::uint64_t sets, std::uint64_t ways) {
  constexpr std::uint32_t kLineBytes = 128;  // any value works
  if (ways >= kLimit / sets) {
    throw Error(ErrorKind::Usage, {"a cache has too many lines", "", fmt::format("{} sets of {} ways", sets, ways),
                                   "less than 2^31 lines", ""});
  }
  const CacheGeometry geometry{.bytes = sets * ways * kLineBytes,
                               .line_bytes = kLineBytes,
                               .ways = static_cast<std::uint32_t>(ways),
                               .sector_bytes = 0};
  const std::unique_ptr<Cache> cache = make_set_associative(geometry, {});
  std::vector<LineAccess> accesses;
  std::vector<std::uint32_t> hit(std::min(kBatch, lines.size()));
  for (std::size_t at = 0; at < lines.size(); at += kBatch) {
    accesses.clear();
    for (const std::uint64_t line : lines.subspan(at, std::min(kBatch, lines.size() - at))) {
      accesses.push_back({line, 1, false});
    }
    cache->access(accesses, {}, std::span(hit).first(accesses.size()), nullptr);
  }
  return cache->counts().hits / kOne;
}

/// A task: some ways of a group, over one stream.
struct Task {
  std::size_t group = 0;
  std::size_t first = 0;  ///< of its ways
  std::size_t count = 0;
  std::size_t stream = 0;
};

std::vector<Task> tasks_of(const LruStreams& streams, const std::vector<LruGroup>& groups) {
  std::vector<Task> tasks;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<std::uint64_t>& ways = groups[g].ways;
    const auto listed =
        static_cast<std::size_t>(std::upper_bound(ways.begin(), ways.end(), kListedWays) - ways.begin());
    for (std::size_t s = 0; s < streams.count(); ++s) {
      if (streams.begins[s] == streams.begins[s + 1]) {
        continue;
      }
      if (listed != 0) {
        tasks.push_back({g, 0, listed, s});
      }
      if (groups[g].sets == 1 && listed < ways.size()) {
        tasks.push_back({g, listed, ways.size() - listed, s});
      } else {
        for (std::size_t k = listed; k < ways.size(); ++k) {
          tasks.push_back({g, k, 1, s});
        }
      }
    }
  }
  return tasks;
}

LruGroupHits on_processor(const LruStreams& streams, const std::vector<LruGroup>& groups) {
  LruGroupHits result = no_hits(streams, groups);
  const std::vector<Task> tasks = tasks_of(streams, groups);
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, tasks.size(), 1), [&](const tbb::blocked_range<std::size_t>& range) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) {
          const Task& task = tasks[i];
          const LruGroup& group = groups[task.group];
          const Lines lines = streams.of(task.stream);
          std::vector<std::uint64_t> hits;
          if (group.ways[task.first] <= kListedWays) {
            hits = of_lists(lines, group, task.first, task.count);
          } else if (group.sets == 1) {
            hits = of_one_set(lines, {group.ways.begin() + static_cast<std::ptrdiff_t>(task.first), group.ways.end()});
          } else {
            hits = {of_cache(lines, group.sets, group.ways[task.first])};
          }
          for (std::size_t k = 0; k < task.count; ++k) {
            result[task.group][task.first + k][task.stream] = hits[k];
          }
        }
      });
  return result;
}

}  // namespace

LruGroupHits no_hits(const LruStreams& streams, const std::vector<LruGroup>& groups) {
  LruGroupHits hits;
  for (const LruGroup& group : groups) {
    hits.emplace_back(group.ways.size(), std::vector<std::uint64_t>(streams.count()));
  }
  return hits;
}

LruHits lru_hits(std::span<const std::uint64_t> lines, std::span<const std::uint64_t> begins,
                 std::span<const LruConfiguration> configurations, Accelerator* accelerator) {
  const LruStreams streams{lines, begins};
  check(streams, configurations);
  const std::vector<LruGroup> groups = groups_of(configurations);
  const LruGroupHits found = lru_hits_twin.run(
      accelerator, [&] { return on_processor(streams, groups); }, streams, groups);
  LruHits hits;
  for (const LruConfiguration& one : configurations) {
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const LruGroup& g) { return g.sets == one.sets; });
    const auto ways = std::lower_bound(group->ways.begin(), group->ways.end(), one.ways);
    hits.push_back(
        found[static_cast<std::size_t>(group - groups.begin())][static_cast<std::size_t>(ways - group->ways.begin())]);
  }
  return hits;
}

}  // namespace rayreplay::memory
