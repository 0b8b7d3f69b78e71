#include "sim/memory/results/analysis.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "base/accelerator.hpp"
#include "base/error.hpp"
#include "sim/memory/results/analysis_checks.hpp"
#include "sim/memory/results/cache_unit.hpp"
#include "sim/memory/results/chunk.hpp"
#include "sim/memory/results/element_distances.hpp"
#include "sim/memory/results/line_split.hpp"
#include "sim/memory/results/request_tables.hpp"
#include "sim/memory/reuse/sample_error.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kMaxLanes = 64;

/// An L1 with its requests to the L2.
struct Sm {
  std::optional<CacheUnit> cache;
  // For the current window:
  std::array<Tally, kDataKinds> tallies;
  KindSums traffic;                       ///< of an exact model
  std::vector<ReuseHistogram> distances;  ///< by kind; empty unless wanted. Of the window, if by window
};

}  // namespace

class Analysis::Impl {
 public:
  explicit Impl(const AnalysisOptions& options)
      : options_(options),
        engine_(ReuseEngines::create(options.reuse_engine)),
        l1_(make_level(options.l1, options.l1_model, "L1", engine_.model.get(), options.distances)),
        l2_(make_level(options.l2, options.l2_model, "L2", engine_.model.get(), options.distances)) {
    check_options(options_, l1_, l2_);
    sms_.resize(options.sms);
    l2_sm_tallies_.resize(options.sms);
    l2_sm_traffic_.resize(options.sms);
    if (l1_.present() && l1_needed_below() && !l1_.model->exact()) {
      l1_.filter = CacheModels::create("lru:write=through,allocate=false").model;
    }
    take_distances_from_device();
    l1_.evictions = options.evictions;
    l2_.evictions = options.evictions;
    if (options.histograms.kinds || options.histograms.windows) {
      l2_distances_.resize(kDataKinds);
      for (Sm& sm : sms_) {
        sm.distances.resize(kDataKinds);
      }
    }
    if (options.histograms.elements) {
      element_distances_.emplace(options.element_count);
    }
    if (l2_.present()) {
      l2_cache_.emplace(l2_);
    }
    make_splits();
    if (options.elements) {
      elements_.emplace(options.element_count);
    }
    if (options.pixels != 0) {
      pixels_.emplace(options.pixels);
    }
    next_limit_ = limit_after(0);
  }

