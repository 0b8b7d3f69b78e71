// SMs whose running jobs share the SM's resources as a fluid: the engine of static and timed runs (timing.hpp).
//
// Contract: each SM has a virtual clock with the rate s = min(1, capacity_r / Σ demand_r over its running jobs, for
// each resource r); demand of a job = need / solo. A job that starts at virtual time v ends at v + solo. Demands are
// whole multiples of 2^-40 of an SM's capacity, so their sums are exact in any order and an empty SM has exactly 0.
// Jobs with equal ends end together. A job with solo 0 ends when it starts. O(log resident warps + log SMs) an event.
// Time is in cycles and never goes backwards.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/machine/timing.hpp"

namespace rayreplay::machine {

inline constexpr std::size_t kResources = 3;  ///< issue, visits, bytes
inline constexpr std::uint32_t kNoSm = 0xFFFF'FFFFU;

/// An SM's capacity of each resource per cycle, and the charges of jobs.
struct Rates {
  std::array<double, kResources> capacity{};
  scheduler::Charges charges;
  Extra extra;

  /// Errors: Usage for a machine without shading SMs, or without issue slots, visits or bandwidth.
  Rates(const Machine& machine, const scheduler::Charges& charges_of_model, const Extra& extra_cost);

  /// The job with its charges, stretched so that alone it stays within the capacity. `formed`: made by an exchange or a
  /// cut; `exchanged`: its threads may have changed.
  [[nodiscard]] Job charged(Job job, std::uint32_t hits, std::uint32_t lanes, std::uint32_t moved, bool formed,
                            bool exchanged) const;
};

/// The minimum of some keys, and the first index that has it. O(log n) to change a key.
class LeastTree {
 public:
  explicit LeastTree(std::size_t size);
  void set(std::size_t place, double key);
  [[nodiscard]] std::size_t first() const {
    return nodes_[1].place;
  }
  [[nodiscard]] double least() const {
    return nodes_[1].key;
  }

 private:
  struct Node {
    double key = std::numeric_limits<double>::infinity();
    std::uint32_t place = 0;
  };
  std::size_t leaves_ = 1;
  std::vector<Node> nodes_;  ///< the root is 1, the children of i are 2 i and 2 i + 1
};

class Fluid {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Ended {
    std::uint32_t sm = 0;
    std::uint32_t job = 0;
  };

  /// `sms`: the SMs that shade.
  Fluid(std::uint32_t sms, std::uint32_t resident_warps, const Rates& rates);

  /// End of the next job; kNever when nothing runs.
  [[nodiscard]] double next_end();
  /// Ends all jobs whose end is `next_end()`, by SM. Appends to the list.
  void end_next(std::vector<Ended>& out);
  /// The SM must have room. Returns the lowest free slot.
  std::uint32_t start(std::uint32_t sm, std::uint32_t job, const Job& charged, double now);

  [[nodiscard]] std::uint32_t running(std::uint32_t sm) const {
    return static_cast<std::uint32_t>(sms_[sm].heap.size());
  }
  [[nodiscard]] bool has_room(std::uint32_t sm) const {
    return running(sm) < resident_;
  }
  [[nodiscard]] std::uint64_t running() const {
    return running_;
  }
  /// Among the SMs with room, the one with the fewest jobs, ties to the lowest; kNoSm.
  [[nodiscard]] std::uint32_t emptiest() const;

  /// All results but traffic, milliseconds, withheld and placement. Nothing may be running.
  [[nodiscard]] Timing finish() const;

 private:
  struct Running {
    double share_at_start = 0;
    double solo = 0, shading = 0, traversal = 0, reorder = 0;
    std::array<std::int64_t, kResources> demand{};
    std::uint32_t job = 0;
  };
  struct End {
    double virtual_end = 0;
    std::uint32_t slot = 0;
  };
  struct Sm {
    double now = 0;          ///< end of the sums below
    double virtual_now = 0;  ///< 0 whenever the SM becomes empty
    double rate = 1;
    double share = 0;  ///< ∫ dt / jobs: one job's share of the SM's time
    double busy = 0;
    double job_cycles = 0;  ///< ∫ jobs dt
    double last_end = 0;
    std::size_t limit = kResources;  ///< the limiting resource
    std::array<std::int64_t, kResources> demand{};
    std::array<double, kResources> limited{};
    std::vector<End> heap;         ///< by virtual end
    std::vector<Running> running;  ///< by slot
    bool changed = false;          ///< jobs changed since the last update of `next_`
    std::vector<std::uint64_t> free_slots;
    double traversal = 0, shading = 0, reorder = 0;
  };

  void advance(Sm& sm, double now);
  void change(std::uint32_t index);
  void refresh(std::uint32_t index);

  std::uint32_t resident_;
  std::array<double, kResources> capacity_;
  std::vector<Sm> sms_;
  std::vector<std::uint32_t> changed_;
  LeastTree next_;  ///< end of each SM's next job, except changed SMs
  LeastTree room_;  ///< number of jobs of each SM; kNever: full
  std::uint64_t running_ = 0;
};

/// Withheld SMs and milliseconds, from cycles.
void complete(Timing& timing, const Machine& machine, const scheduler::Charges& charges);

}  // namespace rayreplay::machine
