// The work of a warp between its accesses, once more: servers that take work in order, the parts of a row of work, and
// the queue for the ray-tracing unit. Slow, and easy to believe.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "sim/machine/interleave.hpp"
#include "sim/memory/streams/warp_work.hpp"

namespace rayreplay::test {

/// Servers count fractions of a cycle.
inline constexpr std::uint64_t kFractions = 1U << 20U;

inline std::uint64_t rounded_up(std::uint64_t fractions) {
  return fractions / kFractions + (fractions % kFractions != 0 ? 1 : 0);
}
inline std::uint64_t rounded_down(std::uint64_t fractions) {
  return fractions / kFractions;
}

/// One piece of work after the other, in the order in which they arrive.
class SlowServer {
 public:
  struct Turn {
    std::uint64_t begin, end;  ///< in fractions
  };
  Turn serve(std::uint64_t arrives, double cycles) {
    const auto service = static_cast<std::uint64_t>(std::llround(cycles * static_cast<double>(kFractions)));
    Turn turn{};
    turn.begin = std::max(arrives, free_);
    turn.end = turn.begin + std::max<std::uint64_t>(service, 1);
    busy_ += turn.end - turn.begin;
    free_ = turn.end;
    return turn;
  }
  /// Until all work has ended.
  [[nodiscard]] std::uint64_t last_cycle() const {
    return rounded_up(free_);
  }
  [[nodiscard]] double busy_cycles() const {
    return static_cast<double>(busy_) / static_cast<double>(kFractions);
  }

 private:
  std::uint64_t free_ = 0;
  std::uint64_t busy_ = 0;
};

/// Parts of a row in their order. `Load`: the memory instruction is ready, or the warp has ended.
enum class SlowPart : std::uint8_t { Tests, RaysEnd, Shader, RaysBegin, Compute, Load };

struct SlowWarp {
  std::uint32_t item = 0;
  std::uint64_t start = 0;               ///< cycle
  std::uint64_t started = 0;             ///< rank among the SM's starts
  std::vector<memory::WarpWork> rows;    ///< instructions + 1
  std::size_t row = 0;                   ///< whose parts are next, and the instruction behind them
  SlowPart part = SlowPart::Tests;       ///< next
  std::optional<std::uint64_t> until{};  ///< what it waits for ends in this cycle
  machine::WarpWait state = machine::WarpWait::Issue;
  memory::WorkStage stage = memory::WorkStage::Exchange;
  bool is_at_end = false;
  std::size_t request = 0;  ///< next of its stream
  // Of the clause that issues.
  std::uint64_t completes = 0;
  machine::WarpWait served_by = machine::WarpWait::L1;

  [[nodiscard]] bool may_issue() const {
    return state == machine::WarpWait::LoadUnit && !until;
  }
};

/// The parts of one SM that work takes: issue slots by partition, and the ray-tracing unit.
class SlowSmWork {
 public:
  using Slots = std::vector<std::optional<SlowWarp>>;

  SlowSmWork(const machine::Machine& machine, std::uint32_t compute_cycles)
      : machine_(machine), compute_cycles_(compute_cycles), partitions_(machine.issue_partitions) {}

  /// From its next part on, until one takes time.
  void go_on(SlowWarp& warp, std::uint32_t slot, std::uint64_t cycle) {
    warp.until.reset();
    for (;;) {
      const memory::WarpWork& row = warp.rows[warp.row];
      const bool is_last = warp.row + 1 == warp.rows.size();
      std::uint64_t end = cycle;
      switch (warp.part) {
        case SlowPart::Tests:
          warp.state = machine::WarpWait::Traversal;
          warp.stage = memory::WorkStage::Traversal;
          end = row.visits == 0 ? cycle : tests(row, slot, cycle);
          warp.part = SlowPart::RaysEnd;
          break;
        case SlowPart::RaysEnd:
          if (has_limit()) {
            rays_ -= row.rays_end;
          }
          warp.part = SlowPart::Shader;
          break;
        case SlowPart::Shader:
          warp.state = machine::WarpWait::Issue;
          warp.stage = row.stages.shader();
          end = shader(row, slot, cycle);
          warp.part = SlowPart::RaysBegin;
          break;
        case SlowPart::RaysBegin:
          warp.part = SlowPart::Compute;
          if (has_limit() && row.rays_begin > 0) {
            warp.state = machine::WarpWait::Traversal;
            warp.stage = memory::WorkStage::Traversal;
            queue_.push_back(slot);
            return;
          }
          break;
        case SlowPart::Compute:
          warp.state = machine::WarpWait::Issue;
          warp.stage = row.stages.access();
          end = cycle + (warp.row == 0 || is_last ? 0 : compute_cycles_);
          warp.part = SlowPart::Load;
          break;
        case SlowPart::Load:
          warp.state = machine::WarpWait::LoadUnit;
          warp.stage = row.stages.access();
          warp.is_at_end = is_last;
          return;
      }
      if (end > cycle) {
        warp.until = end;
        return;
      }
    }
  }

