// A stream of transactions through a cache hierarchy: hit rates by level, kind of data, SM, time window, element,
// pixel.
//
// Contract: a sink. Blocks come in order and may have any size; results do not depend on the cuts. Each SM has an L1 of
// geometry `l1` (0 bytes: none), whose lines are the coalescer's; all SMs share one L2. Accesses of an L1 are the
// transactions of its SM, in order. `l2_feed` selects the accesses of the L2: every transaction (as published), or the
// requests of the L1s, that is the fills and stores of an exact L1 (`down`). If the L1 model is not exact, an exact
// set-associative LRU cache of the same geometry, write-through without allocation, makes these requests. Without an L1
// the L2 gets every transaction. An L2 access is one L2 line with the sectors that hold requested bytes. A transaction
// may cause none or several, ordered by L1 request, then by line; they count for the transaction's kind and SM, and so
// do writebacks that it causes. Each level's model gives hit probabilities. `distances` (on by default) adds histograms
// and the split of misses (miss_classes.hpp), by an engine of sim/memory/reuse.
//
// DRAM traffic is the last level's requests. Exact L2: the sectors that it fetches and writes. L2 with probabilities: Σ
// (1 − p) · bytes of the sectors touched by loads, rounded to the nearest byte for each window, plus all stored
// sectors. Without an L2: the L1 misses, for any `l2_feed`. Dirty sectors left at the end are not written.
//
// Requests are numbered through the stream, transaction by transaction. A transaction belongs to the window of its
// first request r: the window is the number of limits at or below r. Windows without a transaction have no requests.
// `window_limits` gives one window more than limits, `window_requests` as many as were begun, at least one. Requests of
// elements and pixels get their transaction's L1 probability (0 without an L1). Each request counts as many L2 requests
// as its transaction has L2 accesses, each with its probability. Requests without an element, or without a thread, are
// in no row.
//
// With an `accelerator` that has a device the distances of an exact engine, whichever it is, come from there
// (reuse/reuse_stacks.hpp), for many transactions at a time; the caches themselves stay on the processor.
//
// `histograms` adds reuse distances of parts of the stream. Kinds of data, and windows, divide the accesses: for each
// level the sum of the parts' histograms is `histogram`, bin by bin. Distances by element count requests by octave
// (element_distances.hpp); their sum is `request_distances`. `evictions` adds the reasons of misses that are no first
// accesses (evictions.hpp).
//
// Parallel over SMs, and the L2 in parallel with the L1s of the next transactions; the result is the same for any
// number of threads. `take` and `finish` call `take_elements`. Memory: the caches, the reuse stacks, the classes of
// misses, 48 bytes an element (in pages of 4096 that are touched) and 72 a pixel if wanted, 30 MiB of buffers and, for
// those sums, 8 bytes for each request of 2^18 transactions (with a device 2 GiB, and 2^21 transactions); 7 KiB an SM,
// 224 bytes an SM and window; with histograms by kind or window 43 KiB for each kind of an SM, and for each window.
// Sums of traffic (`filled`, `written`) always come from the level's own model.
//
// Errors: Resource for streams whose sums would not be exact (more than `most_accesses` requests, or L2 accesses of
// requests), more than kMaxPixels pixels, windows beyond 2^24 / `sms`, or histograms of more than kMaxHistogramWindows
// windows. Usage for invalid geometries and specs, an L1 line that is not the coalescer's, an L2 line smaller than the
// transactions' sectors, a model that needs distances with a sampling engine, histograms without distances or (by
// element) without elements, evictions of a model that is not exact, limits that do not ascend. Internal for streams
// that break the contract of transactions.hpp or contain SMs, elements or threads outside the options.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/results/element_distances.hpp"
#include "sim/memory/results/evictions.hpp"
#include "sim/memory/results/sums.hpp"
#include "sim/memory/reuse/octaves.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay {
class Accelerator;
}

namespace rayreplay::memory {

inline constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 28U;

inline constexpr std::uint64_t kMaxHistogramWindows = 1024;

enum class L2Feed : std::uint8_t { All, Misses };

/// Parts of the stream with reuse-distance histograms of their own.
struct HistogramParts {
  bool kinds = false;
  bool windows = false;
  bool elements = false;  ///< by octave, over requests

  [[nodiscard]] bool any() const {
    return kinds || windows || elements;
  }
};

struct AnalysisOptions {
  std::uint32_t sms = 1;
  CacheGeometry l1, l2;  ///< bytes 0: none
  std::string l1_model = "lru:write=through,allocate=false";
  std::string l2_model = "lru";
  L2Feed l2_feed = L2Feed::Misses;
  std::string reuse_engine = "bitmap";
  bool distances = true;  ///< histograms, curves and the split of misses; computed anyway if a model needs distances
  CoalesceOptions coalescing;  ///< of the stream: what `line` and `sectors` mean
  /// First request numbers of further windows: ascending, above 0; the first window starts at 0. Empty: one window.
  std::vector<std::uint64_t> window_limits;
  std::uint64_t window_requests = 0;  ///< … or a window every so many requests; 0: off
  bool elements = false;              ///< blocks must have requests
  std::uint32_t element_count = 0;
  std::uint64_t pixels = 0;                    ///< threads of the launch, at most kMaxPixels; 0: no sums by pixel
  std::uint64_t most_accesses = kMaxAccesses;  ///< the Resource limit; at most kMaxAccesses
  /// Called at the end of each window, in order, with its touched elements, ascending. May be null.
  std::function<void(std::uint32_t window, const std::vector<ElementRow>& rows)> take_elements;
  HistogramParts histograms;
  /// Called by `finish`, with histograms by element. May be null.
  std::function<void(const std::vector<ElementDistances>& rows)> take_element_distances;
  bool evictions = false;
  Accelerator* accelerator = nullptr;  ///< null: the processor; must outlive the analysis
};

struct LevelResult {
  CacheGeometry geometry;
  std::string model;                  ///< resolved spec; "" for a missing level
  CacheCounts counts;                 ///< summed over the level's caches
  ReuseHistogram histogram;           ///< summed over the level's caches; empty without distances
  std::vector<ReuseHistogram> parts;  ///< sampling engines: histograms of the sample's parts, for the curve's standard
                                      ///< error (reuse/sample_error.hpp); empty for exact engines
  std::uint64_t caches = 0;           ///< caches with an access
  std::vector<ReuseHistogram> by_kind, by_window;  ///< kDataKinds, and all windows; empty unless wanted
  OctaveCounts request_distances{};                ///< of all requests; zeros unless wanted by element
  EvictionMatrix evictions{};                      ///< zeros unless wanted
};

struct AnalysisResult {
  std::array<LevelResult, kLevels> levels;  ///< geometry.bytes 0: no such level
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
  /// Called once, at the end.
  [[nodiscard]] AnalysisResult finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rayreplay::memory
