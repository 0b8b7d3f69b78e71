// Warp memory instructions per second of the interleaving, on one core.
//
//   coherent    warps of neighbouring pixels walk down a binary tree of 2^20 leaves: 41 instructions of all lanes
//   incoherent  every lane goes its own way: after a few levels each instruction touches up to 32 lines
//   stores      coherent, every fourth instruction a store
//   captured    all accesses of a captured launch (tests/data/h200/bunny.rrt), replayed while-while, coalesced
//   slots       captured, with 1 to 64 resident warps: what the number of warps costs
//   work        slots as memory time: tests before two loads of three, the third follows; a call each 16 loads
//
// Streams are made before timing; the source hands out copies in memory that is used again. Machine:
// rtx2080-ti-published, 32 warps an SM. The peers: a plain walk over the same transactions, warp by warp, which sums
// what it reads and writes it to blocks, what moving them costs; and the same transactions through the interleaving's
// own caches without any schedule, SM by SM, what looking them up costs. `of_walk`, `of_caches`: the peer's time to
// ours, median of the iterations, each run right after the other. All times are processor time.
#include <algorithm>
#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <tbb/global_control.h>

#include "base/split_mix.hpp"
#include "bvh/bvh.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/machine/cache_geometry.hpp"
#include "sim/machine/interleave.hpp"
#include "sim/machine/interleaving/timing_cache.hpp"
#include "sim/memory/streams/launch_source.hpp"

namespace rayreplay::machine {
namespace {

enum class Shape : std::uint8_t { Coherent, Incoherent, Stores, Captured };

constexpr std::uint32_t kDepth = 20;

class Streams : public memory::WarpSource {
 public:
  Streams(Shape shape, std::uint32_t items) {
    if (shape == Shape::Captured) {
      capture();
      return;
    }
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
      if (with_work) {
        out[i].work.resize(out[i].instructions() + 1);
        for (std::size_t row = 0; row < out[i].work.size(); ++row) {
          out[i].work[row] = work_of(row, row + 1 == out[i].work.size());
        }
      }
    }
  }
  bool with_work = false;

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
  /// Items of a launch, again and again until there are enough for all SMs.
  void capture() {
    const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/bunny.rrt");
    const trace::Launch& launch = trace.launches[0];
    const bvh::Bvh structure = bvh::build_bvh(trace.scene, launch.tlas, "bunny");
    const auto assignment = scheduler::LaunchOrders::create("z-order").model->assign(launch, 32);
    const WorkPlan plan = WorkDistributions::create("z-order").model->plan(launch, assignment, 68);
    memory::StreamOptions options;
    options.coalescing.requests = false;
    const auto source = memory::make_launch_source(trace, launch, structure, plan.thread_at, options);
    std::vector<std::uint32_t> all(source->items());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<memory::WarpStream> once(all.size());
    source->generate(all, once);
    while (transactions_ < 12'000'000) {
      for (const memory::WarpStream& stream : once) {
        streams_.push_back(stream);
        transactions_ += stream.transactions.size();
        instructions_ += stream.instructions();
      }
    }
  }
  /// Traversals of 16 instructions, each behind a shader call.
  [[nodiscard]] static memory::WarpWork work_of(std::size_t row, bool is_last) {
    memory::WarpWork work;
    if (row % 16 == 0 || is_last) {
      work.rays_end = row == 0 ? 0 : 32;
      work.rays_begin = is_last ? 0 : 32;
      work.issue = 250 * memory::kIssueScale;
      work.latency = 900;
    } else if (row % 3 == 0) {
      work.follows = true;
    } else {
      work.visits = 20;
      work.boxes = 16;
      work.triangles = 4;
    }
    return work;
  }
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

/// The same transactions, SM by SM in turn, through caches of the machine's geometry alone. Returns how many the L1s
/// had.
std::uint64_t look_up(const Streams& source, const Machine& machine) {
  std::vector<TimingCache> l1;
  for (std::uint32_t sm = 0; sm < machine.sms; ++sm) {
    l1.emplace_back(l1_geometry(machine));
  }
  TimingCache l2(l2_geometry(machine));
  std::uint64_t hits = 0;
  const auto take = [&hits](TimingCache& cache, std::uint64_t number, unsigned sectors) {
    TimingCache::Line* line = cache.find(number);
    const bool hit = line != nullptr && (sectors & ~line->sectors) == 0;
    if (line == nullptr) {
      line = cache.insert(number).line;
    }
    line->sectors = static_cast<std::uint8_t>(line->sectors | sectors);
    hits += hit ? 1 : 0;
    return hit;
  };
  std::uint32_t sm = 0;
  for (const memory::WarpStream& stream : source.streams()) {
    for (const memory::Transaction& transaction : stream.transactions) {
      if (!take(l1[sm], transaction.line, transaction.sectors)) {
        for (unsigned part = 0; part < 4; ++part) {
          if ((transaction.sectors >> part & 1U) != 0) {
            take(l2, transaction.line * 4 + part, 1);
          }
        }
      }
    }
    sm = sm + 1 == machine.sms ? 0 : sm + 1;
  }
  return hits;
}

double now() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void interleave_speed(benchmark::State& state, Shape shape, const char* scheduler, std::uint32_t slots, bool work) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  static std::map<Shape, std::unique_ptr<Streams>> kept;
  std::unique_ptr<Streams>& source = kept[shape];
  if (!source) {
    source = std::make_unique<Streams>(shape, shape == Shape::Incoherent ? 4096U : 32768U);
  }
  const Machine machine = load_machine("rtx2080-ti-published");
  WorkPlan plan;
  plan.warp_size = 1;
  plan.thread_at.resize(source->items());
  plan.queue.resize(source->items());
  std::iota(plan.queue.begin(), plan.queue.end(), 0U);
  plan.queue_begin = {0, plan.queue.size()};
  const InterleaveOptions options{.warp_scheduler = scheduler, .resident_warps = slots, .work = work};
  source->with_work = work;
  InterleaveResult result;
  std::vector<double> walks;
  std::vector<double> lookups;
  std::vector<double> times;
  for (auto round : state) {
    Counting sink;
    double start = now();
    result = interleave(*source, plan, machine, options, sink);
    const double ours = now() - start;
    start = now();
    walk(*source, sink);
    walks.push_back((now() - start) / ours);
    start = now();
    std::uint64_t hits = look_up(*source, machine);
    benchmark::DoNotOptimize(hits);
    lookups.push_back((now() - start) / ours);
    benchmark::DoNotOptimize(sink.lines);
    times.push_back(ours);
  }
  const double seconds = median(times);
  state.counters["Minstr_s"] = static_cast<double>(source->instructions()) / seconds / 1e6;
  state.counters["Mtrans_s"] = static_cast<double>(source->transactions()) / seconds / 1e6;
  state.counters["trans_instr"] =
      static_cast<double>(source->transactions()) / static_cast<double>(source->instructions());
  state.counters["of_walk"] = median(walks);
  state.counters["of_caches"] = median(lookups);
  const auto loads = static_cast<double>(result.l1_hits + result.merged + result.l2_hits + result.dram);
  state.counters["l1_hit"] = static_cast<double>(result.l1_hits + result.merged) / loads;
  state.counters["l2_hit"] = static_cast<double>(result.l2_hits) / loads;
  state.counters["dram"] = static_cast<double>(result.dram) / loads;
  state.counters["cycles"] = static_cast<double>(result.cycles);
}

}  // namespace

