// Warp memory instructions per second of the interleaving, on one core.
//
//   coherent    warps of neighbouring pixels walk down a binary tree of 2^20 leaves: 16 nodes, each for all lanes
//   incoherent  every lane goes its own way: after a few levels each instruction touches up to 32 lines
//   stores      coherent, every fourth instruction a store
// Streams are made before timing; the source hands out copies in memory that is used again. Machine: rtx2080-ti with
// the published study's caches, 32 warps an SM. The peer is a plain walk over the same transactions, warp by warp,
// which sums what it reads and writes it to blocks: what moving them costs. `of_walk`: that time to ours, median of the
// iterations, each run right after the other.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include "base/split_mix.hpp"
#include "sim/machine/interleave.hpp"

namespace rayreplay::machine {
namespace {

enum class Shape : std::uint8_t { Coherent, Incoherent, Stores };

constexpr std::uint32_t kDepth = 20;

class Streams : public memory::WarpSource {
 public:
  Streams(Shape shape, std::uint32_t items) {
    std::uint64_t drawn = 0;
    const auto draw = [&](std::uint32_t below) {
      return static_cast<std::uint32_t>((split_mix(11, drawn++) >> 32U) * below >> 32U);
    };
    std::vector<std::uint64_t> lines;
    for (std::uint32_t item = 0; item < items; ++item) {
      memory::WarpStream& stream = streams_.emplace_back();
      stream.first.push_back(0);
      const std::uint32_t leaves = 1U << kDepth;
      std::vector<std::uint32_t> leaf(32);
      for (std::uint32_t& at : leaf) {
        at = shape == Shape::Incoherent
                 ? draw(leaves)
                 : static_cast<std::uint32_t>(std::uint64_t{item} * leaves / items + draw(48)) % leaves;
      }
      for (std::uint32_t level = 0; level <= kDepth; ++level) {
        for (std::uint32_t visit = 0; visit < 2; ++visit) {  // a node and a sibling
          lines.clear();
          for (const std::uint32_t at : leaf) {
            const std::uint32_t path = (at >> (kDepth - level)) ^ (level == 0 ? 0 : visit);
            // Depth first: node 4 to a line of 128 bytes.
            std::uint64_t index = 0;
            for (std::uint32_t l = 0; l < level; ++l) {
              index += 1 + ((path >> (level - 1 - l) & 1U) != 0 ? (std::uint64_t{1} << (kDepth - l)) - 1 : 0);
            }
            lines.push_back(index);
          }
          std::sort(lines.begin(), lines.end());
          lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
          add(stream, lines, shape == Shape::Stores && visit == 1 && level % 2 == 1);
        }
      }
      transactions_ += stream.transactions.size();
      instructions_ += stream.instructions();
    }
  }

  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(streams_.size());
  }
  [[nodiscard]] const memory::Allocations& allocations() const override {
    return allocations_;
  }
  [[nodiscard]] const memory::CoalesceOptions& coalescing() const override {
    return options_;
  }
  void generate(std::span<const std::uint32_t> items, std::span<memory::WarpStream> out) override {
    for (std::size_t i = 0; i < items.size(); ++i) {
      out[i].first.assign(streams_[items[i]].first.begin(), streams_[items[i]].first.end());
      out[i].transactions.assign(streams_[items[i]].transactions.begin(), streams_[items[i]].transactions.end());
    }
  }
  [[nodiscard]] const std::vector<memory::WarpStream>& streams() const {
    return streams_;
  }
  [[nodiscard]] std::uint64_t transactions() const {
    return transactions_;
  }
  [[nodiscard]] std::uint64_t instructions() const {
    return instructions_;
  }

 private:
  /// Nodes of 32 bytes, ascending.
  static void add(memory::WarpStream& stream, const std::vector<std::uint64_t>& nodes, bool store) {
    for (std::size_t i = 0; i < nodes.size();) {
      memory::Transaction transaction;
      transaction.line = nodes[i] / 4;
      transaction.lanes = 1;
      transaction.bytes = 32;
      transaction.flags =
          static_cast<std::uint8_t>((i == 0 ? 1 : 0) * memory::kFirst + (store ? 1 : 0) * memory::kStore);
      for (; i < nodes.size() && nodes[i] / 4 == transaction.line; ++i) {
        transaction.sectors = static_cast<std::uint8_t>(transaction.sectors | 1U << (nodes[i] % 4));
      }
      stream.transactions.push_back(transaction);
    }
    stream.first.push_back(static_cast<std::uint32_t>(stream.transactions.size()));
  }

