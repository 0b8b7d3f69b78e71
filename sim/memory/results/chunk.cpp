#include "sim/memory/results/chunk.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace rayreplay::memory {

void sort_by_sm(Chunk& chunk, std::uint32_t sms, const LineSplit& to_l1) {
  chunk.sm_begin.assign(sms + 1, 0);
  chunk.order.resize(chunk.transactions.size());
  for (const Transaction& transaction : chunk.transactions) {
    ++chunk.sm_begin[transaction.sm + std::size_t{1}];
  }
  for (std::size_t sm = 0; sm < sms; ++sm) {
    chunk.sm_begin[sm + 1] += chunk.sm_begin[sm];
  }
  chunk.l1.resize(chunk.transactions.size());
  chunk.kinds.resize(chunk.transactions.size());
  std::vector<std::uint32_t> next(chunk.sm_begin.begin(), chunk.sm_begin.end() - 1);
  for (std::uint32_t i = 0; i < chunk.transactions.size(); ++i) {
    const Transaction& transaction = chunk.transactions[i];
    const std::uint32_t row = next[transaction.sm]++;
    chunk.order[row] = i;
    chunk.kinds[row] = transaction.kind;
    // The lines are equal; sector sizes may differ.
    to_l1.each(transaction.line, transaction.sectors, [&](std::uint64_t line, std::uint8_t sectors) {
      chunk.l1[row] = {line, sectors, (transaction.flags & kStore) != 0};
    });
  }
}

void sum_counts(std::vector<std::uint32_t>& begin) {
  std::uint32_t sum = 0;
  for (std::uint32_t& entry : begin) {
    const std::uint32_t count = entry;
    entry = sum;
    sum += count;
  }
}

void ChunkDistances::find(const std::vector<LineAccess>& accesses, const std::vector<std::uint64_t>& begins,
                          std::vector<std::uint32_t>& distances) {
  lines_.resize(accesses.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, accesses.size(), kChunk),
                    [&](const tbb::blocked_range<std::size_t>& range) {
                      for (std::size_t i = range.begin(); i < range.end(); ++i) {
                        lines_[i] = accesses[i].line;
                      }
                    });
  distances.resize(accesses.size());
  stacks_.distances(lines_, begins, distances);
}

}  // namespace rayreplay::memory
