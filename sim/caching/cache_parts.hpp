// Shared parts of cache analyses. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/caching/cache.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::experiment {

[[nodiscard]] memory::CacheGeometry l1_of(const machine::Machine& machine);
[[nodiscard]] memory::CacheGeometry l2_of(const machine::Machine& machine);

/// Upper limit of the sizes of payload, shader record, pixel and load, in bytes.
inline constexpr std::uint32_t kMaxSize = 4096;

/// True if transactions need their lanes' requests.
[[nodiscard]] bool wants_requests(const CacheOptions& options);

/// The spec with every parameter. Defaults for stores: an L1 writes through without allocation (write=through,
/// allocate=false, as in GPUs); lower levels write back on eviction (the models' own defaults).
[[nodiscard]] std::string resolved_model(const std::string& spec, std::size_t level);

/// Starts of windows 1 …: floor(i · requests / windows).
[[nodiscard]] std::vector<std::uint64_t> window_limits(std::uint64_t requests, std::uint32_t windows);

/// Forwards a stream; Usage as soon as its time windows of `window_requests` requests are more than kMaxWindows.
class WindowGuard : public memory::TransactionSink {
 public:
  /// 0 requests: no limit.
  WindowGuard(std::uint64_t window_requests, memory::TransactionSink& inner);
  void take(const memory::TransactionBlock& block) override;

 private:
  std::uint64_t window_requests_;
  std::uint64_t left_;  ///< requests until the limit
  memory::TransactionSink* inner_;
};

/// All options except the windows' limits. `pixels`: number of pixels of the frame buffer.
[[nodiscard]] memory::AnalysisOptions analysis_of(const CacheOptions& options, const CacheResult& result,
                                                  const memory::CoalesceOptions& coalescing, std::uint64_t pixels);

}  // namespace rayreplay::experiment
