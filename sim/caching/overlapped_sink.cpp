#include "sim/caching/overlapped_sink.hpp"

#include "base/stopwatch.hpp"

namespace rayreplay::experiment {

OverlappedSink::~OverlappedSink() noexcept {
  try {
    tasks_.wait();
  } catch (...) {
    // The run failed with another error, which is already being thrown.
    return;
  }
}

void OverlappedSink::take(const memory::TransactionBlock& block) {
  memory::TransactionBlock& copy = blocks_[next_];
  next_ = 1 - next_;
  copy.transactions.assign(block.transactions.begin(), block.transactions.end());
  copy.requests.assign(block.requests.begin(), block.requests.end());
  copy.cycles.assign(block.cycles.begin(), block.cycles.end());
  tasks_.wait();
  tasks_.run([this, &copy] {
    const Stopwatch watch;
    inner_->take(copy);
    seconds_ += watch.seconds();
  });
}

void OverlappedSink::finish() {
  tasks_.wait();
}

}  // namespace rayreplay::experiment
