// Machines, options and shapes of streams drawn at random, so that every rule of the interleaving is met with
// somewhere.
#pragma once

#include <bit>
#include <cstdint>

#include "sim/machine/interleave.hpp"
#include "tests/interleave/random_source.hpp"

namespace rayreplay::test {

inline machine::Machine small_machine(std::uint32_t sms) {
  machine::Machine machine;
  machine.sms = sms;
  machine.l1_bytes = 8 * 128;
  machine.l1_ways = 2;
  machine.l2_bytes = 32 * 128;
  machine.l2_ways = 4;
  machine.l1_latency_cycles = 5;
  machine.l2_latency_cycles = 17;
  machine.dram_latency_cycles = 61;
  machine.outstanding_misses = 8;
  return machine;
}

struct InterleaveCase {
  SourceShape shape;
  machine::Machine machine;
  machine::InterleaveOptions options;
  std::uint32_t queues = 1;
};

/// Every rule is met with somewhere: tiny caches, few misses, one slot or many, no L1 or L2, other sectors and lines.
inline InterleaveCase random_case(std::uint64_t seed) {
  Draws draw(seed * 977);
  InterleaveCase result;
  result.machine = small_machine(1 + draw.upto(draw.upto(3) == 0 ? 69 : 5));
  machine::Machine& machine = result.machine;
  result.shape.items = draw.upto(draw.upto(3) == 0 ? 400 : 60);
  result.shape.most_instructions = 1 + draw.upto(30);
  result.shape.most_transactions = 1 + draw.upto(6);
  result.shape.lines = 1 + draw.upto(draw.upto(1) == 0 ? 20 : 300);
  result.shape.stores_of_8 = draw.upto(4);
  result.shape.sectors = 1U << draw.upto(3);  // lines of 32 … 256
  const std::uint32_t line = 32 * result.shape.sectors;
  machine.l1_line_bytes = line;
  machine.l1_sector_bytes = line >> draw.upto(static_cast<std::uint32_t>(std::countr_zero(result.shape.sectors)));
  const std::uint32_t l1_sets[] = {1, 2, 3, 8};
  machine.l1_ways = 1 + draw.upto(4);
  machine.l1_bytes = draw.upto(5) == 0 ? 0 : std::uint64_t{line} * machine.l1_ways * l1_sets[draw.upto(3)];
  if (draw.upto(5) == 0) {
    machine.l1_ways = 0;
  }
  machine.l2_line_bytes = 32U << draw.upto(5);  // 32 … 1024
  machine.l2_sector_bytes = machine.l2_line_bytes >> draw.upto(3);
  machine.l2_ways = 1 + draw.upto(8);
  machine.l2_bytes =
      draw.upto(9) == 0 ? 0 : std::uint64_t{machine.l2_line_bytes} * machine.l2_ways * (1 + draw.upto(8));
  machine.l1_latency_cycles = 1 + draw.upto(10);
  machine.l2_latency_cycles = 1 + draw.upto(40);
  machine.dram_latency_cycles = 1 + draw.upto(150);
  machine.outstanding_misses = 1 + draw.upto(draw.upto(1) == 0 ? 2 : 40);
  const char* schedulers[] = {"loose-round-robin", "greedy-then-oldest", "random:seed=5"};
  result.options.warp_scheduler = schedulers[draw.upto(2)];
  const std::uint32_t residents[] = {1, 2, 5, 31, 64, 65, 130};
  result.options.resident_warps = residents[draw.upto(6)];
  result.options.compute_cycles = draw.upto(2) == 0 ? draw.upto(200) : 0;
  result.options.cycles = true;
  result.queues = draw.upto(1) == 0 ? 1 : machine.sms;
  return result;
}

}  // namespace rayreplay::test
