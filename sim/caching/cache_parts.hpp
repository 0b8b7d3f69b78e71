// What experiments about caches share. Internal to this room.
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

/// Largest payload, shader record, pixel and load of the options.
inline constexpr std::uint32_t kMostSize = 4096;

/// Whether transactions carry their lanes' requests.
[[nodiscard]] bool wants_requests(const CacheOptions& options);

/// The spec with every parameter. Where it leaves them open, stores go through an L1 and take no line there
/// (write=through, allocate=false, as in GPUs); below, they stay until their line is evicted (the models' own
/// defaults).
[[nodiscard]] std::string resolved_model(const std::string& spec, std::size_t level);

/// Where windows 1 … begin: floor(i · requests / windows).
[[nodiscard]] std::vector<std::uint64_t> window_limits(std::uint64_t requests, std::uint32_t windows);

/// Passes a stream on, and refuses it (Usage) where windows of so many requests become more than kMostWindows.
class WindowGuard : public memory::TransactionSink {
 public:
  /// 0 requests: any stream passes.
  WindowGuard(std::uint64_t window_requests, memory::TransactionSink& inner);
  void take(const memory::TransactionBlock& block) override;

 private:
  std::uint64_t window_requests_;
  std::uint64_t left_;  ///< requests that fit
  memory::TransactionSink* inner_;
};

/// All but the windows' limits. `pixels`: of the frame buffer.
[[nodiscard]] memory::AnalysisOptions analysis_of(const CacheOptions& options, const CacheResult& result,
                                                  const memory::CoalesceOptions& coalescing, std::uint64_t pixels);

}  // namespace rayreplay::experiment
