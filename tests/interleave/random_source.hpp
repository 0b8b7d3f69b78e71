// Streams of warps that nobody traced: random lines, from few enough that they meet.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/split_mix.hpp"
#include "sim/machine/work_distribution.hpp"
#include "sim/memory/streams/warp_source.hpp"

namespace rayreplay::test {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  /// 0 … most
  std::uint32_t upto(std::uint32_t most) {
    return static_cast<std::uint32_t>((split_mix(seed_, next_++) >> 32U) * (std::uint64_t{most} + 1) >> 32U);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

/// Streams that are there already; counts how often each was asked for.
class KeptSource : public memory::WarpSource {
 public:
  std::vector<memory::WarpStream> streams;
  memory::CoalesceOptions options;
  std::vector<std::uint32_t> asked;

  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(streams.size());
  }
  [[nodiscard]] const memory::Allocations& allocations() const override {
    return allocations_;
  }
  [[nodiscard]] const memory::CoalesceOptions& coalescing() const override {
    return options;
  }
  void generate(std::span<const std::uint32_t> items, std::span<memory::WarpStream> out) override {
    asked.resize(streams.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      out[i] = streams[items[i]];
      ++asked[items[i]];
    }
  }

 private:
  memory::Allocations allocations_;
};

struct SourceShape {
  std::uint32_t items = 10;
  std::uint32_t most_instructions = 20;
  std::uint32_t most_transactions = 4;
  std::uint32_t lines = 50;
  std::uint32_t stores_of_8 = 1;  ///< one instruction in how many eighths
  std::uint32_t sectors = 4;
};

inline KeptSource random_source(const SourceShape& shape, std::uint64_t seed) {
  Draws draw(seed);
  KeptSource source;
  source.options.line_bytes = 32 * shape.sectors;
  source.options.sector_bytes = 32;
  for (std::uint32_t item = 0; item < shape.items; ++item) {
    memory::WarpStream& stream = source.streams.emplace_back();
    const std::uint32_t instructions = draw.upto(9) == 0 ? 0 : draw.upto(shape.most_instructions);
    if (instructions > 0 || draw.upto(1) == 0) {
      stream.first.push_back(0);
    }
    for (std::uint32_t instruction = 0; instruction < instructions; ++instruction) {
      const std::uint32_t transactions = 1 + draw.upto(shape.most_transactions - 1);
      const bool store = draw.upto(7) < shape.stores_of_8;
      for (std::uint32_t i = 0; i < transactions; ++i) {
        memory::Transaction transaction;
        transaction.line = draw.upto(shape.lines - 1);
        transaction.sectors = static_cast<std::uint8_t>(1 + draw.upto((1U << shape.sectors) - 2));
        transaction.lanes = static_cast<std::uint8_t>(1 + draw.upto(3));
        transaction.kind = static_cast<memory::DataKind>(draw.upto(10));
        transaction.flags =
            static_cast<std::uint8_t>((store ? 1 : 0) * memory::kStore + (i == 0 ? 1 : 0) * memory::kFirst);
        transaction.bytes = static_cast<std::uint16_t>(1 + draw.upto(31));
        stream.transactions.push_back(transaction);
        for (std::uint32_t lane = 0; lane < transaction.lanes; ++lane) {
          stream.requests.push_back({draw.upto(99), item});
        }
      }
      stream.first.push_back(static_cast<std::uint32_t>(stream.transactions.size()));
      stream.raw.rows.push_back({.mask = 1, .first = instruction, .bytes = 4, .kind = {}, .store = store});
    }
  }
  return source;
}

/// Items dealt out at random: one queue, or one for each SM (some of which may be empty).
inline machine::WorkPlan random_plan(std::uint32_t items, std::uint32_t queues, std::uint64_t seed) {
  Draws draw(seed);
  machine::WorkPlan plan;
  plan.warp_size = 1;
  plan.thread_at.resize(items);
  std::iota(plan.thread_at.begin(), plan.thread_at.end(), 0U);
  std::vector<std::uint32_t> order(plan.thread_at);
  for (std::uint32_t i = items; i > 1; --i) {
    std::swap(order[i - 1], order[draw.upto(i - 1)]);
  }
  std::vector<std::vector<std::uint32_t>> queue(queues);
  for (const std::uint32_t item : order) {
    queue[draw.upto(queues - 1)].push_back(item);
  }
  plan.queue_begin.push_back(0);
  for (const auto& row : queue) {
    plan.queue.insert(plan.queue.end(), row.begin(), row.end());
    plan.queue_begin.push_back(plan.queue.size());
  }
  return plan;
}

/// Keeps what it is given.
class KeepingSink : public memory::TransactionSink {
 public:
  memory::TransactionBlock all;
  std::size_t blocks = 0;

  void take(const memory::TransactionBlock& block) override {
    all.transactions.insert(all.transactions.end(), block.transactions.begin(), block.transactions.end());
    all.requests.insert(all.requests.end(), block.requests.begin(), block.requests.end());
    all.cycles.insert(all.cycles.end(), block.cycles.begin(), block.cycles.end());
    ++blocks;
  }
};

}  // namespace rayreplay::test