  ~Impl() {
    group_.cancel();
    try {
      group_.wait();
    } catch (...) {
      // An analysis that is destroyed early has failed or its result is not needed.
    }
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void take(const TransactionBlock& block) {
    if (wants_requests() && block.requests.empty() && !block.transactions.empty()) {
      broken("blocks without requests, but sums by element or pixel are wanted");
    }
    if (!block.cycles.empty() && block.cycles.size() != block.transactions.size()) {
      broken("a block with another number of cycles than transactions");
    }
    const std::uint64_t before = request_;
    std::size_t begin = 0;
    while (begin < block.transactions.size()) {
      while (request_ >= next_limit_) {
        end_window();
      }
      begin = collect(block, begin, before);
    }
    if (!block.requests.empty() && request_ - before != block.requests.size()) {
      broken("a block whose requests are not the sum of its transactions' lanes");
    }
  }

  [[nodiscard]] AnalysisResult finish() {
    end_window();
    // Window limits not reached yet.
    while (result_.windows.size() < options_.window_limits.size() + 1) {
      end_window();
    }
    for (const WindowSums& window : result_.windows) {
      result_.total.merge(window);
    }
    result_.requests = request_;
    if (element_distances_ && options_.take_element_distances) {
      options_.take_element_distances(element_distances_->rows());
    }
    if (pixels_) {
      result_.pixels = pixels_->finish();
    }
    finish_levels();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool wants_requests() const {
    return options_.elements || options_.pixels != 0;
  }
  /// The accesses to the L2, or to DRAM, are the requests of the L1s.
  [[nodiscard]] bool l1_needed_below() const {
    return l1_.present() && (options_.l2_feed == L2Feed::Misses || !l2_.present());
  }

  void take_distances_from_device() {
    Accelerator* const accelerator = options_.accelerator;
    if (accelerator == nullptr || (l1_.engine == nullptr && l2_.engine == nullptr)) {
      return;
    }
    if (!accelerator->has_device() || !engine_.model->exact()) {
      accelerator->note_cpu("reuse distances",
                            accelerator->has_device() ? "the reuse engine samples" : "the device was lost");
      return;
    }
    chunk_size_ = wants_requests() ? kDeviceChunkWithRequests : kDeviceChunk;
    if (l1_.engine != nullptr) {
      l1_.given = true;
      l1_stacks_.emplace(accelerator, options_.sms);
    }
    if (l2_.engine != nullptr) {
      l2_.given = true;
      l2_stacks_.emplace(accelerator, 1);
    }
  }

  void make_splits() {
    const CoalesceOptions& stream = options_.coalescing;
    if (l1_.present()) {
      to_l1_.emplace(stream.line_bytes, stream.sector_bytes, l1_.geometry.line_bytes, l1_.geometry.sector());
    }
    const std::uint32_t line = stream.line_bytes;
    sector_mask_ = (1U << (line / stream.sector_bytes)) - 1;
    last_line_ = std::numeric_limits<std::uint64_t>::max() / line;
    const std::uint32_t sector = l1_needed_below() ? l1_.geometry.sector() : stream.sector_bytes;
    memory_sector_ = l2_.present() ? l2_.geometry.sector() : sector;
    to_l2_.emplace(line, sector, l2_.present() ? l2_.geometry.line_bytes : line, memory_sector_);
  }

  // Collecting.

  [[noreturn]] static void broken(const char* what) {
    throw Error(ErrorKind::Internal,
                {std::string("memory transactions break their contract: ") + what, "", "", "", ""});
  }

  [[nodiscard]] std::uint64_t limit_after(std::size_t window) const {
    if (options_.window_requests != 0) {
      const std::uint64_t number = window + 1;
      return number > std::numeric_limits<std::uint64_t>::max() / options_.window_requests
                 ? std::numeric_limits<std::uint64_t>::max()
                 : number * options_.window_requests;
    }
    return window < options_.window_limits.size() ? options_.window_limits[window]
                                                  : std::numeric_limits<std::uint64_t>::max();
  }

  /// Takes transactions from `begin` until the chunk, the window or the block ends; returns the end.
  std::size_t collect(const TransactionBlock& block, std::size_t begin, std::uint64_t block_request) {
    Chunk& chunk = chunks_[current_];
    if (chunk.transactions.empty()) {
      chunk.first_request = request_;
    }
    const std::uint64_t first = request_;
    const std::size_t room = std::min(block.transactions.size() - begin, chunk_size_ - chunk.transactions.size());
    std::size_t i = begin;
    for (; i < begin + room && request_ < next_limit_; ++i) {
      const Transaction& transaction = block.transactions[i];
      if (transaction.sm >= options_.sms || static_cast<std::size_t>(transaction.kind) >= kDataKinds) {
        broken("an SM that the machine lacks, or an unknown kind");
      }
      if (transaction.lanes == 0 || transaction.lanes > kMaxLanes || transaction.sectors == 0 ||
          transaction.sectors > sector_mask_ || transaction.line > last_line_) {
        broken("lanes, sectors or a line out of range");
      }
      request_ += transaction.lanes;
      if (transaction.kind == DataKind::Unallocated) {
        result_.unallocated += transaction.lanes;
      }
    }
    if (window_.requests == 0 && !block.cycles.empty()) {
      window_.first_cycle = block.cycles[begin];
    }
    if (!block.cycles.empty()) {
      window_.last_cycle = block.cycles[i - 1];
    }
    check_accesses(request_, options_);
    window_.requests += request_ - first;
    result_.transactions += i - begin;
    chunk.transactions.insert(chunk.transactions.end(), block.transactions.begin() + static_cast<std::ptrdiff_t>(begin),
                              block.transactions.begin() + static_cast<std::ptrdiff_t>(i));
    if (wants_requests()) {
      if (request_ - block_request > block.requests.size()) {
        broken("a block whose requests are not the sum of its transactions' lanes");
      }
      chunk.requests.insert(chunk.requests.end(),
                            block.requests.begin() + static_cast<std::ptrdiff_t>(first - block_request),
                            block.requests.begin() + static_cast<std::ptrdiff_t>(request_ - block_request));
    }
    if (chunk.transactions.size() == chunk_size_) {
      start();
    }
    return i;
  }

  /// This chunk's L1s now; its L2 runs in parallel with the next chunk's L1s.
  void start() {
    Chunk& chunk = chunks_[current_];
    if (chunk.transactions.empty()) {
      return;
    }
    upper(chunk);
    if (l2_stacks_) {
      l2_stacks_->find(chunk.l2, {0, chunk.l2.size()}, chunk.l2_distances);
    }
    group_.wait();
    group_.run([this, &chunk] {
      lower(chunk);
      chunk.transactions.clear();
      chunk.requests.clear();
    });
    current_ = 1 - current_;
  }

  void end_window() {
    check_windows(result_.windows.size() + 1, options_);
    start();
    group_.wait();
    window_.sms.resize(options_.sms);
    for (std::size_t sm = 0; sm < sms_.size(); ++sm) {
      if (sms_[sm].cache) {
        for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
          LevelSums& sums = sms_[sm].traffic[kind];
          sms_[sm].tallies[kind].add_to(sums, sms_[sm].cache->exact());
          window_.levels[kL1][kind].merge(sums);
          window_.sms[sm][kL1].merge(sums);
        }
        sms_[sm].tallies = {};
        sms_[sm].traffic = {};
      }
      if (l2_cache_) {
        l2_sm_tallies_[sm].add_to(l2_sm_traffic_[sm], l2_cache_->exact());
        window_.sms[sm][kL2] = l2_sm_traffic_[sm];
        l2_sm_tallies_[sm] = {};
        l2_sm_traffic_[sm] = {};
      }
    }
    if (l2_cache_) {
      for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
        l2_tallies_[kind].add_to(l2_traffic_[kind], l2_cache_->exact());
      }
      window_.levels[kL2] = l2_traffic_;
      l2_tallies_ = {};
      l2_traffic_ = {};
    }
    window_.dram_read_bytes = window_read_ + (dram_read_ + kOne / 2) / kOne;
    window_.dram_write_bytes = dram_write_;
    window_read_ = 0;
    dram_read_ = 0;
    dram_write_ = 0;
    if (options_.histograms.windows) {
      for (std::size_t level = 0; level < kLevels; ++level) {
        result_.levels[level].by_window.emplace_back();
      }
      take_distances();
    }
    if (elements_) {
      const std::vector<ElementRow> rows = elements_->take(static_cast<std::uint32_t>(result_.windows.size()));
      if (options_.take_elements) {
        options_.take_elements(static_cast<std::uint32_t>(result_.windows.size()), rows);
      }
    }
    result_.windows.push_back(std::move(window_));
    window_ = {};
    window_.first_request = request_;
    next_limit_ = limit_after(result_.windows.size());
  }

