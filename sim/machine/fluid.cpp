#include "sim/machine/fluid.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::machine {
namespace {

constexpr std::int64_t kWhole = std::int64_t{1} << 40;  ///< an SM's capacity, in units of demand

constexpr double kInstant = 1e-9;  ///< cycles; shorter jobs have a negligible demand, and 1 / solo stays finite

struct Later {
  template <class End>
  bool operator()(const End& a, const End& b) const {
    return a.virtual_end > b.virtual_end;
  }
};

}  // namespace

Rates::Rates(const Machine& machine, const scheduler::Charges& charges_of_model, const Extra& extra_cost)
    : charges(charges_of_model), extra(extra_cost) {
  if (charges.withheld_sms >= machine.sms) {
    throw Error(ErrorKind::Usage, {"the scheduler model withholds all SMs of the machine", machine.name,
                                   fmt::format("{} withheld", charges.withheld_sms),
                                   fmt::format("fewer than its {} SMs", machine.sms), "withhold fewer SMs"});
  }
  capacity = {machine.issue_per_cycle, machine.rt_steps_per_cycle,
              charges.bytes_per_cycle > 0 ? charges.bytes_per_cycle : facts(machine, 1).exchange_bytes_per_cycle};
  for (const double of_resource : capacity) {
    if (!(of_resource > 0 && std::isfinite(of_resource))) {
      throw Error(ErrorKind::Usage, {"the machine lacks a resource", machine.name, fmt::format("{}", of_resource),
                                     "more than 0 issue slots, visits and bytes per cycle", ""});
    }
  }
}

Job Rates::charged(Job job, std::uint32_t hits, std::uint32_t lanes, std::uint32_t moved, bool formed,
                   bool exchanged) const {
  const double added = static_cast<double>(hits) * extra.hit_issue;
  job.issue += added;
  job.shading += added * extra.latency_per_issue;
  if (formed) {
    job.bytes += charges.bytes_per_moved * moved + charges.bytes_per_thread * lanes;
    job.reorder += charges.cycles_per_cut + (exchanged ? charges.cycles_per_warp : 0.0);
  }
  job.reorder += job.bytes / capacity[2];
  // A single job cannot exceed the capacity, however short its latencies.
  job.shading += std::max(0.0, job.issue / capacity[0] - job.solo());
  job.traversal += std::max(0.0, job.visits / capacity[1] - job.solo());
  return job;
}

LeastTree::LeastTree(std::size_t size) : leaves_(std::bit_ceil(std::max<std::size_t>(size, 1))), nodes_(2 * leaves_) {
  for (std::size_t i = 0; i < leaves_; ++i) {
    nodes_[leaves_ + i].place = static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = leaves_ - 1; i > 0; --i) {
    nodes_[i] = nodes_[2 * i];
  }
}

void LeastTree::set(std::size_t place, double key) {
  nodes_[leaves_ + place].key = key;
  for (std::size_t i = (leaves_ + place) / 2; i > 0; i /= 2) {
    const Node& left = nodes_[2 * i];
    const Node& right = nodes_[2 * i + 1];
    const Node& winner = right.key < left.key ? right : left;
    if (nodes_[i].key == winner.key && nodes_[i].place == winner.place) {
      return;  // the ancestors do not change either
    }
    nodes_[i] = winner;
  }
}

Fluid::Fluid(std::uint32_t sms, std::uint32_t resident_warps, const Rates& rates)
    : resident_(std::max(resident_warps, 1U)), capacity_(rates.capacity), sms_(sms), next_(sms), room_(sms) {
  for (std::uint32_t i = 0; i < sms; ++i) {
    Sm& sm = sms_[i];
    sm.heap.reserve(resident_);
    sm.running.resize(resident_);
    sm.free_slots.assign((resident_ + 63) / 64, ~std::uint64_t{0});
    room_.set(i, 0);
  }
}

std::uint32_t Fluid::emptiest() const {
  return room_.least() == kNever ? kNoSm : static_cast<std::uint32_t>(room_.first());
}

void Fluid::advance(Sm& sm, double now) {
  const double passed = now - sm.now;
  sm.now = now;
  if (sm.heap.empty() || passed <= 0) {
    return;
  }
  const auto jobs = static_cast<double>(sm.heap.size());
  sm.virtual_now += passed * sm.rate;
  sm.share += passed / jobs;
  sm.busy += passed;
  sm.job_cycles += passed * jobs;
  if (sm.limit < kResources) {
    sm.limited[sm.limit] += passed;
  }
}

/// The set of jobs changed. Rate and next end are computed on demand, because most SMs that lose a job get another one
/// first.
void Fluid::change(std::uint32_t index) {
  Sm& sm = sms_[index];
  room_.set(index, running(index) < resident_ ? static_cast<double>(sm.heap.size()) : kNever);
  if (!sm.changed) {
    sm.changed = true;
    changed_.push_back(index);
  }
}

void Fluid::refresh(std::uint32_t index) {
  Sm& sm = sms_[index];
  sm.changed = false;
  sm.limit = kResources;
  std::int64_t most = kWhole;
  for (std::size_t r = 0; r < kResources; ++r) {
    if (sm.demand[r] > most) {
      most = sm.demand[r];
      sm.limit = r;
    }
  }
  sm.rate = static_cast<double>(kWhole) / static_cast<double>(most);
  if (sm.heap.empty()) {
    sm.virtual_now = 0;
    next_.set(index, kNever);
    return;
  }
  const double left = std::max(0.0, sm.heap.front().virtual_end - sm.virtual_now);
  next_.set(index, sm.now + left / sm.rate);
}

double Fluid::next_end() {
  for (const std::uint32_t index : changed_) {
    refresh(index);
  }
  changed_.clear();
  return next_.least();
}

