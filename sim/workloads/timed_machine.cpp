#include "sim/workloads/timed_machine.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace rayreplay::workloads {

double in_ticks(double cycles) {
  constexpr double kTicks = 1U << 20U;
  return std::max(std::floor(cycles * kTicks + 0.5), 1.0) / kTicks;
}

TimedMachine::TimedMachine(const machine::Machine& of)
    : sms(of.sms),
      partitions(of.issue_partitions),
      resident_warps(of.resident_warps),
      misses(of.outstanding_misses),
      has_l1(of.l1_bytes != 0),
      has_l2(of.l2_bytes != 0),
      l2_bytes(of.l2_bytes),
      line_bytes(has_l1 ? of.l1_line_bytes : of.l2_line_bytes),
      sector_bytes(has_l1 ? of.l1_sector_bytes : of.l2_sector_bytes),
      apart(has_l2 ? std::max(1U, of.l2_line_bytes / line_bytes) : 1),
      fetched_bytes(has_l2 ? std::max(line_bytes, of.l2_sector_bytes) : line_bytes),
      l1_latency(of.l1_latency_cycles),
      l2_latency(of.l2_latency_cycles),
      dram_latency(of.dram_latency_cycles),
      l2_service(has_l2 ? in_ticks(line_bytes / (of.l2_bytes_per_second / (of.clock_mhz * 1e6))) : 0),
      dram_service(in_ticks(static_cast<double>(fetched_bytes) / (of.dram_bytes_per_second / (of.clock_mhz * 1e6)))),
      issue_of_sm(of.issue_per_cycle),
      issue_per_cycle(of.issue_per_cycle / of.issue_partitions),
      steps_per_cycle(of.rt_steps_per_cycle),
      boxes_per_cycle(of.rt_boxes_per_cycle),
      triangles_per_cycle(of.rt_triangles_per_cycle),
      software_traversal(of.software_traversal),
      test_latency(std::floor(of.rt_test_latency_cycles + 0.5)),
      warp_size(of.warp_size),
      rays(of.software_traversal ? 0 : of.rt_rays) {}

double TimedMachine::load_service() const {
  return std::max(l2_service, dram_service);
}

double TimedMachine::load_turn(std::uint32_t together) const {
  return std::max(1.0, together * load_service());
}

double TimedMachine::issue_service(double instructions) const {
  return in_ticks(instructions / issue_per_cycle);
}

double TimedMachine::test_service(double visits, double boxes, double triangles) const {
  if (software_traversal) {
    return in_ticks(warp_size * issue_of_sm / steps_per_cycle / issue_per_cycle);
  }
  return in_ticks(boxes_per_cycle > 0 ? boxes / boxes_per_cycle + triangles / triangles_per_cycle
                                      : visits / steps_per_cycle);
}

double TimedMachine::test_time(double service) const {
  const double turn = std::max(std::ceil(service), 1.0);
  return software_traversal ? std::max(turn, test_latency) : turn + test_latency;
}

double LoadLoop::begins(std::uint64_t i) const {
  const std::uint64_t rounds = i / slots;
  const std::uint64_t place = i % slots;
  return static_cast<double>(rounds) * std::max(latency, static_cast<double>(slots) * turn) +
         static_cast<double>(place) * turn + later;
}

double LoadLoop::answer(std::uint64_t i) const {
  return latency + std::floor(begins(i));
}

double LoadLoop::ends(std::uint64_t i) const {
  return std::max(answer(i), std::ceil(begins(i) + service));
}

double LoadLoop::rounding(std::uint64_t i) const {
  const bool idles = static_cast<double>(slots) * turn < latency + 1;
  const bool fraction = turn != std::floor(turn) || later != std::floor(later);
  return idles && fraction ? static_cast<double>(i / slots) : 0;
}

LoadLoop loads_from_dram(const TimedMachine& machine, std::uint64_t slots, std::uint32_t together) {
  return {.latency = machine.dram_latency,
          .turn = machine.load_turn(together),
          .slots = std::min<std::uint64_t>(slots, machine.misses),
          .later = (together - 1) * machine.load_service(),
          .service = machine.load_service()};
}

AnswerSettings memory_time() {
  return {
      {"schedule.time", "memory"}, {"schedule.compute_cycles", "0"}, {"schedule.warp_scheduler", "loose-round-robin"}};
}

std::vector<KnownAnswer> not_on_this_machine(std::string why) {
  KnownAnswer answer{"time_cycles", 0, 0, "none"};
  answer.settings = memory_time();
  answer.unknown = std::move(why);
  return {std::move(answer)};
}

std::string too_many_warps(const TimedMachine& machine, std::uint64_t warps) {
  return warps <= machine.resident_warps
             ? ""
             : fmt::format("an SM of the machine holds {} warps, not {}", machine.resident_warps, warps);
}

}  // namespace rayreplay::workloads
