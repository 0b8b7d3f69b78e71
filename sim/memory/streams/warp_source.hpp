// Sources of the streams of warps.
//
// Contract: a launch's work is divided into items: the threads that one warp runs from start to end. `generate` returns
// the streams of some items, in any order and any number of times, always equal; it is parallel inside. Items are
// generated on demand and freed after they have run, so streams may be larger than memory. Items that form during the
// run (item_segments.hpp) have streams from then until they end. The end of such an item may depend on when and where
// it started: `complete`, called once after its start, appends that to its stream.
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
  /// Replaces streams[i] by that of items[i], without spare capacity, because many are held at a time.
  virtual void generate(std::span<const std::uint32_t> items, std::span<WarpStream> streams) = 0;
  virtual void complete(std::uint32_t /*item*/, WarpStream& /*stream*/) {}
};

}  // namespace rayreplay::memory