std::uint32_t Fluid::start(std::uint32_t index, std::uint32_t job, const Job& charged, double now) {
  Sm& sm = sms_[index];
  advance(sm, now);
  std::size_t word = 0;
  while (sm.free_slots[word] == 0) {
    ++word;
  }
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(sm.free_slots[word]));
  sm.free_slots[word] &= ~(std::uint64_t{1} << bit);
  const std::uint32_t slot = static_cast<std::uint32_t>(word * 64) + bit;
  Running& running = sm.running[slot];
  running = {.share_at_start = sm.share,
             .solo = charged.solo(),
             .shading = charged.shading,
             .traversal = charged.traversal,
             .reorder = charged.reorder,
             .demand = {},
             .job = job};
  if (running.solo > kInstant) {
    const std::array<double, kResources> need = {charged.issue, charged.visits, charged.bytes};
    const double per_cycle = 1 / running.solo;
    for (std::size_t r = 0; r < kResources; ++r) {
      const double share = std::min(1.0, need[r] * per_cycle / capacity_[r]);
      running.demand[r] = static_cast<std::int64_t>(share * static_cast<double>(kWhole) + 0.5);
      sm.demand[r] += running.demand[r];
    }
  }
  if (sm.heap.empty()) {
    sm.virtual_now = 0;
  }
  sm.heap.push_back({sm.virtual_now + running.solo, slot});
  std::push_heap(sm.heap.begin(), sm.heap.end(), Later{});
  ++running_;
  change(index);
  return slot;
}

void Fluid::end_next(std::vector<Ended>& out) {
  const double now = next_end();
  while (next_.least() == now && now < kNever) {
    const auto index = static_cast<std::uint32_t>(next_.first());
    Sm& sm = sms_[index];
    advance(sm, now);
    // Rounding may move what advance() added up away from the end.
    sm.virtual_now = sm.heap.front().virtual_end;
    sm.last_end = now;
    while (!sm.heap.empty() && sm.heap.front().virtual_end <= sm.virtual_now) {
      std::pop_heap(sm.heap.begin(), sm.heap.end(), Later{});
      const std::uint32_t slot = sm.heap.back().slot;
      sm.heap.pop_back();
      const Running& ended = sm.running[slot];
      if (ended.solo > 0) {
        const double share = (sm.share - ended.share_at_start) / ended.solo;
        sm.shading += share * ended.shading;
        sm.traversal += share * ended.traversal;
        sm.reorder += share * ended.reorder;
      }
      for (std::size_t r = 0; r < kResources; ++r) {
        sm.demand[r] -= ended.demand[r];
      }
      sm.free_slots[slot / 64] |= std::uint64_t{1} << (slot % 64);
      out.push_back({index, ended.job});
      --running_;
    }
    // If it ends next, `next_` does not have it yet; no other job ends at this time, because those that did are gone.
    next_.set(index, kNever);
    change(index);
  }
}

Timing Fluid::finish() const {
  Timing timing;
  double first_idle = kNever;
  double busy = 0;
  double job_cycles = 0;
  for (const Sm& sm : sms_) {
    timing.cycles = std::max(timing.cycles, sm.last_end);
    first_idle = std::min(first_idle, sm.last_end);
  }
  for (const Sm& sm : sms_) {
    timing.split.traversal += sm.traversal;
    timing.split.shading += sm.shading;
    timing.split.reorder += sm.reorder;
    timing.split.idle += timing.cycles - sm.busy;
    busy += sm.busy;
    job_cycles += sm.job_cycles;
    for (std::size_t r = 0; r < kResources; ++r) {
      timing.limited[r] += sm.limited[r];
    }
  }
  timing.tail_cycles = timing.cycles - first_idle;
  if (busy > 0) {
    for (double& share : timing.limited) {
      share /= busy;
    }
    timing.busy_share = job_cycles / (timing.cycles * static_cast<double>(sms_.size()) * resident_);
  }
  return timing;
}

void complete(Timing& timing, const Machine& machine, const scheduler::Charges& charges) {
  timing.milliseconds = timing.cycles / (machine.clock_mhz * 1e3);
  timing.split.withheld = timing.cycles * charges.withheld_sms;
}

Timing time_bound(const Job& sum, const Machine& machine, const scheduler::Charges& charges) {
  const Rates rates(machine, charges, {});
  const double sms = machine.sms - charges.withheld_sms;
  // Software traversal: at best all lanes of a warp are busy until the longest ends.
  const double slots_of_visit = machine.software_traversal ? machine.issue_per_cycle / machine.rt_steps_per_cycle : 0;
  const std::array<double, kResources> need = {sum.issue + sum.visits * slots_of_visit,
                                               machine.software_traversal ? 0 : sum.visits, sum.bytes};
  Timing timing;
  std::size_t limit = 0;
  for (std::size_t r = 0; r < kResources; ++r) {
    const double cycles = need[r] / (rates.capacity[r] * sms);
    if (cycles > timing.cycles) {
      timing.cycles = cycles;
      limit = r;
    }
  }
  timing.traffic_bytes = sum.bytes;
  if (timing.cycles > 0) {
    timing.limited[limit] = 1;
    const double solo = sum.solo();
    const double all = timing.cycles * sms;
    timing.split.traversal = solo > 0 ? all * (sum.traversal / solo) : 0;
    timing.split.shading = solo > 0 ? all * (sum.shading / solo) : 0;
    timing.split.reorder = solo > 0 ? all * (sum.reorder / solo) : 0;
    timing.split.idle = solo > 0 ? 0 : all;
  }
  complete(timing, machine, charges);
  return timing;
}

}  // namespace rayreplay::machine
