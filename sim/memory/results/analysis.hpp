// A stream of transactions through a cache hierarchy: hit rates by level, kind of data, SM, time window, element,
// pixel.
//
// Contract: a sink; blocks come in order, of any size: results do not depend on how the stream is cut. Each SM has an
// L1 of `l1` (none where bytes is 0), all share one L2. Accesses of an L1 are the transactions of its SM. The L2 gets,
// by `l2_feed`, either every transaction (as published) or what the L1s ask for: the fills and stores of an exact L1
// (`down`); where the L1 model is not exact, an exact set-associative LRU of the same geometry decides what goes down.
// An access to the L2 is one of its lines: a transaction may become several. The model of each level gives
// probabilities; `distances` (on unless turned off) gives histograms and the split of misses, by an engine of
// sim/memory/reuse. DRAM traffic: sectors that the L2 fetches and writes (exact L2); for models with
// probabilities Σ (1 − p) · sectors touched of loads, rounded to the nearest byte at the end, and stores as they come.
// Requests of elements and pixels get their transaction's L1 probability; each request counts as many L2 requests as
// its transaction's L2 accesses, each with its probability. Parallel over SMs; same bytes for any number of threads.
// Memory: the caches, the reuse stacks, 48 bytes an element and 72 a pixel when wanted. Errors: Usage for geometries
// and specs that do not fit, or an L2 line smaller than the transactions' sectors.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/results/sums.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::memory {

enum class L2Feed : std::uint8_t { All, Misses };

struct AnalysisOptions {
  std::uint32_t sms = 1;
  CacheGeometry l1, l2;  ///< bytes 0: none
  std::string l1_model = "lru";
  std::string l2_model = "lru";
  L2Feed l2_feed = L2Feed::Misses;
  std::string reuse_engine = "bitmap";
  bool distances = true;  ///< histograms, curves and the split of misses; models that need distances get them anyway
  CoalesceOptions coalescing;  ///< of the stream: what `line` and `sectors` mean
  /// A new window begins with request number limit: ascending, the first window starts at 0. Empty: one window.
  std::vector<std::uint64_t> window_limits;
  std::uint64_t window_requests = 0;  ///< … or every so many requests; 0: not
  bool elements = false;              ///< blocks must have requests
  std::uint32_t element_count = 0;
  std::uint64_t pixels = 0;  ///< threads of the launch; 0: no sums by pixel
  /// Called at the end of each window with its elements that were touched, ascending. May be null.
  std::function<void(std::uint32_t window, const std::vector<ElementRow>& rows)> take_elements;
};

struct LevelResult {
  CacheGeometry geometry;
  std::string model;         ///< resolved spec
  CacheCounts counts;        ///< summed over the level's caches
  ReuseHistogram histogram;  ///< summed over the level's caches
  std::uint64_t caches = 0;  ///< of them with an access
};

struct AnalysisResult {
  std::array<LevelResult, kLevels> levels;  ///< geometry.bytes 0: there is none
  std::vector<WindowSums> windows;          ///< at least one
  WindowSums total;                         ///< merged
  std::uint64_t transactions = 0, requests = 0;
  std::uint64_t unallocated = 0;  ///< requests outside every allocation
  std::vector<PixelSums> pixels;
  std::string reuse_engine;  ///< resolved spec
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
