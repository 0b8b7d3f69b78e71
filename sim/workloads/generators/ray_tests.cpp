// Warps that only test nodes and leaves: time is the ray-tracing unit, or the latency of the tests.
//
// Contract: every SM runs R · rounds warps, R = warps · issue_partitions at a time. A warp visits v nodes and leaves,
// with b boxes and t triangles. In hardware one server does the tests of all R warps: it takes s = b /
// rt_boxes_per_cycle + t / rt_triangles_per_cycle, or v / rt_steps_per_cycle. In software each partition is a server of
// its `warps`: a step of all lanes takes it s = warp_size · issue_partitions / rt_steps_per_cycle cycles, whatever the
// number of visits. s is in ticks of 2^-20 cycles, at least one. With n warps a server, its i-th tests (from 0) follow
//   a(i) = 0 for i < n, otherwise e(i − n)    arrive, when the warp before in their slot has ended
//   f(i) = max(a(i), f(i − 1)) + s            the server has served them; f(−1) = 0
//   e(i) = max(⌈f(i)⌉, a(i) + 1) + l          end in hardware, l = rt_test_latency_cycles as a whole number
//   e(i) = max(⌈f(i)⌉, a(i) + 1, ⌊f(i) − s⌋ + l)    in software
// A warp starts in a whole cycle, so a(i) and e(i) are whole while f(i) is not. The time is the last e(i); without
// fractions it is (n − 1) s + (rounds − 1) max(s + l, n s) + s + l in hardware. Exact for times below 2^33 cycles, in
// which a double holds every tick. O(warps · rounds). Source: rounding of docs/schedules.md, "Work"; rayreplay.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "sim/workloads/one_row_workload.hpp"

namespace rayreplay::workloads {
namespace {

class RayTests final : public OneRowWorkload {
 public:
  explicit RayTests(const Parameters& parameters)
      : OneRowWorkload("ray-tests", parameters),
        visits_(get_count(parameters, "visits")),
        boxes_(get_count(parameters, "boxes")),
        triangles_(get_count(parameters, "triangles")) {}

  [[nodiscard]] std::uint32_t version() const override {
    return 2;  // since 2 the answers are exact at rates of fractions
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"ray-tests:warps=1", "ray-tests:warps=4", "ray-tests:warps=2,boxes=0,triangles=32"};
  }

 private:
  void fill(memory::WarpWork& row) const override {
    row.visits = static_cast<std::uint16_t>(visits_);
    row.boxes = static_cast<std::uint16_t>(boxes_);
    row.triangles = static_cast<std::uint16_t>(triangles_);
  }

  [[nodiscard]] std::vector<KnownAnswer> answers_on(const TimedMachine& machine) const override {
    const AnswerSettings settings = memory_time();
    const double service = machine.test_service(visits_, boxes_, triangles_);
    const std::uint64_t together = machine.software_traversal ? warps_ : std::uint64_t{warps_} * machine.partitions;
    const double cycles = last_end(machine, service, together);
    const double busy = static_cast<double>(together * rounds_) * service / cycles;
    return {
        {"time_cycles", cycles, 0,
         "n warps take turns of s cycles at a server, then comes the latency; each starts in a whole cycle", settings},
        {machine.software_traversal ? "time_issue_slots_busy" : "time_ray_tracing_units_busy", busy, 1e-9,
         "n rounds s / cycles", settings},
        {"time_traversal_share", 1, 1e-9, "no warp does anything else", settings}};
  }

  /// The last e(i) of the contract, of `together` warps a server.
  [[nodiscard]] double last_end(const TimedMachine& machine, double service, std::uint64_t together) const {
    std::vector<double> ends(together, 0);  // e(i) in the place i mod n, which is also that of a(i + n)
    double served = 0;
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      for (double& slot : ends) {
        const double arrives = slot;
        const double begins = std::max(arrives, served);
        served = begins + service;
        const double turn = std::max(std::ceil(served), arrives + 1);
        slot = machine.software_traversal ? std::max(turn, std::floor(begins) + machine.test_latency)
                                          : turn + machine.test_latency;
      }
    }
    return ends.back();
  }

  std::uint32_t visits_;
  std::uint32_t boxes_;
  std::uint32_t triangles_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "ray-tests",
     .summary = "Warps of tests alone: the ray-tracing unit",
     .text = "Every SM holds warps that test boxes and triangles and load nothing. With few warps the latency of the "
             "tests is the time, with many the rate of the unit; in software the rate of the issue partitions.",
     .source = "Little, A proof for the queuing formula L = lambda W, Operations Research 9, 1961; rayreplay",
     .parameters = {declare::whole("visits", 32, "visits", "Nodes and leaves that a warp's lanes enter.", 1, 32768),
                    declare::whole("boxes", 128, "boxes", "Child boxes that they test.", 0, 32768),
                    declare::whole("triangles", 16, "triangles", "Triangles that they test.", 0, 32768),
                    of_partition_parameter(2), rounds_parameter(8)}},
    [](const Parameters& parameters) { return std::make_unique<RayTests>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