  /// Moves the histograms of SMs and L2 to the parts of the result.
  void take_distances() {
    const auto move = [this](LevelResult& level, std::vector<ReuseHistogram>& distances) {
      for (std::size_t kind = 0; kind < distances.size(); ++kind) {
        if (options_.histograms.kinds) {
          level.by_kind.resize(kDataKinds);
          level.by_kind[kind].merge(distances[kind]);
        }
        if (options_.histograms.windows) {
          level.by_window.back().merge(distances[kind]);
        }
        distances[kind] = {};
      }
    };
    for (Sm& sm : sms_) {
      move(result_.levels[kL1], sm.distances);
    }
    move(result_.levels[kL2], l2_distances_);
  }

  // L1s.

  void upper(Chunk& chunk) {
    const std::size_t n = chunk.transactions.size();
    if (wants_requests()) {
      chunk.outcomes.assign(n, {});
    }
    chunk.l2_begin.assign(n + 1, 0);
    chunk.l1_distance_of.resize(element_distances_ && l1_.present() ? n : 0);
    if (l1_.present()) {
      sort_by_sm(chunk, options_.sms, *to_l1_);
      if (l1_stacks_) {
        l1_stacks_->find(chunk.l1, {chunk.sm_begin.begin(), chunk.sm_begin.end()}, chunk.l1_distances);
      }
      tbb::parallel_for(std::size_t{0}, sms_.size(), [&](std::size_t sm) {
        if (chunk.sm_begin[sm] != chunk.sm_begin[sm + 1]) {
          run_l1(chunk, sm);
        }
      });
    }
    if (l1_needed_below()) {
      sum_counts(chunk.l2_begin);
      chunk.l2.resize(chunk.l2_begin.back());
      tbb::parallel_for(std::size_t{0}, sms_.size(), [&](std::size_t sm) {
        if (chunk.sm_begin[sm] != chunk.sm_begin[sm + 1]) {
          send_down(chunk, sm);
        }
      });
    } else {
      send_all(chunk);
    }
  }

