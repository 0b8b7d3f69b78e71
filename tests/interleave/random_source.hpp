// Streams of warps that nobody traced: random lines, from few enough that they meet.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/split_mix.hpp"
#include "scheduler-models/regrouping/segment_schedule.hpp"
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

/// Units of some rounds of some warps, a warp an item; no SM, SMs, or both; or spread.
inline scheduler::SegmentSchedule random_schedule(std::uint32_t items, Draws& draw) {
  scheduler::SegmentSchedule schedule;
  schedule.warp_size = 1;
  schedule.moved.resize(items);
  schedule.spread = draw.upto(2) == 0;
  const std::uint32_t fixed_of_8 = draw.upto(2) == 0 ? 8 : draw.upto(1) * draw.upto(8);
  const std::uint32_t most_rounds = draw.upto(4);
  const std::uint32_t most_warps = draw.upto(draw.upto(1) == 0 ? 2 : 80);
  schedule.round_begin.push_back(0);
  schedule.unit_begin.push_back(0);
  while (schedule.round_begin.back() < items) {
    for (std::uint32_t round = 0; round <= draw.upto(most_rounds) && schedule.round_begin.back() < items; ++round) {
      const std::uint64_t warps = 1 + draw.upto(most_warps);
      schedule.round_begin.push_back(std::min<std::uint64_t>(schedule.round_begin.back() + warps, items));
    }
    schedule.unit_begin.push_back(schedule.rounds());
    schedule.unit_sm.push_back(draw.upto(7) < fixed_of_8 ? draw.upto(100) : scheduler::kAnySm);
  }
  return schedule;
}

/// Warps of up to three lanes on random SMs, each after the warps of its threads' earlier segments.
struct PlayedWarps {
  scheduler::SegmentSchedule schedule;
  scheduler::Segments segments;
  std::vector<std::uint32_t> sm;

  PlayedWarps(std::uint32_t warps, std::uint32_t sms, Draws& draw) {
    constexpr std::uint32_t kLanes = 3;
    schedule.warp_size = kLanes;
    schedule.moved.resize(warps);
    std::vector<std::vector<std::uint32_t>> places;  // of each thread, in order
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      sm.push_back(draw.upto(sms - 1));
      for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t place = warp * kLanes + lane;
        if (lane > 0 && draw.upto(3) == 0) {
          continue;
        }
        std::uint32_t thread = draw.upto(static_cast<std::uint32_t>(places.size()));
        if (thread < places.size() && places[thread].back() / kLanes == warp) {
          thread = static_cast<std::uint32_t>(places.size());
        }
        places.resize(std::max<std::size_t>(places.size(), thread + 1));
        places[thread].push_back(place);
      }
    }
    schedule.segment_at.assign(std::size_t{warps} * kLanes, scheduler::kNoSegment);
    segments.first.push_back(0);
    std::uint32_t segment = 0;
    for (const auto& thread : places) {
      for (const std::uint32_t place : thread) {
        schedule.segment_at[place] = segment++;
        segments.bounce.push_back(0);
      }
      segments.first.push_back(segment);
    }
  }
};

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
