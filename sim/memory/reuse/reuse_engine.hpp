// Reuse distances: engines (MODELS.md §11; Ding and Zhong, PLDI 2003).
//
// Contract: the reuse distance of an access is the number of distinct lines touched since the last access to the same
// line; kInfinite the first time. An engine's stack is one LRU stack: `distances` takes its next accesses and writes
// one distance each. Calls may split a stream anywhere. Lines are any 64-bit numbers; some engines are fastest with
// small dense ones. All exact engines give the same numbers. Distances are below 2^32 − 1; Resource for more live
// lines. `splay` is the reference. An approximate engine has `exact` false, says in its text what it computes, and
// estimates its error by the parts of its sample. Deterministic for any number of threads. To add one: a .cpp file in
// sim/memory/reuse/engines/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/registry.hpp"

namespace rayreplay::memory {

class ReuseHistogram;

inline constexpr std::uint32_t kInfinite = 0xFFFF'FFFFU;

/// One LRU stack.
class ReuseStack {
 public:
  virtual ~ReuseStack() = default;
  /// `out` has the size of `lines`. Approximate engines write kNotSampled for accesses that they skip.
  virtual void distances(std::span<const std::uint64_t> lines, std::span<std::uint32_t> out) = 0;
  [[nodiscard]] virtual std::uint64_t live_lines()
      const = 0;  ///< distinct lines so far (approximate engines: estimate)
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;  ///< held now
  /// Approximate engines: histograms of random parts of the sample's lines, each a sample by itself, for the error
  /// estimate (sample_error.hpp). Every access counts in all parts, as kNotSampled if it is not of the part. Empty:
  /// exact, or not requested. Valid until the next call of any function.
  [[nodiscard]] virtual std::span<const ReuseHistogram> parts() const;
};

/// Approximate engines only: the access was not sampled; its distance is unknown.
inline constexpr std::uint32_t kNotSampled = 0xFFFF'FFFEU;

class ReuseEngine {
 public:
  static constexpr const char* kModelKind = "reuse engine";
  virtual ~ReuseEngine() = default;
  [[nodiscard]] virtual std::unique_ptr<ReuseStack> make() const = 0;
  /// False: the engine gives distances of a sample of the lines only.
  [[nodiscard]] virtual bool exact() const {
    return true;
  }
  /// Approximate engines: accesses that one sampled access represents.
  [[nodiscard]] virtual double weight() const {
    return 1;
  }
};

using ReuseEngines = Registry<ReuseEngine>;

}  // namespace rayreplay::memory