  void run_l1(Chunk& chunk, std::size_t number) {
    Sm& sm = sms_[number];
    if (!sm.cache) {
      sm.cache.emplace(l1_);
    }
    const std::span<const std::uint32_t> rows = chunk.rows_of(number);
    const std::size_t begin = chunk.sm_begin[number];
    CacheUnit& cache = *sm.cache;
    cache.access(std::span(chunk.l1).subspan(begin, rows.size()),
                 l1_stacks_ ? std::span(chunk.l1_distances).subspan(begin, rows.size()) : std::span<std::uint32_t>());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      sm.tallies[static_cast<std::size_t>(chunk.kinds[begin + k])].add(cache.access(k));
    }
    if (!sm.distances.empty()) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        sm.distances[static_cast<std::size_t>(chunk.kinds[begin + k])].add(cache.distances()[k], 1);
      }
    }
    if (element_distances_) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        chunk.l1_distance_of[rows[k]] = cache.distances()[k];
      }
    }
    if (l1_.evictions) {
      cache.log_evictions([&](std::size_t k) { return chunk.kinds[begin + k]; });
    }
    if (cache.exact()) {
      for (const DownAccess& access : cache.down()) {
        add_traffic(access, sm.traffic[static_cast<std::size_t>(chunk.kinds[begin + access.cause])]);
      }
    } else {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        sm.tallies[static_cast<std::size_t>(chunk.kinds[begin + k])].add_filled(cache.filled(k));
      }
    }
    if (wants_requests()) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        chunk.outcomes[rows[k]].l1_hit = cache.hit(k);
      }
    }
    if (l1_needed_below()) {
      for (const DownAccess& access : cache.down()) {
        std::uint32_t& count = chunk.l2_begin[rows[access.cause]];
        to_l2_->each(access.line, access.sectors, [&](std::uint64_t, std::uint8_t) { ++count; });
      }
    }
  }

  void send_down(Chunk& chunk, std::size_t number) {
    const std::span<const std::uint32_t> rows = chunk.rows_of(number);
    std::uint32_t last = std::numeric_limits<std::uint32_t>::max();
    std::size_t place = 0;
    for (const DownAccess& access : sms_[number].cache->down()) {
      if (access.cause != last) {
        last = access.cause;
        place = chunk.l2_begin[rows[last]];
      }
      to_l2_->each(access.line, access.sectors, [&](std::uint64_t line, std::uint8_t sectors) {
        chunk.l2[place++] = {line, sectors, access.store};
      });
    }
  }

  void send_all(Chunk& chunk) const {
    chunk.l2.clear();
    for (std::size_t i = 0; i < chunk.transactions.size(); ++i) {
      const Transaction& transaction = chunk.transactions[i];
      to_l2_->each(transaction.line, transaction.sectors, [&](std::uint64_t line, std::uint8_t sectors) {
        chunk.l2.push_back({line, sectors, (transaction.flags & kStore) != 0});
      });
      chunk.l2_begin[i + 1] = static_cast<std::uint32_t>(chunk.l2.size());
    }
  }

  // L2, DRAM, elements, pixels.

  void lower(Chunk& chunk) {
    const bool requests = wants_requests();
    TransactionOutcome nobodys;
    const auto outcome_of = [&](std::size_t i) -> TransactionOutcome& {
      return requests ? chunk.outcomes[i] : nobodys;
    };
    if (l2_.present()) {
      run_l2(chunk, outcome_of);
    } else {
      for (std::size_t i = 0; i < chunk.transactions.size(); ++i) {
        for (std::uint32_t k = chunk.l2_begin[i]; k < chunk.l2_begin[i + 1]; ++k) {
          to_memory(outcome_of(i), chunk.l2[k], kOne);
        }
      }
    }
    window_read_ += dram_read_ / kOne;
    dram_read_ %= kOne;
    tbb::parallel_invoke(
        [&] {
          if (elements_) {
            elements_->add(chunk.transactions, chunk.requests, chunk.outcomes, chunk.first_request);
          }
        },
        [&] {
          if (element_distances_) {
            element_distances_->add(chunk.transactions, chunk.requests,
                                    {chunk.l1_distance_of, chunk.l2_begin,
                                     l2_cache_ ? l2_cache_->distances() : std::span<const std::uint32_t>()});
          }
        },
        [&] {
          if (pixels_) {
            pixels_->add(chunk.transactions, chunk.requests, chunk.outcomes, chunk.first_request);
          }
        });
  }

  /// A load is fetched with this probability (fixed point); a store is always written.
  void to_memory(TransactionOutcome& outcome, const LineAccess& access, std::uint64_t probability) {
    const std::uint64_t bytes = sector_count(access.sectors) * memory_sector_;
    if (access.store) {
      dram_write_ += bytes;
    } else {
      dram_read_ += probability * bytes;
      outcome.fetched += probability * bytes;
    }
  }

  template <class OutcomeOf>
  void run_l2(Chunk& chunk, const OutcomeOf& outcome_of) {
    CacheUnit& cache = *l2_cache_;
    const bool exact = cache.exact();
    cache.access(chunk.l2, l2_stacks_ ? std::span(chunk.l2_distances) : std::span<std::uint32_t>());
    const std::span<const DownAccess> all_down = cache.down();
    auto down = all_down.begin();
    if (l2_.evictions) {
      std::size_t i = 0;  // accesses ascend
      cache.log_evictions([&](std::size_t k) {
        while (chunk.l2_begin[i + 1] <= k) {
          ++i;
        }
        return chunk.transactions[i].kind;
      });
    }
    for (std::size_t i = 0; i < chunk.transactions.size(); ++i) {
      const std::uint32_t begin = chunk.l2_begin[i];
      const std::uint32_t end = chunk.l2_begin[i + 1];
      if (begin == end) {
        continue;
      }
      const std::uint16_t sm = chunk.transactions[i].sm;
      const auto kind = static_cast<std::size_t>(chunk.transactions[i].kind);
      TransactionOutcome& outcome = outcome_of(i);
      outcome.l2_requests = end - begin;
      l2_accesses_of_requests_ += std::uint64_t{end - begin} * chunk.transactions[i].lanes;
      check_accesses(l2_accesses_of_requests_, options_);
      for (std::uint32_t k = begin; k < end; ++k) {
        const Tally::Access access = cache.access(k);
        outcome.l2_hits += access.hit;
        l2_tallies_[kind].add(access);
        l2_sm_tallies_[sm].add(access);
        if (!l2_distances_.empty()) {
          l2_distances_[kind].add(cache.distances()[k], 1);
        }
        if (!exact) {
          l2_tallies_[kind].add_filled(cache.filled(k));
          l2_sm_tallies_[sm].add_filled(cache.filled(k));
          to_memory(outcome, chunk.l2[k], kOne - access.hit);
        }
      }
      for (; down != all_down.end() && down->cause < end; ++down) {
        add_traffic(*down, l2_traffic_[kind]);
        add_traffic(*down, l2_sm_traffic_[sm]);
        to_memory(outcome, {down->line, down->sectors, down->store}, kOne);
      }
    }
  }

  // Results.

  void finish_levels() {
    take_distances();
    if (element_distances_) {
      for (std::size_t level = 0; level < kLevels; ++level) {
        result_.levels[level].request_distances = element_distances_->all()[level];
      }
    }
    LevelResult& upper = result_.levels[kL1];
    upper.geometry = l1_.geometry;
    upper.model = l1_.spec;
    for (const Sm& sm : sms_) {
      if (sm.cache) {
        upper.counts += sm.cache->counts();
        upper.histogram.merge(sm.cache->histogram());
        merge_parts(upper.parts, sm.cache->parts());
        if (l1_.evictions) {
          merge(upper.evictions, sm.cache->eviction_matrix());
        }
        ++upper.caches;
      }
    }
    if (l1_stacks_) {
      for (const ReuseHistogram& histogram : l1_stacks_->histograms()) {
        upper.histogram.merge(histogram);
      }
    }
    LevelResult& lower = result_.levels[kL2];
    lower.geometry = l2_.geometry;
    lower.model = l2_.spec;
    if (l2_cache_) {
      lower.counts = l2_cache_->counts();
      lower.histogram = l2_stacks_ ? l2_stacks_->histograms().front() : l2_cache_->histogram();
      merge_parts(lower.parts, l2_cache_->parts());
      lower.caches = lower.counts.accesses == 0 ? 0 : 1;
      if (l2_.evictions) {
        lower.evictions = l2_cache_->eviction_matrix();
      }
    }
    if (l1_.engine != nullptr || l2_.engine != nullptr) {
      result_.reuse_engine = engine_.spec;
      result_.reuse_weight = engine_.model->weight();
    }
  }

  AnalysisOptions options_;
  ReuseEngines::Created engine_;
  LevelModels l1_, l2_;
  std::optional<LineSplit> to_l1_, to_l2_;
  std::uint32_t sector_mask_ = 0;    ///< all sectors of a line of the stream
  std::uint64_t last_line_ = 0;      ///< of the address space
  std::uint32_t memory_sector_ = 0;  ///< of DRAM traffic

  std::vector<Sm> sms_;
  std::optional<CacheUnit> l2_cache_;
  std::optional<ElementTable> elements_;
  std::optional<PixelTable> pixels_;
  std::optional<ElementDistanceTable> element_distances_;

  std::uint64_t l2_accesses_of_requests_ = 0;  ///< upper bound: at least as many as accesses

  // For the current window.
  WindowSums window_;
  std::array<Tally, kDataKinds> l2_tallies_;
  KindSums l2_traffic_{};                     ///< of an exact model
  std::vector<ReuseHistogram> l2_distances_;  ///< by kind, as Sm::distances
  std::vector<Tally> l2_sm_tallies_;
  std::vector<LevelSums> l2_sm_traffic_;
  std::uint64_t window_read_ = 0;  ///< whole bytes of finished chunks
  std::uint64_t dram_read_ = 0;    ///< and the remainder, fixed point
  std::uint64_t dram_write_ = 0;

  std::optional<ChunkDistances> l1_stacks_, l2_stacks_;  ///< if a device computes distances
  std::size_t chunk_size_ = kChunk;
  std::array<Chunk, 2> chunks_;
  std::size_t current_ = 0;
  tbb::task_group group_;
  std::uint64_t request_ = 0;  ///< number of the next request
  std::uint64_t next_limit_ = 0;
  AnalysisResult result_;
};

Analysis::Analysis(const AnalysisOptions& options) : impl_(std::make_unique<Impl>(options)) {}

Analysis::~Analysis() = default;

void Analysis::take(const TransactionBlock& block) {
  impl_->take(block);
}

AnalysisResult Analysis::finish() {
  return impl_->finish();
}

}  // namespace rayreplay::memory
