// Reuse distances: engines (MODELS.md §11; Ding and Zhong, PLDI 2003).
//
// Contract: the reuse distance of an access is the number of distinct lines touched since the last access to the same
// line; kInfinite the first time. An engine is one LRU stack: `distances` takes the next accesses of it and writes one
// distance each. Calls may cut a stream anywhere: the result is the same. Lines are any 64-bit numbers; small dense
// ones are fastest where an engine says so. All exact engines give the same numbers. Distances are below 2^32 − 1;
// Resource when more lines are live. `splay` is the reference. An approximate engine says so by `exact`, what it
// means in its text, and how far it may be off by the parts of its sample. Deterministic whatever the number of
// threads. To add one: a .cpp file in sim/memory/reuse/engines/.
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
  [[nodiscard]] virtual std::uint64_t live_lines() const = 0;    ///< distinct so far (approximate: estimated)
  [[nodiscard]] virtual std::uint64_t memory_bytes() const = 0;  ///< held now
  /// Of approximate engines: the sample's lines split at random into parts, each a sample by itself: what the error is
  /// made of (sample_error.hpp). Parts count every access, with kNotSampled where it is not of theirs. Empty: exact, or
  /// not asked for. Valid until the next call of anything.
  [[nodiscard]] virtual std::span<const ReuseHistogram> parts() const;
};

/// Only of approximate engines: this access was not sampled, its distance is unknown.
inline constexpr std::uint32_t kNotSampled = 0xFFFF'FFFEU;

class ReuseEngine {
 public:
  static constexpr const char* kModelKind = "reuse engine";
  virtual ~ReuseEngine() = default;
  [[nodiscard]] virtual std::unique_ptr<ReuseStack> make() const = 0;
  /// Exact engines: true. Others give distances of a sample of the lines alone.
  [[nodiscard]] virtual bool exact() const {
    return true;
  }
  /// Of approximate engines: one sampled access stands for so many.
  [[nodiscard]] virtual double weight() const {
    return 1;
  }
};

using ReuseEngines = Registry<ReuseEngine>;

}  // namespace rayreplay::memory
