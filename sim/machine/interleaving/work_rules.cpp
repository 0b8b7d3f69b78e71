#include "sim/machine/interleaving/work_rules.hpp"

#include <algorithm>
#include <cmath>

namespace rayreplay::machine {

WorkRules::WorkRules(const Machine& machine, std::uint32_t compute_cycles)
    : compute_cycles_(compute_cycles),
      partitions_(machine.issue_partitions),
      issue_per_cycle_(machine.issue_per_cycle / machine.issue_partitions),
      steps_per_cycle_(machine.rt_steps_per_cycle),
      boxes_per_cycle_(machine.software_traversal ? 0 : machine.rt_boxes_per_cycle),
      triangles_per_cycle_(machine.rt_triangles_per_cycle),
      test_latency_(static_cast<std::uint64_t>(std::floor(machine.rt_test_latency_cycles + 0.5))),
      rays_(machine.software_traversal ? 0 : machine.rt_rays) {
  if (machine.software_traversal) {
    software_tests_ =
        service_of(machine.warp_size * machine.issue_per_cycle / machine.rt_steps_per_cycle / issue_per_cycle_);
  }
}

SmWork WorkRules::idle_sm() const {
  SmWork work;
  work.partitions.resize(partitions_);
  return work;
}

WorkRules::Next WorkRules::go_on(SmUnit& unit, WarpProgress& warp, std::uint32_t slot, std::uint64_t cycle) const {
  SmWork& work = unit.work;
  const memory::WarpWork& row = *warp.row;
  const auto wait = [&](memory::WorkStage stage, WarpWait state, std::uint64_t until) {
    work.spend(stage, state, cycle, until);
    unit.wakes.add(until, slot);
    return Next::Waits;
  };
  switch (warp.part) {
    case WorkPart::Tests:
      warp.part = WorkPart::Shader;
      if (row.visits != 0 || (boxes_per_cycle_ > 0 && (row.boxes != 0 || row.triangles != 0))) {
        return wait(memory::WorkStage::Traversal, WarpWait::Traversal, tests_end(work, row, slot, cycle));
      }
      [[fallthrough]];
    case WorkPart::Shader:
      warp.part = WorkPart::Rays;
      if (rays_ != 0) {
        work.rays -= row.rays_end;
      }
      if (row.issue != 0 || row.latency != 0) {
        return wait(row.stages.shader(), WarpWait::Issue, shader_end(work, row, slot, cycle));
      }
      [[fallthrough]];
    case WorkPart::Rays:
      warp.part = WorkPart::Compute;
      if (row.rays_begin != 0 && rays_ != 0) {
        warp.since = cycle;
        work.ray_queue.push(slot);
        return Next::Waits;
      }
      [[fallthrough]];
    case WorkPart::Compute:
      warp.part = WorkPart::Access;
      if (compute_cycles_ != 0 && warp.started && !warp.last) {
        return wait(row.stages.access(), WarpWait::Issue, cycle + compute_cycles_);
      }
      [[fallthrough]];
    case WorkPart::Access:
      break;
  }
  if (warp.last) {
    return Next::Ends;
  }
  warp.since = cycle;
  warp.served = WarpWait::L1;
  return Next::Ready;
}

std::uint64_t WorkRules::tests_end(SmWork& work, const memory::WarpWork& row, std::uint32_t slot,
                                   std::uint64_t cycle) const {
  if (software_tests_ != 0) {
    const Server::Turn turn = work.partitions[slot % partitions_].take(ticks_of(cycle), software_tests_);
    return std::max({ceil_cycle(turn.ends), floor_cycle(turn.begins) + test_latency_, cycle + 1});
  }
  const double service = boxes_per_cycle_ > 0 ? row.boxes / boxes_per_cycle_ + row.triangles / triangles_per_cycle_
                                              : row.visits / steps_per_cycle_;
  const Server::Turn turn = work.ray_unit.take(ticks_of(cycle), service_of(service));
  return std::max(ceil_cycle(turn.ends), cycle + 1) + test_latency_;
}

std::uint64_t WorkRules::shader_end(SmWork& work, const memory::WarpWork& row, std::uint32_t slot,
                                    std::uint64_t cycle) const {
  if (row.issue == 0) {
    return cycle + row.latency;
  }
  const double service = row.issue / static_cast<double>(memory::kIssueScale) / issue_per_cycle_;
  const Server::Turn turn = work.partitions[slot % partitions_].take(ticks_of(cycle), service_of(service));
  return std::max({ceil_cycle(turn.ends), floor_cycle(turn.begins) + row.latency, cycle + 1});
}

}  // namespace rayreplay::machine
