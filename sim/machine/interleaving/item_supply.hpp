// The next items of each queue, made ahead of time and in batches.
//
// Contract: `take` hands out the items of a queue in its order, each once, with its stream. Streams are moved: what was
// handed out is no longer held here, and what comes in is freed. A queue that has run dry has all queues filled up with
// a call of the source, so that it has many items to make in parallel. Memory: the streams made and not handed out.
// Errors: Internal for streams that break their contract; Usage when raw instructions are wanted and missing.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/work_distribution.hpp"
#include "sim/memory/streams/warp_source.hpp"

namespace rayreplay::machine {

class ItemSupply {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  /// `ahead`: items made ahead, of all queues together, at least one a queue. Source and plan must outlive it.
  ItemSupply(memory::WarpSource& source, const WorkPlan& plan, std::size_t ahead, bool raw);

  /// Whether all queues are empty.
  [[nodiscard]] bool exhausted() const {
    return left_ == 0;
  }
  /// The next item, its stream in `stream`; kNone when there is none.
  std::uint32_t take(std::size_t queue, memory::WarpStream& stream);

 private:
  struct Queue {
    std::uint64_t made = 0;   ///< places of the plan's queue below it are made …
    std::uint64_t given = 0;  ///< … and below it handed out
  };

  void refill();
  void check(const memory::WarpStream& stream, std::uint32_t item) const;
  [[nodiscard]] memory::WarpStream& kept(std::size_t queue, std::uint64_t place) {
    return kept_[queue * depth_ + place % depth_];
  }

  memory::WarpSource* source_;
  const WorkPlan* plan_;
  std::size_t depth_;  ///< items ahead of a queue
  bool raw_;
  std::uint64_t left_;  ///< items not handed out
  std::vector<Queue> queues_;
  std::vector<memory::WarpStream> kept_;
  std::vector<std::uint32_t> items_;         ///< of a refill
  std::vector<memory::WarpStream> streams_;  ///< of a refill
};

}  // namespace rayreplay::machine
