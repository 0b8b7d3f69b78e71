#include "sim/memory/caches/lru_grid.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include "base/accelerator.hpp"
#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "sim/memory/caches/line_range.hpp"
#include "sim/memory/caches/lru_grid_lines.hpp"
#include "sim/memory/caches/lru_grid_pass.hpp"
#include "sim/memory/caches/lru_hits.hpp"
#include "sim/memory/caches/sector_count.hpp"

namespace rayreplay::memory {
namespace {

namespace tbb = oneapi::tbb;

constexpr std::size_t kBatch = std::size_t{1} << 14U;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::uint64_t kMaxSpan = std::numeric_limits<std::uint32_t>::max();

using Accesses = std::span<const LineAccess>;

/// A pass: some ways of one number of sets.
struct Node {
  std::uint64_t sets = 1;
  std::vector<std::uint64_t> ways;  ///< ascending
  bool deep = false;
  std::size_t parent = kNone;  ///< the pass whose leftover accesses it takes; none: all accesses
  bool feeds = false;
};

struct Plan {
  std::vector<Node> nodes;           ///< parents first
  std::vector<std::size_t> node_of;  ///< by configuration; kNone: runs by itself
};

Plan plan_of(std::span<const CacheGeometry> geometries) {
  std::vector<LruConfiguration> wanted;
  for (const CacheGeometry& one : geometries) {
    wanted.push_back(lru_configuration(one));
  }
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(wanted[a].sets, wanted[a].ways) < std::pair(wanted[b].sets, wanted[b].ways);
  });
  Plan plan;
  plan.node_of.assign(wanted.size(), kNone);
  for (const std::size_t i : order) {
    const LruConfiguration& one = wanted[i];
    const bool deep = one.ways > kStackedWays;
    if (deep && one.sets != 1) {
      continue;
    }
    Node* last = plan.nodes.empty() ? nullptr : &plan.nodes.back();
    const bool known = last != nullptr && last->sets == one.sets && last->deep == deep;
    if (!known || (last->ways.size() == kStackedWays && last->ways.back() != one.ways)) {
      plan.nodes.push_back({one.sets, {}, deep, kNone, false});
      last = &plan.nodes.back();
    }
    if (last->ways.empty() || last->ways.back() != one.ways) {
      last->ways.push_back(one.ways);
    }
    plan.node_of[i] = plan.nodes.size() - 1;
  }
  // The largest divisor passes on the fewest accesses.
  for (std::size_t i = 0; i < plan.nodes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!plan.nodes[k].deep && plan.nodes[i].sets % plan.nodes[k].sets == 0) {
        plan.nodes[i].parent = k;
      }
    }
    if (plan.nodes[i].parent != kNone) {
      plan.nodes[plan.nodes[i].parent].feeds = true;
    }
  }
  return plan;
}

/// Properties of a stream, collected before its run.
struct Facts {
  LineRange lines;
  std::uint64_t stores = 0;
  std::uint64_t stored_sectors = 0;
  std::uint64_t accesses = 0;
};

Facts facts_of(Accesses accesses) {
  Facts facts;
  facts.accesses = accesses.size();
  for (const LineAccess& access : accesses) {
    facts.lines.low = std::min(facts.lines.low, access.line);
    facts.lines.high = std::max(facts.lines.high, access.line);
    if (access.store) {
      ++facts.stores;
      facts.stored_sectors += sector_count(access.sectors);
    }
  }
  return facts;
}

/// A buffer for accesses, with their count.
class Packed {
 public:
  [[nodiscard]] GridAccess* room() {
    if (accesses_ == nullptr) {
      accesses_ = std::make_unique_for_overwrite<GridAccess[]>(kBatch);
    }
    return accesses_.get();
  }
  void keep(std::size_t size) {
    size_ = size;
  }
  [[nodiscard]] std::span<const GridAccess> span() const {
    return {accesses_.get(), size_};
  }

 private:
  std::unique_ptr<GridAccess[]> accesses_;
  std::size_t size_ = 0;
};

/// A batch in the pipeline: the accesses that each pass left over.
struct Batch {
  Packed all;
  std::uint32_t lines = 0;  ///< upper bound of line numbers so far
  std::vector<Packed> left;
};

