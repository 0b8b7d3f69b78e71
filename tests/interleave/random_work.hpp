// Work of warps between made-up accesses, and machines for it, drawn at random so that every rule of memory
// time is met with somewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/interleave/random_cases.hpp"
#include "tests/interleave/random_source.hpp"

namespace rayreplay::test {

/// How many rows in eight have a part, and how large it may be.
struct WorkShape {
  std::uint32_t tests_of_8 = 4, shader_of_8 = 4, rays_of_8 = 4, follows_of_8 = 2;
  std::uint32_t most_visits = 40;
  std::uint32_t most_issue = 20 * memory::kIssueScale;
  std::uint32_t most_latency = 60;
  std::uint32_t most_rays = 32;
};

/// Tests and shader instructions, each part present or not.
inline memory::WarpWork random_row(const WorkShape& shape, Draws& draw) {
  memory::WarpWork row;
  if (draw.upto(7) < shape.tests_of_8) {
    row.visits = static_cast<std::uint16_t>(1 + draw.upto(shape.most_visits - 1));
    row.boxes = static_cast<std::uint16_t>(draw.upto(row.visits));
    // Now and then the kinds of tests are not known.
    row.triangles = static_cast<std::uint16_t>(draw.upto(5) == 0 ? 0 : row.visits - row.boxes);
  }
  if (draw.upto(7) < shape.shader_of_8) {
    row.issue = draw.upto(4) == 0 ? 0 : 1 + draw.upto(shape.most_issue - 1);
    row.latency = draw.upto(3) == 0 ? 0 : draw.upto(shape.most_latency);
  }
  return row;
}

/// A stage for shader instructions of each row, and for each clause.
inline void add_random_stages(KeptSource& source, std::uint64_t seed) {
  Draws draw(seed);
  const auto stage = [&draw] { return static_cast<memory::WorkStage>(draw.upto(memory::kWorkStages - 1)); };
  for (memory::WarpStream& stream : source.streams) {
    memory::WorkStage of_clause{};
    for (memory::WarpWork& row : stream.work) {
      of_clause = row.follows ? of_clause : stage();
      row.stages = {row.follows ? memory::WorkStage{} : stage(), of_clause};
    }
  }
}

/// Work of all streams; of some it is empty. Rays of a warp all end before others of it begin, the last before it ends.
inline void add_random_work(KeptSource& source, const WorkShape& shape, Draws& draw) {
  for (memory::WarpStream& stream : source.streams) {
    const std::size_t instructions = stream.instructions();
    stream.calls = {.calls = 1 + instructions, .lanes = 3 + 7 * instructions};
    if (draw.upto(9) == 0) {
      stream.work.resize(instructions + 1);
      continue;
    }
    std::uint32_t rays = 0;  // in flight
    for (std::size_t i = 0; i <= instructions; ++i) {
      if (i > 0 && i < instructions && draw.upto(7) < shape.follows_of_8) {
        stream.work.push_back({.follows = true});
        continue;
      }
      memory::WarpWork row = draw.upto(7) == 0 ? memory::WarpWork{} : random_row(shape, draw);
      if (rays > 0 && (i == instructions || draw.upto(1) == 0)) {
        const std::uint32_t ended = i == instructions || draw.upto(2) > 0 ? rays : draw.upto(rays);
        row.rays_end = static_cast<std::uint16_t>(ended);
        rays -= ended;
      }
      if (rays == 0 && i < instructions && draw.upto(7) < shape.rays_of_8) {
        rays = 1 + draw.upto(shape.most_rays - 1);
        row.rays_begin = static_cast<std::uint16_t>(rays);
      }
      stream.work.push_back(row);
    }
  }
}

struct WorkCase {
  InterleaveCase base;
  WorkShape work;
  std::vector<std::uint32_t> delays;  ///< by item; empty: none
  KeptSource source;

  /// The delays stay here.
  [[nodiscard]] machine::InterleaveOptions options() const {
    machine::InterleaveOptions result = base.options;
    result.start_delay = delays;
    return result;
  }
};

/// Bytes a cycle, from so few that the whole takes about `longest` cycles to so many that none waits.
inline double random_bandwidth(const SourceShape& shape, double longest, Draws& draw) {
  const double bytes = 8.0 * shape.sectors * (1 + shape.items * (shape.most_instructions * shape.most_transactions));
  const double factors[] = {1, 3, 10, 1e4};
  return bytes / longest * factors[draw.upto(3)];
}

inline void draw_rates(WorkCase& result, Draws& draw) {
  machine::Machine& machine = result.base.machine;
  const double clocks[] = {1500, 1, 777.7};
  const double rates[] = {0.7, 1, 2.5, 4, 900};
  const std::uint32_t warp_sizes[] = {1, 7, 32};
  machine.clock_mhz = clocks[draw.upto(2)];
  machine.issue_per_cycle = rates[draw.upto(4)];
  machine.issue_partitions = 1 + draw.upto(7);
  machine.warp_size = warp_sizes[draw.upto(2)];
  machine.rt_steps_per_cycle = rates[draw.upto(4)];
  machine.rt_test_latency_cycles = draw.upto(2) == 0 ? 0 : draw.upto(80) / 2.0;
  if (draw.upto(1) == 0) {
    machine.rt_boxes_per_cycle = rates[draw.upto(4)];
    machine.rt_triangles_per_cycle = rates[draw.upto(4)];
  }
  machine.rt_rays = draw.upto(2) == 0 ? 0 : 1 + draw.upto(draw.upto(1) == 0 ? 3 : 100);
  machine.software_traversal = draw.upto(3) == 0;
  const double longest = 3000 + draw.upto(5000);
  machine.l2_bytes_per_second = random_bandwidth(result.base.shape, longest, draw) * machine.clock_mhz * 1e6;
  machine.dram_bytes_per_second = random_bandwidth(result.base.shape, longest, draw) * machine.clock_mhz * 1e6;
}

/// All parts present and absent; tiny and huge services; queues at every server, or at none.
inline WorkCase random_work_case(std::uint64_t seed) {
  Draws draw(seed * 1009 + 17);
  WorkCase result{random_case(seed), {}, {}, {}};
  SourceShape& source = result.base.shape;
  source.items = std::min(source.items, 100U);
  source.most_instructions = std::min(source.most_instructions, 12U);
  result.base.options.work = true;
  result.base.options.compute_cycles = draw.upto(1) == 0 ? 0 : draw.upto(30);
  draw_rates(result, draw);
  WorkShape& shape = result.work;
  shape.tests_of_8 = draw.upto(8);
  shape.shader_of_8 = draw.upto(8);
  shape.rays_of_8 = draw.upto(8);
  shape.follows_of_8 = draw.upto(1) == 0 ? 0 : draw.upto(8);
  shape.most_visits = draw.upto(1) == 0 ? 40 : 1 + draw.upto(300);
  const std::uint32_t most_issue[] = {1, 4000, 15000};
  shape.most_issue = most_issue[draw.upto(2)];
  shape.most_latency = 1 + draw.upto(100);
  shape.most_rays = 1 + draw.upto(63);
  result.source = random_source(source, seed);
  add_random_work(result.source, shape, draw);
  add_random_stages(result.source, seed + 31);
  if (draw.upto(1) == 0) {
    for (std::uint32_t item = 0; item < source.items; ++item) {
      result.delays.push_back(draw.upto(1) * draw.upto(200));
    }
  }
  return result;
}

}  // namespace rayreplay::test
