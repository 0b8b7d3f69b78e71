// Where the streams of warps come from.
//
// Contract: a launch's work is cut into items: the threads that one warp runs from start to end. `generate` gives the
// streams of some items, in any order and any number of times, always the same; in parallel inside. Items are made when
// they are needed and forgotten when they have run, so that a stream larger than memory works.
#pragma once

#include <cstdint>
#include <span>

#include "sim/memory/allocations.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::memory {

class WarpSource {
 public:
  virtual ~WarpSource() = default;
  [[nodiscard]] virtual std::uint32_t items() const = 0;
  [[nodiscard]] virtual const Allocations& allocations() const = 0;
  [[nodiscard]] virtual const CoalesceOptions& coalescing() const = 0;
  /// streams[i] is replaced by that of items[i], with no more memory than it needs: many are kept at a time.
  virtual void generate(std::span<const std::uint32_t> items, std::span<WarpStream> streams) = 0;
};

}  // namespace rayreplay::memory