  /// Lets the first warps of the queue into the ray-tracing unit.
  void admit(Slots& slots, std::uint64_t cycle) {
    while (!queue_.empty()) {
      const std::uint32_t slot = queue_.front();
      SlowWarp& warp = *slots[slot];
      const std::uint64_t more = warp.rows[warp.row].rays_begin;
      if (rays_ > 0 && rays_ + more > machine_.rt_rays) {
        return;
      }
      rays_ += more;
      most_rays = std::max(most_rays, rays_);
      queue_.pop_front();
      go_on(warp, slot, cycle);
    }
  }

  [[nodiscard]] double issue_cycles() const {
    double sum = 0;
    for (const SlowServer& partition : partitions_) {
      sum += partition.busy_cycles();
    }
    return sum;
  }
  [[nodiscard]] double ray_unit_cycles() const {
    return ray_unit_.busy_cycles();
  }
  std::uint64_t most_rays = 0;

 private:
  [[nodiscard]] bool has_limit() const {
    return machine_.rt_rays > 0 && !machine_.software_traversal;
  }
  /// Warp instructions a cycle, of one partition.
  [[nodiscard]] double rate() const {
    return machine_.issue_per_cycle / machine_.issue_partitions;
  }
  SlowServer& partition_of(std::uint32_t slot) {
    return partitions_[slot % partitions_.size()];
  }

  std::uint64_t tests(const memory::WarpWork& row, std::uint32_t slot, std::uint64_t cycle) {
    const auto latency = static_cast<std::uint64_t>(std::llround(machine_.rt_test_latency_cycles));
    if (machine_.software_traversal) {
      const double instructions = machine_.warp_size * machine_.issue_per_cycle / machine_.rt_steps_per_cycle;
      const SlowServer::Turn turn = partition_of(slot).serve(cycle * kFractions, instructions / rate());
      return std::max({rounded_up(turn.end), rounded_down(turn.begin) + latency, cycle + 1});
    }
    const bool by_kind = machine_.rt_boxes_per_cycle > 0 && machine_.rt_triangles_per_cycle > 0;
    const SlowServer::Turn turn =
        ray_unit_.serve(cycle * kFractions, by_kind ? row.boxes / machine_.rt_boxes_per_cycle +
                                                          row.triangles / machine_.rt_triangles_per_cycle
                                                    : row.visits / machine_.rt_steps_per_cycle);
    return std::max(rounded_up(turn.end), cycle + 1) + latency;
  }

  std::uint64_t shader(const memory::WarpWork& row, std::uint32_t slot, std::uint64_t cycle) {
    if (row.issue == 0) {
      return cycle + row.latency;
    }
    const double instructions = static_cast<double>(row.issue) / memory::kIssueScale;
    const SlowServer::Turn turn = partition_of(slot).serve(cycle * kFractions, instructions / rate());
    return std::max({rounded_up(turn.end), rounded_down(turn.begin) + row.latency, cycle + 1});
  }

  machine::Machine machine_;
  std::uint64_t compute_cycles_;
  std::vector<SlowServer> partitions_;
  SlowServer ray_unit_;
  std::uint64_t rays_ = 0;          ///< in flight
  std::list<std::uint32_t> queue_;  ///< slots of warps that wait for the ray-tracing unit
};

}  // namespace rayreplay::test
