// The progress of warps through their work (warp_work.hpp), between memory instructions.
//
// Contract: `go_on` takes a warp, in the cycle in which it reaches a part of its row, through the parts until one takes
// time or the row ends. The parts in order, of a warp that reaches them in cycle t:
//   tests      They take a turn of the SM's ray-tracing unit: boxes / rt_boxes_per_cycle + triangles /
//              rt_triangles_per_cycle cycles, or visits / rt_steps_per_cycle where these rates are 0; a leaf is
//              then one visit, whatever it contains. They end rt_test_latency_cycles after their turn. With software
//              traversal they are warp_size · issue_per_cycle / rt_steps_per_cycle instructions of the warp's issue
//              partition for each row with visits, for any number of active lanes; they end no earlier than
//              rt_test_latency_cycles after they began. State Traversal.
//   rays end   The rays leave the unit; no time.
//   shader     Instructions take a turn of the warp's issue partition (slot mod issue_partitions), which starts
//              issue_per_cycle / issue_partitions a cycle. They end with it, but no earlier than their latency after it
//              began. State Issue.
//   rays begin The warp queues for the unit. The first in the queue is admitted when its rays fit into `rt_rays`, or
//              when the unit is empty: in each cycle after all wakes and starts, before the load unit. State Traversal.
//              Without a limit or a unit no warp queues.
//   compute    compute_cycles between two instructions. State Issue.
// Tests and the wait for the unit belong to the stage Traversal, the delay to Exchange, other parts to the row's
// stages. Servers serve in the order of arrival (server.hpp). A part with a server ends in the first whole cycle in
// which it is done, at least one after its start. O(1), and O(log resident warps) for a part that takes time.
#pragma once

#include <cstdint>

#include "sim/machine/interleave.hpp"
#include "sim/machine/interleaving/sm_unit.hpp"

namespace rayreplay::machine {

class WorkRules {
 public:
  enum class Next : std::uint8_t {
    Waits,  ///< for a wake, or in the queue of the ray-tracing unit
    Ready,  ///< its instruction may issue
    Ends
  };

  WorkRules(const Machine& machine, std::uint32_t compute_cycles);

  /// Servers of an idle SM.
  [[nodiscard]] SmWork idle_sm() const;

  [[nodiscard]] Next go_on(SmUnit& unit, WarpProgress& warp, std::uint32_t slot, std::uint64_t cycle) const;
  /// The rays of the queue's first warp fit into the unit. The queue must not be empty.
  [[nodiscard]] bool admits(const SmUnit& unit, const WarpProgress& first) const {
    return unit.work.rays == 0 || unit.work.rays + first.row->rays_begin <= rays_;
  }
  /// The queue's first warp enters the unit.
  static void admit(SmUnit& unit, WarpProgress& first, std::uint64_t cycle) {
    unit.work.ray_queue.pop();
    unit.work.rays += first.row->rays_begin;
    unit.work.spend(memory::WorkStage::Traversal, WarpWait::Traversal, first.since, cycle);
  }

 private:
  [[nodiscard]] std::uint64_t tests_end(SmWork& work, const memory::WarpWork& row, std::uint32_t slot,
                                        std::uint64_t cycle) const;
  [[nodiscard]] std::uint64_t shader_end(SmWork& work, const memory::WarpWork& row, std::uint32_t slot,
                                         std::uint64_t cycle) const;

  std::uint32_t compute_cycles_;
  std::uint32_t partitions_;
  double issue_per_cycle_;  ///< of a partition
  double steps_per_cycle_, boxes_per_cycle_, triangles_per_cycle_;
  std::uint64_t software_tests_ = 0;  ///< service of a step of all lanes; 0: the ray-tracing unit does it
  std::uint64_t test_latency_;
  std::uint32_t rays_;  ///< limit of the ray-tracing unit; 0: none
};

}  // namespace rayreplay::machine
