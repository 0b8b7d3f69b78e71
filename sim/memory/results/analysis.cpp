#include "sim/memory/results/analysis.hpp"

#include <tbb/parallel_invoke.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/accelerator.hpp"
#include "base/error.hpp"
#include "sim/memory/results/analysis_checks.hpp"
#include "sim/memory/results/chunk.hpp"
#include "sim/memory/results/element_distances.hpp"
#include "sim/memory/results/lower_level.hpp"
#include "sim/memory/results/request_tables.hpp"
#include "sim/memory/results/upper_level.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kMaxLanes = 64;

[[noreturn]] void broken(const char* what) {
  throw Error(ErrorKind::Internal, {std::string("memory transactions break their contract: ") + what, "", "", "", ""});
}

/// The device that computes reuse distances; null: none does. Notes why it does not.
Accelerator* distances_device(const AnalysisOptions& options, const ReuseEngine& engine, bool wanted) {
  Accelerator* const accelerator = options.accelerator;
  if (accelerator == nullptr || !wanted) {
    return nullptr;
  }
  if (!accelerator->has_device() || !engine.exact()) {
    accelerator->note_cpu("reuse distances",
                          accelerator->has_device() ? "the reuse engine samples" : "the device was lost");
    return nullptr;
  }
  return accelerator;
}

}  // namespace

/// Cuts the stream into windows and chunks, and runs the levels over chunks: the L1s of one beside the L2 of the one
/// before.
class Analysis::Impl {
 public:
  explicit Impl(const AnalysisOptions& options)
      : options_(options), engine_(ReuseEngines::create(options.reuse_engine)) {
    make_levels();
    const std::uint32_t line = options_.coalescing.line_bytes;
    sector_mask_ = (1U << (line / options_.coalescing.sector_bytes)) - 1;
    last_line_ = std::numeric_limits<std::uint64_t>::max() / line;
    if (options.histograms.elements) {
      element_distances_.emplace(options.element_count);
    }
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

  void make_levels() {
    LevelModels l1 = make_level(options_.l1, options_.l1_model, "L1", engine_.model.get(), options_.distances);
    LevelModels l2 = make_level(options_.l2, options_.l2_model, "L2", engine_.model.get(), options_.distances);
    check_options(options_, l1, l2);
    finds_distances_ = l1.engine != nullptr || l2.engine != nullptr;
    Accelerator* const device = distances_device(options_, *engine_.model, finds_distances_);
    if (device != nullptr) {
      chunk_size_ = wants_requests() ? kDeviceChunkWithRequests : kDeviceChunk;
    }
    const bool l1_needed_below = l1.present() && (options_.l2_feed == L2Feed::Misses || !l2.present());
    const auto below = l2.present() ? std::optional(BelowSizes{l2.geometry.line_bytes, l2.geometry.sector()})
                                    : std::optional<BelowSizes>();
    upper_.emplace(options_, std::move(l1), l1_needed_below, below, device);
    lower_.emplace(options_, std::move(l2), upper_->memory_sector(), device);
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
    if (wants_requests()) {
      chunk.outcomes.assign(chunk.transactions.size(), {});
    }
    upper_->run(chunk);
    lower_->find_distances(chunk);
    group_.wait();
    group_.run([this, &chunk] {
      lower_->run(chunk);
      add_requests(chunk);
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
    upper_->end_window(window_);
    lower_->end_window(window_);
    if (options_.histograms.windows) {
      for (std::size_t level = 0; level < kLevels; ++level) {
        result_.levels[level].by_window.emplace_back();
      }
      move_distances();
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

  void move_distances() {
    upper_->move_distances(result_.levels[kL1]);
    lower_->move_distances(result_.levels[kL2]);
  }

  /// Sums by element and pixel of a chunk that went through both levels.
  void add_requests(const Chunk& chunk) {
    tbb::parallel_invoke(
        [&] {
          if (elements_) {
            elements_->add(chunk.transactions, chunk.requests, chunk.outcomes, chunk.first_request);
          }
        },
        [&] {
          if (element_distances_) {
            element_distances_->add(chunk.transactions, chunk.requests,
                                    {chunk.l1_distance_of, chunk.l2_begin, lower_->distances()});
          }
        },
        [&] {
          if (pixels_) {
            pixels_->add(chunk.transactions, chunk.requests, chunk.outcomes, chunk.first_request);
          }
        });
  }

  void finish_levels() {
    move_distances();
    if (element_distances_) {
      for (std::size_t level = 0; level < kLevels; ++level) {
        result_.levels[level].request_distances = element_distances_->all()[level];
      }
    }
    upper_->finish(result_.levels[kL1]);
    lower_->finish(result_.levels[kL2]);
    if (finds_distances_) {
      result_.reuse_engine = engine_.spec;
      result_.reuse_weight = engine_.model->weight();
    }
  }

  AnalysisOptions options_;
  ReuseEngines::Created engine_;
  bool finds_distances_ = false;     ///< of any level
  std::uint32_t sector_mask_ = 0;    ///< all sectors of a line of the stream
  std::uint64_t last_line_ = 0;      ///< of the address space
  std::optional<UpperLevel> upper_;  ///< always there
  std::optional<LowerLevel> lower_;  ///< always there
  std::optional<ElementTable> elements_;
  std::optional<PixelTable> pixels_;
  std::optional<ElementDistanceTable> element_distances_;

  WindowSums window_;  ///< the current one
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