static void add_rows() {
  const auto row = [](const std::string& name, Shape shape, const char* scheduler, std::uint32_t slots = 32,
                      bool work = false) {
    benchmark::RegisterBenchmark(name.c_str(),
                                 [shape, scheduler, slots, work](benchmark::State& state) {
                                   interleave_speed(state, shape, scheduler, slots, work);
                                 })
        ->Unit(benchmark::kMillisecond)
        ->Iterations(3);
  };
  const std::pair<const char*, Shape> shapes[] = {{"captured", Shape::Captured},
                                                  {"coherent", Shape::Coherent},
                                                  {"stores", Shape::Stores},
                                                  {"incoherent", Shape::Incoherent}};
  for (const auto& [name, shape] : shapes) {
    for (const char* scheduler : {"loose-round-robin", "greedy-then-oldest", "random"}) {
      row(fmt::format("{}/{}", name, scheduler), shape, scheduler);
    }
  }
  for (const std::uint32_t slots : {1U, 8U, 32U, 64U}) {
    row(fmt::format("slots/loose-round-robin/{}", slots), Shape::Captured, "loose-round-robin", slots);
    row(fmt::format("slots/greedy-then-oldest/{}", slots), Shape::Captured, "greedy-then-oldest", slots);
    row(fmt::format("work/loose-round-robin/{}", slots), Shape::Captured, "loose-round-robin", slots, true);
  }
}

}  // namespace rayreplay::machine

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  rayreplay::machine::add_rows();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