class StreamRun {
 public:
  StreamRun(Accesses accesses, const Facts& facts, const Plan& plan, const CachePolicy& policy,
            std::uint32_t line_sectors, GridForm form)
      : accesses_(accesses), facts_(facts), plan_(plan), policy_(policy) {
    const GridRules rules{.wide = line_sectors > 4, .dirty = policy.write_back && policy.allocate && facts.stores != 0};
    lines_ = std::make_unique<GridLines>(facts.lines.low, policy.allocate, rules.dirty, rules.wide);
    for (const Node& node : plan.nodes) {
      const std::uint64_t span = facts.lines.high - facts.lines.low + 1;
      passes_.push_back(node.deep ? make_deep_pass(node.ways, rules)
                                  : make_stacked_pass(node.sets, node.ways.back(), span, rules, form));
    }
  }

  /// False: a line is both loaded and stored to without allocation, which the passes cannot count.
  [[nodiscard]] bool run() {
    const auto threads = static_cast<std::size_t>(std::max(1, tbb::this_task_arena::max_concurrency()));
    std::vector<Batch> batches(2 * threads);
    for (Batch& batch : batches) {
      batch.left.resize(passes_.size());
    }
    // Tokens in the pipeline; batches leave in order.
    std::size_t number = 0;
    tbb::filter<void, Batch*> chain =
        tbb::make_filter<void, Batch*>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& control) -> Batch* {
          const std::size_t at = number * kBatch;
          if (at >= accesses_.size() || lines_->mixed()) {
            control.stop();
            return nullptr;
          }
          Batch& batch = batches[number++ % batches.size()];
          const Accesses some = accesses_.subspan(at, std::min(kBatch, accesses_.size() - at));
          batch.all.keep(lines_->take(some, batch.all.room()));
          batch.lines = lines_->limit();
          return &batch;
        });
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      chain = chain & tbb::make_filter<Batch*, Batch*>(tbb::filter_mode::serial_in_order, [this, i](Batch* batch) {
                const Node& node = plan_.nodes[i];
                const Packed& from = node.parent == kNone ? batch->all : batch->left[node.parent];
                Packed& left = batch->left[i];
                left.keep(passes_[i]->run(from.span(), batch->lines, node.feeds ? left.room() : nullptr));
                return batch;
              });
    }
    tbb::parallel_pipeline(batches.size(),
                           chain & tbb::make_filter<Batch*, void>(tbb::filter_mode::serial_in_order, [](Batch*) {}));
    if (lines_->mixed()) {
      return false;
    }
    depths_.resize(passes_.size());
    tbb::parallel_for(std::size_t{0}, passes_.size(),
                      [&](std::size_t i) { depths_[i] = passes_[i]->finish(lines_->lines()); });
    return true;
  }

  [[nodiscard]] CacheCounts counts(std::size_t number, std::uint64_t ways) const {
    const Node& node = plan_.nodes[number];
    const GridDepths& depths = depths_[number];
    std::size_t rank = ways;
    if (node.deep) {
      rank =
          static_cast<std::size_t>(std::lower_bound(node.ways.begin(), node.ways.end(), ways) - node.ways.begin()) + 1;
    }
    const auto beyond = [&](const GridDepths::ByDepth& by_depth) {
      return std::accumulate(by_depth.begin() + static_cast<std::ptrdiff_t>(rank), by_depth.end(), std::uint64_t{0});
    };
    // Stores without allocation never enter the passes.
    const std::uint64_t around = policy_.allocate ? 0 : facts_.stores;
    const std::uint64_t line_misses = beyond(depths.found);
    const std::uint64_t misses = beyond(depths.whole);
    CacheCounts counts;
    counts.accesses = facts_.accesses;
    counts.hits = (facts_.accesses - around - misses) * kOne;
    counts.sector_misses = misses - line_misses;
    counts.evictions = line_misses - passes_[number]->resident(ways);
    counts.sectors_filled = beyond(depths.filled);
    counts.sectors_written = policy_.write_back && policy_.allocate ? beyond(depths.written) : facts_.stored_sectors;
    return counts;
  }

 private:
  Accesses accesses_;
  const Facts& facts_;
  const Plan& plan_;
  CachePolicy policy_;
  std::unique_ptr<GridLines> lines_;
  std::vector<std::unique_ptr<GridPass>> passes_;
  std::vector<GridDepths> depths_;
};

