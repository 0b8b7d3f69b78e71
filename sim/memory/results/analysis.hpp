// A stream of transactions through a cache hierarchy: hit rates by level, kind of data, SM, time window, element,
// pixel.
//
// Contract: a sink; blocks come in order, of any size: results do not depend on how the stream is cut. Each SM has an
// L1 of `l1` (none where bytes is 0), whose lines are the coalescer's; all share one L2. Accesses of an L1 are the
// transactions of its SM, in order. The L2 gets, by `l2_feed`, either every transaction (as published) or what the L1s
// ask for: the fills and stores of an exact L1 (`down`); where the L1 model is not exact, an exact set-associative LRU
// of the same geometry, write-through without allocation, decides what goes down. Without an L1 it gets every
// transaction. An access to the L2 is one of its lines, with the sectors of it that hold bytes asked for: a transaction
// may become none or several, in the order of what the L1 asks for, then of lines; they count for the transaction's
// kind and SM, dirty sectors that it evicts too. The model of each level gives probabilities; `distances` (on unless
// turned off) gives histograms and the split of misses, by an engine of sim/memory/reuse.
//
// DRAM traffic is what the last level asks for: of an exact L2 the sectors that it fetches and writes; of an L2 that
// knows probabilities Σ (1 − p) · bytes of the sectors touched by loads, rounded to the nearest byte for each window,
// and the sectors of stores as they come; without an L2 what would have come to it (misses, whatever `l2_feed` says).
// Dirty sectors left in caches at the end are not written.
//
// Requests are numbered through the stream, a transaction's one after the other. A transaction belongs to the window of
// its first request, number r: the window is the number of limits that are not above r; windows without a transaction
// have no requests. With `window_limits` there is one window more than limits, with `window_requests` as many as were
// begun, at least one. Requests of elements and pixels get their transaction's L1 probability (0 without an L1); each
// request counts as many L2 requests as its transaction's L2 accesses, each with its probability. Requests without an
// element, or without a thread, are in no row.
//
// With an `accelerator` that has a device the distances of an exact engine, whichever it is, come from there
// (reuse/reuse_stacks.hpp), for many transactions at a time; the caches themselves stay on the processor.
//
// Parallel over SMs, the L2 beside the next transactions' L1s; same bytes for any number of threads. `take_elements` is
// called from `take` and `finish`. Memory: the caches, the reuse stacks, 48 bytes an element (of pages of 4096 that are
// touched) and 72 a pixel when wanted, 30 MiB of buffers and, for those sums, 8 bytes for each request of 2^18
// transactions (with a device 2 GiB, and for those sums 2^21 transactions); 4 KiB an SM, 192 bytes an SM and window.
// Sums of traffic (`filled`, `written`) are the level's model's own, also where an exact cache decides what goes down.
//
// Errors: Resource for streams whose sums would not be exact (more than `most_accesses` requests, or L2 accesses of
// requests), more than kMostPixels pixels, or windows beyond 2^24 / `sms`; Usage for geometries and specs that do not
// fit, an L1 line that is not the coalescer's, an L2 line smaller than the transactions' sectors, a model that needs
// distances with an engine that samples, limits that do not ascend; Internal for streams that break the contract of
// transactions.hpp or name SMs, elements or threads beyond what the options say.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/results/sums.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay {
class Accelerator;
}

namespace rayreplay::memory {

inline constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 28U;

enum class L2Feed : std::uint8_t { All, Misses };

struct AnalysisOptions {
  std::uint32_t sms = 1;
  CacheGeometry l1, l2;  ///< bytes 0: none
  std::string l1_model = "lru:write=through,allocate=false";
  std::string l2_model = "lru";
  L2Feed l2_feed = L2Feed::Misses;
  std::string reuse_engine = "bitmap";
  bool distances = true;  ///< histograms, curves and the split of misses; models that need distances get them anyway
  CoalesceOptions coalescing;  ///< of the stream: what `line` and `sectors` mean
  /// A new window begins with request number limit: ascending, above 0; the first window starts at 0. Empty: one
  /// window.
  std::vector<std::uint64_t> window_limits;
  std::uint64_t window_requests = 0;  ///< … or every so many requests; 0: not
  bool elements = false;              ///< blocks must have requests
  std::uint32_t element_count = 0;
  std::uint64_t pixels = 0;                     ///< threads of the launch, at most kMostPixels; 0: no sums by pixel
  std::uint64_t most_accesses = kMostAccesses;  ///< at most that
  /// Called at the end of each window, in order, with its elements that were touched, ascending. May be null.
  std::function<void(std::uint32_t window, const std::vector<ElementRow>& rows)> take_elements;
  Accelerator* accelerator = nullptr;  ///< null: the processor; must outlive the analysis
};

struct LevelResult {
  CacheGeometry geometry;
  std::string model;                  ///< resolved spec; "" where there is no such level
  CacheCounts counts;                 ///< summed over the level's caches
  ReuseHistogram histogram;           ///< summed over the level's caches; empty without distances
  std::vector<ReuseHistogram> parts;  ///< of an engine that samples, summed part by part; what the curve's standard
                                      ///< error is made of (reuse/sample_error.hpp); empty of exact ones
  std::uint64_t caches = 0;           ///< of them with an access
};

struct AnalysisResult {
  std::array<LevelResult, kLevels> levels;  ///< geometry.bytes 0: there is none
  std::vector<WindowSums> windows;          ///< at least one
  WindowSums total;                         ///< merged
  std::uint64_t transactions = 0, requests = 0;
  std::uint64_t unallocated = 0;  ///< requests outside every allocation
  std::vector<PixelSums> pixels;
  std::string reuse_engine;  ///< resolved spec; "" without distances
  double reuse_weight = 1;   ///< 1 for exact engines
};

class Analysis : public TransactionSink {
 public:
  explicit Analysis(const AnalysisOptions& options);
  ~Analysis() override;
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  void take(const TransactionBlock& block) override;
  /// Once, at the end.
  [[nodiscard]] AnalysisResult finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::memory