  memory::Allocations allocations_;
  memory::CoalesceOptions options_;
  std::vector<memory::WarpStream> streams_;
  std::uint64_t transactions_ = 0, instructions_ = 0;
};

class Counting : public memory::TransactionSink {
 public:
  std::uint64_t lines = 0;
  void take(const memory::TransactionBlock& block) override {
    lines += block.transactions.back().line;
  }
};

/// The same transactions to the same sink, warp by warp.
void walk(Streams& source, Counting& sink) {
  memory::TransactionBlock block;
  memory::WarpStream stream;
  for (std::uint32_t item = 0; item < source.items(); ++item) {
    source.generate({&item, 1}, {&stream, 1});
    for (std::size_t instruction = 0; instruction < stream.instructions(); ++instruction) {
      for (std::uint32_t i = stream.first[instruction]; i < stream.first[instruction + 1]; ++i) {
        block.transactions.push_back(stream.transactions[i]);
        sink.lines += stream.transactions[i].sectors;
      }
    }
    if (block.transactions.size() > 1U << 15U) {
      sink.take(block);
      block.clear();
    }
  }
}

void interleave_speed(benchmark::State& state, Shape shape, const char* scheduler) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  static std::map<Shape, std::unique_ptr<Streams>> kept;
  std::unique_ptr<Streams>& source = kept[shape];
  if (!source) {
    source = std::make_unique<Streams>(shape, shape == Shape::Incoherent ? 8192U : 65536U);
  }
  Machine machine = load_machine("rtx2080-ti");
  machine.l1_bytes = 32 << 10;
  WorkPlan plan;
  plan.warp_size = 1;
  plan.thread_at.resize(source->items());
  plan.queue.resize(source->items());
  std::iota(plan.queue.begin(), plan.queue.end(), 0U);
  plan.queue_begin = {0, plan.queue.size()};
  InterleaveOptions options;
  options.warp_scheduler = scheduler;
  InterleaveResult result;
  std::vector<double> ratios;
  double seconds = 0;
  for (auto _ : state) {
    Counting sink;
    const auto start = std::chrono::steady_clock::now();
    result = interleave(*source, plan, machine, options, sink);
    const auto middle = std::chrono::steady_clock::now();
    state.PauseTiming();
    walk(*source, sink);
    benchmark::DoNotOptimize(sink.lines);
    const double ours = std::chrono::duration<double>(middle - start).count();
    ratios.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - middle).count() / ours);
    seconds += ours;
    state.ResumeTiming();
  }
  const auto runs = static_cast<double>(state.iterations());
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
  state.counters["Minstr_s"] = static_cast<double>(source->instructions()) * runs / seconds / 1e6;
  state.counters["Mtrans_s"] = static_cast<double>(source->transactions()) * runs / seconds / 1e6;
  state.counters["trans_instr"] =
      static_cast<double>(source->transactions()) / static_cast<double>(source->instructions());
  state.counters["of_walk"] = ratios[ratios.size() / 2];
  const auto loads = static_cast<double>(result.l1_hits + result.merged + result.l2_hits + result.dram);
  state.counters["l1_hit"] = static_cast<double>(result.l1_hits) / loads;
  state.counters["l2_hit"] = static_cast<double>(result.l2_hits) / loads;
  state.counters["dram"] = static_cast<double>(result.dram) / loads;
  state.counters["cycles"] = static_cast<double>(result.cycles);
}

BENCHMARK_CAPTURE(interleave_speed, coherent / loose_round_robin, Shape::Coherent, "loose-round-robin")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(interleave_speed, coherent / greedy_then_oldest, Shape::Coherent, "greedy-then-oldest")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(interleave_speed, coherent / random, Shape::Coherent, "random")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(interleave_speed, stores / loose_round_robin, Shape::Stores, "loose-round-robin")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(interleave_speed, incoherent / loose_round_robin, Shape::Incoherent, "loose-round-robin")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(interleave_speed, incoherent / greedy_then_oldest, Shape::Incoherent, "greedy-then-oldest")
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rayreplay::machine

BENCHMARK_MAIN();
