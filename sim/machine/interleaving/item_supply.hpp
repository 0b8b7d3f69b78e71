// The next items of each queue, generated ahead in batches.
//
// Contract: `take` returns the items of a queue in order, each once, with its stream. Streams are moved out; the stream
// passed in is freed. An empty queue triggers one call of the source that refills all queues, so that many items are
// generated in parallel. Memory: the streams generated and not taken. Errors: Internal for streams that break their
// contract; Usage for missing raw instructions.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/work_distribution.hpp"
#include "sim/memory/streams/warp_source.hpp"

namespace rayreplay::machine {

class ItemSupply {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFFU;

  /// `ahead`: items generated ahead over all queues, at least one a queue. Source and plan must outlive this object.
  ItemSupply(memory::WarpSource& source, const WorkPlan& plan, std::size_t ahead, bool raw);

  /// True if all queues are empty.
  [[nodiscard]] bool exhausted() const {
    return left_ == 0;
  }
  /// The next item, its stream in `stream`; kNone if there is none.
  std::uint32_t take(std::size_t queue, memory::WarpStream& stream);

 private:
  struct Queue {
    std::uint64_t made = 0;   ///< items of the plan's queue below this are generated …
    std::uint64_t given = 0;  ///< … and below this taken
  };

  void refill();
  void check(const memory::WarpStream& stream, std::uint32_t item) const;
  [[nodiscard]] memory::WarpStream& kept(std::size_t queue, std::uint64_t place) {
    return kept_[queue * depth_ + place % depth_];
  }

  memory::WarpSource* source_;
  const WorkPlan* plan_;
  std::size_t depth_;  ///< items generated ahead for a queue
  bool raw_;
  std::uint64_t left_;  ///< items not taken
  std::vector<Queue> queues_;
  std::vector<memory::WarpStream> kept_;
  std::vector<std::uint32_t> items_;         ///< of a refill
  std::vector<memory::WarpStream> streams_;  ///< of a refill
};

}  // namespace rayreplay::machine
