// A sink that works in parallel with the generator of the stream.
//
// Contract: blocks reach `inner` unchanged, in order, one at a time: results do not depend on the overlap. One block is
// processed while the next is generated (memory: two blocks). The work is a oneTBB task, so limits on threads hold:
// with one thread it runs when the next block arrives. An exception of `inner` is rethrown by the next `take` or by
// `finish`, which waits for the last block.
#pragma once

#include <array>

#include <tbb/task_group.h>

#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::experiment {

class OverlappedSink : public memory::TransactionSink {
 public:
  explicit OverlappedSink(memory::TransactionSink& inner) : inner_(&inner) {}
  OverlappedSink(const OverlappedSink&) = delete;
  OverlappedSink& operator=(const OverlappedSink&) = delete;
  ~OverlappedSink() noexcept override;

  void take(const memory::TransactionBlock& block) override;
  void finish();
  /// Wall clock of `inner`.
  [[nodiscard]] double seconds() const {
    return seconds_;
  }

 private:
  memory::TransactionSink* inner_;
  std::array<memory::TransactionBlock, 2> blocks_;
  std::size_t next_ = 0;
  double seconds_ = 0;
  tbb::task_group tasks_;
};

}  // namespace rayreplay::experiment
