// Warps written out by hand, and a record of what the interleaving made of them.
//
//   HandMade source({{load({0, 1}), store({4})},   // item 0: loads lines 0 and 1 by one instruction, then stores line
//   4
//                    {load({0})}});                // item 1
//   const Played played = play(source, machine, options, {0, 0, 1});   // items to queues, see `queues_of`
#pragma once

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "sim/machine/interleave.hpp"
#include "tests/interleave/random_source.hpp"

namespace rayreplay::test {

/// A line, and which of its sectors; all of one instruction's lines ascend.
struct Touch {
  Touch(std::uint64_t number, unsigned which = 1)  // NOLINT(google-explicit-constructor): lists of numbers are lines
      : line(number), sectors(static_cast<std::uint8_t>(which)) {}
  std::uint64_t line;
  std::uint8_t sectors;
};
struct Step {
  bool store = false;
  std::vector<Touch> touches;
};
inline Step load(std::vector<Touch> touches) {
  return {false, std::move(touches)};
}
inline Step store(std::vector<Touch> touches) {
  return {true, std::move(touches)};
}

/// Lines of 128 bytes, sectors of 32.
inline KeptSource hand_made(const std::vector<std::vector<Step>>& items) {
  KeptSource source;
  std::uint32_t request = 0;
  for (const std::vector<Step>& item : items) {
    memory::WarpStream& stream = source.streams.emplace_back();
    stream.first.push_back(0);
    for (const Step& step : item) {
      for (const Touch& touch : step.touches) {
        memory::Transaction transaction;
        transaction.line = touch.line;
        transaction.sectors = touch.sectors;
        transaction.lanes = 1;
        transaction.flags = static_cast<std::uint8_t>((step.store ? memory::kStore : 0) |
                                                      (&touch == step.touches.data() ? memory::kFirst : 0));
        transaction.bytes = 4;
        stream.transactions.push_back(transaction);
        stream.requests.push_back({request++, 0});
      }
      stream.raw.rows.push_back(
          {.mask = 1, .first = static_cast<std::uint32_t>(stream.raw.rows.size()), .bytes = 4, .store = step.store});
      stream.first.push_back(static_cast<std::uint32_t>(stream.transactions.size()));
    }
  }
  return source;
}

/// Items in the order given; `queue_of`: the queue of each, empty for one queue.
inline machine::WorkPlan plan_of(std::uint32_t items, std::uint32_t queues = 1,
                                 const std::vector<std::uint32_t>& queue_of = {}) {
  machine::WorkPlan plan;
  plan.warp_size = 1;
  plan.thread_at.resize(items);
  std::iota(plan.thread_at.begin(), plan.thread_at.end(), 0U);
  plan.queue_begin.push_back(0);
  for (std::uint32_t queue = 0; queue < queues; ++queue) {
    for (std::uint32_t item = 0; item < items; ++item) {
      if (queue_of.empty() || queue_of[item] == queue) {
        plan.queue.push_back(item);
      }
    }
    plan.queue_begin.push_back(plan.queue.size());
  }
  return plan;
}

/// What happened to a transaction; of a store always Store.
enum class Outcome : std::uint8_t { Hit, Merged, L2, Dram, Store };

inline Outcome outcome_of(const memory::Transaction& transaction) {
  if ((transaction.flags & memory::kStore) != 0) {
    return Outcome::Store;
  }
  if ((transaction.flags & memory::kTimedHit) != 0) {
    return Outcome::Hit;
  }
  if ((transaction.flags & memory::kTimedMerged) != 0) {
    return Outcome::Merged;
  }
  return (transaction.flags & memory::kTimedL2Hit) != 0 ? Outcome::L2 : Outcome::Dram;
}

/// A transaction that was issued.
struct Issued {
  std::uint64_t cycle = 0;
  std::uint32_t sm = 0;
  std::uint32_t item = 0;
  std::uint32_t instruction = 0;
  std::uint64_t line = 0;
  Outcome outcome = Outcome::Hit;

  bool operator==(const Issued&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Issued& issued) {
  const char* names[] = {"Hit", "Merged", "L2", "Dram", "Store"};
  return out << "{" << issued.cycle << ", " << issued.sm << ", " << issued.item << ", " << issued.instruction << ", "
             << issued.line << ", " << names[static_cast<std::size_t>(issued.outcome)] << "}";
}

/// The instructions in the order in which they begin.
class StartsSink : public memory::InstructionSink {
 public:
  struct Start {
    std::uint32_t sm, item;
    std::uint64_t cycle;
    std::uint32_t instruction;
    bool operator==(const Start&) const = default;
  };
  std::vector<Start> all;

  void take(std::uint32_t sm, std::uint32_t warp, std::uint64_t cycle, const memory::Instructions& /*raw*/,
            std::size_t row) override {
    all.push_back({sm, warp, cycle, static_cast<std::uint32_t>(row)});
  }
};

/// L1 of four lines, L2 of sixteen, fully associative; a hit takes 4 cycles, the L2 20, DRAM 50.
inline machine::Machine machine_by_hand(std::uint32_t sms) {
  machine::Machine machine;
  machine.sms = sms;
  machine.l1_bytes = std::uint64_t{4} * 128;
  machine.l1_ways = 0;
  machine.l2_bytes = std::uint64_t{16} * 128;
  machine.l2_ways = 0;
  machine.l1_latency_cycles = 4;
  machine.l2_latency_cycles = 20;
  machine.dram_latency_cycles = 50;
  machine.outstanding_misses = 8;
  return machine;
}

/// The machine of the manual's examples: two SMs, shorter latencies, two outstanding misses.
inline machine::Machine machine_of_examples() {
  machine::Machine machine = machine_by_hand(2);
  machine.l2_latency_cycles = 10;
  machine.dram_latency_cycles = 30;
  machine.outstanding_misses = 2;
  return machine;
}

struct Played {
  std::vector<Issued> issued;
  machine::InterleaveResult result;
};

/// The whole interleaving: an SM's transactions belong to the instruction that it began last.
inline Played play(memory::WarpSource& source, machine::Dispatcher& dispatcher, const machine::Machine& machine,
                   machine::InterleaveOptions options) {
  KeepingSink sink;
  StartsSink starts;
  options.raw = &starts;
  options.cycles = true;
  Played played;
  played.result = machine::interleave(source, dispatcher, machine, options, sink);
  std::vector<StartsSink::Start> now(machine.sms);
  std::size_t next = 0;
  for (std::size_t i = 0; i < sink.all.transactions.size(); ++i) {
    const memory::Transaction& transaction = sink.all.transactions[i];
    if ((transaction.flags & memory::kFirst) != 0) {
      now[transaction.sm] = starts.all.at(next++);
    }
    const StartsSink::Start& start = now[transaction.sm];
    played.issued.push_back(
        {sink.all.cycles[i], transaction.sm, start.item, start.instruction, transaction.line, outcome_of(transaction)});
  }
  return played;
}

inline Played play(memory::WarpSource& source, const machine::WorkPlan& plan, const machine::Machine& machine,
                   machine::InterleaveOptions options) {
  return play(source, *machine::dispatch_plan(plan, machine.sms), machine, std::move(options));
}

}  // namespace rayreplay::test