void check(Accesses accesses, std::span<const std::uint64_t> begins, std::span<const CacheGeometry> geometries,
           const CachePolicy& policy) {
  for (const CacheGeometry& one : geometries) {
    check(one, "a cache of several");
    if (one.bytes == 0 || one.line_bytes != geometries.front().line_bytes ||
        one.sector() != geometries.front().sector()) {
      throw Error(ErrorKind::Usage, {"caches of one stream have different lines or sectors", "", to_string(one),
                                     to_string(geometries.front()), ""});
    }
  }
  if (begins.empty() || begins.front() != 0 || begins.back() != accesses.size() ||
      !std::is_sorted(begins.begin(), begins.end()) || policy.replacement != Replacement::Lru) {
    throw Error(ErrorKind::Internal, {"the begins of streams do not partition the accesses", "", "", "", ""});
  }
}

/// Runs configurations one by one; counts[c][s] for these and the stream.
void one_by_one(Accesses accesses, std::size_t stream, std::span<const CacheGeometry> geometries,
                const std::vector<std::size_t>& which, const CachePolicy& policy, Accelerator* accelerator,
                LruGrid& grid) {
  if (which.empty() || accesses.empty()) {
    return;
  }
  std::vector<ExactCache> caches;
  for (const std::size_t i : which) {
    caches.push_back({geometries[i], policy});
  }
  const std::vector<std::uint64_t> begins{0, accesses.size()};
  const ExactCounts counts = exact_counts(accesses, begins, caches, accelerator);
  for (std::size_t k = 0; k < which.size(); ++k) {
    grid.counts[which[k]][stream] = counts[k].front();
  }
  grid.passes += which.size();
}

}  // namespace

LruGrid lru_grid(Accesses accesses, std::span<const std::uint64_t> begins, std::span<const CacheGeometry> geometries,
                 const CachePolicy& policy, Accelerator* accelerator, GridForm form) {
  check(accesses, begins, geometries, policy);
  const std::size_t streams = begins.size() - 1;
  LruGrid grid;
  grid.counts.assign(geometries.size(), std::vector<CacheCounts>(streams));
  if (geometries.empty()) {
    return grid;
  }
  const auto of = [&](std::size_t s) { return accesses.subspan(begins[s], begins[s + 1] - begins[s]); };
  std::vector<std::size_t> everything(geometries.size());
  std::iota(everything.begin(), everything.end(), std::size_t{0});
  if (accelerator != nullptr && accelerator->has_device()) {
    std::vector<ExactCache> caches;
    for (const CacheGeometry& one : geometries) {
      caches.push_back({one, policy});
    }
    grid.counts = exact_counts(accesses, begins, caches, accelerator);
    grid.passes = geometries.size() * streams;
    return grid;
  }
  const Plan plan = plan_of(geometries);
  std::vector<std::size_t> alone;
  for (const std::size_t i : everything) {
    if (plan.node_of[i] == kNone) {
      alone.push_back(i);
    }
  }
  const std::uint32_t line_sectors = geometries.front().line_bytes / geometries.front().sector();
  std::vector<Facts> facts(streams);
  std::vector<char> stacked(streams);
  tbb::parallel_for(std::size_t{0}, streams, [&](std::size_t s) {
    facts[s] = facts_of(of(s));
    if (of(s).empty() || facts[s].lines.high - facts[s].lines.low >= kMaxSpan - 1 || of(s).size() >= kMaxSpan) {
      return;
    }
    StreamRun run(of(s), facts[s], plan, policy, line_sectors, form);
    if (!run.run()) {
      return;
    }
    stacked[s] = 1;
    for (std::size_t i = 0; i < geometries.size(); ++i) {
      if (plan.node_of[i] != kNone) {
        grid.counts[i][s] = run.counts(plan.node_of[i], geometries[i].associativity());
      }
    }
  });
  for (std::size_t s = 0; s < streams; ++s) {
    if (stacked[s] != 0) {
      grid.passes += plan.nodes.size();
    }
    grid.stacked += static_cast<std::uint64_t>(stacked[s]);
    one_by_one(of(s), s, geometries, stacked[s] != 0 ? alone : everything, policy, accelerator, grid);
  }
  return grid;
}

}  // namespace rayreplay::memory
